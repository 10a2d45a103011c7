#pragma once
/// What the options of `c3sim collective` ask for.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/collective/measured_choice.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/backends/dma/dma_commands.hpp"
#include "collectives/call.hpp"
#include "collectives/planned_flows.hpp"
#include "collectives/spec.hpp"

namespace c3 { inline namespace app {

/// As typed.
struct CollectiveOptions {
  std::string op;      ///< empty: what the measured table is of
  std::string table;   ///< measured, to compare with; empty: none
  std::string output;  ///< page to write; empty: none
  std::string system;
  std::optional<std::int64_t> nodes;  ///< one
  std::string fabric;                 ///< empty: the node preset's own
  std::vector<std::string> sets;
  std::vector<std::string> environment;  ///< "NCCL_ALGO=Ring"
  std::vector<std::string> backends = {"cu"};
  std::vector<std::string> algorithms = {"auto"};
  std::vector<std::string> protocols = {"auto"};
  std::vector<std::string> launches = {};      ///< empty: graph; eager beside a measured table
  int channels = 0;                            ///< most; 0: as many as the library takes
  int min_channels = 0;                        ///< 0: likewise
  std::vector<std::string> dma_variants = {};  ///< empty: pcpy
  bool prelaunch = false;
  std::string dma_host;        ///< empty: gpu
  std::string dtype = "fp32";  ///< of rows of a measured table only where they do not say it
  std::string smallest = "8 B", largest = "8 GiB";
  double factor = 2.0;
  std::string ranks;  ///< empty: all, or as many as the measured table is of
  int root = 0;
  bool in_place = false;  ///< not with a measured table, whose rows say it
  std::string grain = "auto";
  bool json = false;
  bool quiet = false;
};

/// Who moves the bytes of some rows, and how.
struct Mover {
  Backend backend = Backend::cu;
  DmaOptions dma;  ///< of backend dma
};

/// Read and checked.
struct CollectiveRequest {
  /// \throws UsageError for a name or size that is none, ConfigError for a system or override that is none.
  explicit CollectiveRequest(const CollectiveOptions& options);

  /// Elements as nccl-tests counts them: of a rank's shard where each has one.
  double count(const CollectiveCall& sized) const;

  std::optional<MeasuredChoice> measured;                        ///< what to compare with
  std::vector<std::pair<std::string, std::string>> environment;  ///< of the library: variables and values
  ClusterSpec cluster;
  CollectiveGrain grain = CollectiveGrain::automatic;
  CollectiveCall call;  ///< without a size
  int members = 0;
  std::vector<Mover> movers;
  std::vector<std::optional<Algorithm>> algorithms;  ///< nullopt: what the backend runs by default
  std::vector<std::optional<Protocol>> protocols;    ///< nullopt: as the library chooses
  std::vector<LaunchPath> launches;
  ChannelLimits channels;
  /// `call` with sizes: whole elements, the same number on every rank, as nccl-tests makes them; or those of
  /// the rows of `measured`, one for each.
  std::vector<CollectiveCall> sized;
};

/// Every collective but all_to_all_v, which needs a size for each pair: that is an experiment's business.
std::vector<std::string> offered_collectives();

}}  // namespace c3::app
