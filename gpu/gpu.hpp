#pragma once
/// One GPU in a simulation: its compute units, clock, memory and copy engines.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/simulation.hpp"
#include "gpu/clock/core_clock.hpp"
#include "gpu/clock/power_governor.hpp"
#include "gpu/dispatcher.hpp"
#include "gpu/dma_engines.hpp"
#include "gpu/isolation.hpp"
#include "gpu/memory.hpp"
#include "gpu/recent_work.hpp"
#include "gpu/spec.hpp"
#include "gpu/tracker.hpp"

namespace c3 { inline namespace gpu {

/// How a GPU is simulated; the same for all GPUs of a run.
struct GpuSetup {
  std::vector<std::string> streams;  ///< names, in order of definition
  Isolation isolation;               ///< what each stream has to itself
  std::uint64_t seed = 0;            ///< of everything drawn
  /// Where grids go on GPUs of this setup, which are alike and find it once.
  std::shared_ptr<KnownPlacements> placements = std::make_shared<KnownPlacements>();
};

class Gpu {
 public:
  /// \p spec and \p setup must outlive it.
  Gpu(Simulation& simulation, const GpuSpec& spec, const GpuSetup& setup, int rank, GpuPace pace = {});

  Simulation& simulation() { return simulation_; }
  const GpuSpec& spec() const { return spec_; }
  const GpuSetup& setup() const { return setup_; }
  int rank() const { return rank_; }
  double slower() const { return pace_.stated; }  ///< than what was measured on GPUs of its type

  Dispatcher& dispatcher(int stream) { return *sides_[side(stream)].dispatcher; }
  CoreClock& clock(int stream) { return *sides_[side(stream)].clock; }
  Memory& memory() { return memory_; }
  /// None where the power of the board is not known.
  PowerGovernor* governor() { return governor_ ? &*governor_ : nullptr; }
  /// What \p energy a flow's matrix products take at boost clock.
  void add_arithmetic(std::vector<Demand>& demands, Joules energy) const {
    if (governor_) governor_->add_arithmetic(demands, energy);
  }
  RecentWork& work() { return work_; }
  DmaEngines& dma() { return dma_; }
  Tracker& tracker() { return tracker_; }

  /// Share of the CUs that a kernel of \p stream cannot have: beyond its mask, or held by copies.
  double cus_taken(int stream, CuRange range);
  /// Share of a kernel's stores that goes to memory once more, for releases of channels beside it.
  double rewritten(int stream);
  /// How many times as long as alone at its sustained clock \p sustained, on all CUs, a kernel of \p stream
  /// would compute at speed 1 of the clock's domains: for the clock and for its power.
  double slowdown_at_boost(int stream, Hertz sustained, double cus_taken);
  /// The same now: at the clock that others pull down, and beside collectives.
  double slowdown(int stream, Hertz sustained, double cus_taken) {
    return slowdown_at_boost(stream, sustained, cus_taken) / clock(stream).speed_of_arithmetic();
  }

 private:
  struct ComputeSide {
    std::unique_ptr<Dispatcher> dispatcher;
    std::unique_ptr<CoreClock> clock;
  };
  std::size_t side(int stream) const { return sides_.size() > 1 ? static_cast<std::size_t>(stream) : 0; }

  Simulation& simulation_;
  const GpuSpec& spec_;
  const GpuSetup& setup_;
  int rank_;
  GpuPace pace_;
  std::optional<PowerGovernor> governor_;
  std::vector<ComputeSide> sides_;  ///< one, or one a stream when CUs are private
  Memory memory_;
  RecentWork work_;
  DmaEngines dma_;
  Tracker tracker_;
};

}}  // namespace c3::gpu
