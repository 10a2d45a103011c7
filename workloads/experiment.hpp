#pragma once
/// An experiment: a program, and the strategies under which it runs. The TOML reader makes it,
/// workloads/execute/ runs it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "collectives/backends/dma/dma_commands.hpp"
#include "collectives/library/method.hpp"
#include "collectives/spec.hpp"
#include "gpu/kernel_launch.hpp"
#include "gpu/spec.hpp"
#include "workloads/program/program.hpp"
#include "workloads/program/program_family.hpp"
#include "workloads/program/step_facts.hpp"
#include "workloads/program/step_items.hpp"

namespace c3 { inline namespace workloads {

/// How many CUs a stream has to itself: none set, a number, or the best of a range.
struct CuShare {
  int low = 0;   ///< CUs; 0 = no partition
  int high = 0;  ///< == low for a fixed number
  bool is_set() const { return high > 0; }
  bool is_swept() const { return high > low; }

  bool operator==(const CuShare&) const = default;
};

/// For which part of the GPU the kernels of matrix products were tuned.
enum class KernelSelection : std::uint8_t {
  alone,   ///< the whole: what the library takes, whatever runs beside it
  shared,  ///< what the stream has beside the others (share_of)
};
constexpr auto enum_names(KernelSelection) {
  return std::to_array<EnumName<KernelSelection>>(
      {{"alone", KernelSelection::alone}, {"shared", KernelSelection::shared}});
}

/// What a strategy says of one stream.
struct StreamPolicy {
  CuShare cus;          ///< CUs reserved for this stream; every other stream runs on the rest
  int reserve_cus = 0;  ///< CUs that this stream leaves unused
  int priority = 0;     ///< queue priority; larger is served first
  KernelSelection kernel_selection = KernelSelection::alone;
  Backend backend = Backend::cu;
  MethodWish method = {};                                  ///< of its collectives, see method_of
  DmaOptions dma = {};                                     ///< of its collectives on copy engines
  FusedReduction reduction = FusedReduction::near_memory;  ///< of its collectives that are fused

  bool operator==(const StreamPolicy&) const = default;
};

struct Strategy {
  std::string name;
  bool serial = false;             ///< streams run one after another, in `order`
  std::vector<std::string> order;  ///< in which streams enqueue at time 0; empty = order of definition
  std::map<std::string, StreamPolicy> streams;                   ///< by stream name; absent = default policy
  std::optional<HbmArbitration> hbm_arbitration = std::nullopt;  ///< absent = the GPU's

  bool operator==(const Strategy&) const = default;
};

/// Which ranks are simulated.
enum class Fold {
  none,   ///< every one
  mean,   ///< one of each class of ranks that meet alike ranks; what they load is averaged within a class
  exact,  ///< the same, of ranks that load alike, too, so that nothing is averaged
};
constexpr auto enum_names(Fold) {
  return std::to_array<EnumName<Fold>>({{"none", Fold::none}, {"mean", Fold::mean}, {"exact", Fold::exact}});
}

/// How the time of an experiment follows from what is simulated of it.
enum class Estimator {
  none,    ///< everything is simulated
  steady,  ///< of a training step: layers and micro-batches until each adds the same time (steady_state.hpp)
  stem,    ///< kernels until they are known in their company; the rest are replayed (kernel_replay.hpp)
};
constexpr auto enum_names(Estimator) {
  return std::to_array<EnumName<Estimator>>(
      {{"none", Estimator::none}, {"steady", Estimator::steady}, {"stem", Estimator::stem}});
}

struct Measure {
  int seeds = 1;  ///< repetitions with different random draws of work-group times
  int draws = 0;  ///< draws of every parameter given as a range; 0 = nominal values only
  std::uint64_t seed = 1;
  bool loss_split = true;
  bool alone = true;  ///< simulate kernels and collectives by themselves, too: what ideal and speedups refer to
  KernelGrain kernel_grain = KernelGrain::cohort;
  KernelGrain vector_grain = KernelGrain::cohort;  ///< of kernels without a matrix product
  CollectiveGrain collective_grain = CollectiveGrain::edge;
  MemoryGrain memory_grain = MemoryGrain::whole;
  Estimator estimate = Estimator::steady;
  double estimate_error = 0.05;  ///< of Estimator::stem: how far the time may be off, relative, at 95 %
  Fold fold = Fold::mean;

  bool operator==(const Measure&) const = default;
};

struct Experiment {
  std::string name;
  ClusterSpec cluster;
  Program program;
  std::vector<Strategy> strategies;  ///< in file order
  Measure measure;
  SharedFamily family = {};                      ///< of a step: its author, who can write it at other sizes
  std::optional<StepFacts> step = std::nullopt;  ///< of a step: what is known before it is simulated
  /// What a step without facts takes; absent where the program is not a step of a model. See items_of().
  std::optional<StepItems> items = std::nullopt;
  /// Of a step: the program has few micro-batches, while family and facts are those of the whole
  /// (step_outline.hpp).
  bool is_outline = false;

  bool operator==(const Experiment&) const = default;
};

/// What a step of \p experiment takes: tokens where it has facts; absent where it is not a step of a model.
std::optional<StepItems> items_of(const Experiment& experiment);

/// Repetitions of \p experiment unless it says how many: 8, and 1 of a step with a family or of several nodes,
/// whose runs take long and average over many kernels.
int usual_seeds(const Experiment& experiment);

/// Makes \p experiment the step that \p family writes: its program, facts and family.
/// \throws std::invalid_argument where the author cannot write it
void set_step(Experiment& experiment, std::shared_ptr<const ProgramFamily> family);

/// At which grain \p op runs.
KernelGrain grain_of(const Measure& measure, const Operator& op);

}}  // namespace c3::workloads
