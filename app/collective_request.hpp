#pragma once
/// What the options of `c3sim collective` ask for.

#include <optional>
#include <string>
#include <vector>

#include "collectives/call.hpp"
#include "collectives/moves.hpp"
#include "collectives/spec.hpp"

namespace c3 {

/// As typed.
struct CollectiveOptions {
  std::string op;
  std::string system;
  std::vector<std::string> sets;
  std::vector<std::string> backends = {"cu"};
  std::vector<std::string> algorithms = {"auto"};
  std::string dtype = "fp32";
  std::string smallest = "8 B", largest = "8 GiB";
  double factor = 2.0;
  std::string ranks;  ///< empty: all
  int root = 0;
  std::string grain = "edge";
  bool json = false;
  bool quiet = false;
};

/// Read and checked.
struct CollectiveRequest {
  /// \throws UsageError for a name or size that is none, ConfigError for a system or override that is none.
  explicit CollectiveRequest(const CollectiveOptions& options);

  double count(const CollectiveCall& sized) const { return sized.bytes / unit; }

  ClusterSpec cluster;
  CollectiveGrain grain = CollectiveGrain::edge;
  CollectiveCall call;  ///< without a size
  int members = 0;
  std::vector<Backend> backends;
  std::vector<std::optional<Algorithm>> algorithms;  ///< nullopt: what the backend runs by default
  Bytes unit;                ///< of one counted element: of one rank's, or of a shard on every rank
  std::vector<Bytes> sizes;  ///< whole elements, the same number on every rank, as nccl-tests makes them
};

/// Every collective but all_to_all_v, which needs a size for each pair: that is an experiment's business.
std::vector<std::string> offered_collectives();

}  // namespace c3
