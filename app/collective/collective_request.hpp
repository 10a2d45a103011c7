#pragma once
/// What the options of `c3sim collective` ask for.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/collective/collective_options.hpp"
#include "app/collective/logged_setup.hpp"
#include "app/collective/measured_choice.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/backends/dma/dma_commands.hpp"
#include "collectives/call.hpp"
#include "collectives/planned_flows.hpp"
#include "collectives/spec.hpp"

namespace c3 { inline namespace app {

/// Who moves the bytes of some rows, and how.
struct Mover {
  Backend backend = Backend::cu;
  DmaOptions dma;  ///< only for backend dma
};

/// Read and checked.
struct CollectiveRequest {
  /// \throws UsageError for a name or size that is none, ConfigError for a system or override that is none.
  explicit CollectiveRequest(const CollectiveOptions& options);

  /// Elements as nccl-tests counts them: of a rank's shard where each has one.
  double count(const CollectiveCall& sized_call) const;

  /// What to compare with; null: nothing.
  const MeasuredChoice* measured() const { return file && file->measured ? &*file->measured : nullptr; }

  std::optional<TableFile> file;  ///< the file of --table
  LoggedSetup logged;
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
  /// the rows of `measured`, one for each; or of a log without times, those of its calls.
  std::vector<CollectiveCall> sized;
};

/// Every collective but all_to_all_v, which needs a size for each pair: that is an experiment's business.
std::vector<std::string> offered_collectives();

}}  // namespace c3::app
