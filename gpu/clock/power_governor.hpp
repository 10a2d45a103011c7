#pragma once
/// The governor of one GPU in a run: it averages what the board draws and sets the speed of the core clock.

#include <span>
#include <vector>

#include "engine/simulation.hpp"
#include "gpu/clock/mean_power.hpp"
#include "gpu/clock/power_state.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// Follows a GPU's speed as its governor changes it.
class ThrottledClock {
 public:
  virtual ~ThrottledClock() = default;
  virtual void on_throttle() = 0;
};

/// One HBM of a GPU, as resources of the fluid system.
struct HbmLoad {
  ResourceId total, lost;
};

/// The board draws P = (idle + (arithmetic + byte_pj x bytes at HBM) / f) f^(1/exponent) at a clock of f times
/// boost: the power at boost clock of what runs, lowered as power_when_slowed says. Its mean over
/// GovernorSpec::averaging is exact, since loads are constant between events.
///
/// While the mean is below the limit the clock is free. When it reaches the limit, the governor holds the clock
/// at the speed at which what ran since the mean was 1 % lower would draw half a per cent less than the limit.
/// Whenever the mean has moved by 1 % it decides again, by what ran within the averaging since then, so that
/// waves and kernels that follow one another in a few ms, which move the mean by some W, do not move the clock.
/// Beyond 1 % it leads the mean back by as much as it is off; 2 % above the limit what ran since the last
/// decision counts alone, and 2 % below the limit the clock is free again. So decisions are crossings of the
/// mean, at most one an instant, and no kernel is slowed for its own power, but for that of all that ran.
///
/// What the governor hears are loads of resources: HBM, and a meter of joules that matrix products take at
/// boost clock (add_arithmetic). A crossing is an alarm of the engine, set for the most and the least power
/// drawn since the last one, so that loads which stay within them move no alarm.
///
/// Beside it, at once and as long as it runs, a kernel of matrix products is held to GovernorSpec::burst
/// limits.
///
/// Wrong when: links, copy engines or vector units draw much; operands are not random; HBM keeps its power
/// while the core clock falls; a board takes several steps to the new clock.
class PowerGovernor final : public LoadListener, public Completion {
 public:
  /// From a GPU that was idle for long. \p gpu must outlive it. \p dearer: its products take so many times the
  /// energy of others of its type. \pre is_governed(gpu)
  PowerGovernor(Simulation& simulation, const GpuSpec& gpu, int rank, double dearer = 1.0);

  /// \p clock must outlive the run.
  void drive(ThrottledClock& clock) { clocks_.push_back(&clock); }
  void listen_to(std::span<const HbmLoad> hbm);
  /// \pre nothing has run
  void begin_at(const PowerState& state);

  /// The clock that the governor and the burst limit leave, as a fraction of boost.
  double throttle() const { return throttle_; }
  /// A kernel that draws \p at_boost by itself begins, or ends.
  void enter(Watts at_boost);
  void leave(Watts at_boost);
  /// \p energy of matrix products at boost clock, of a flow.
  void add_arithmetic(std::vector<Demand>& demands, Joules energy) const;

  PowerState state();
  PowerMeans means();

  void on_load(const FlowSolver& rates) override;
  void on_complete(std::uint64_t tag) override;

 private:
  /// Of a time, in s and W s.
  struct Sums {
    double time = 0.0, drawn = 0.0, at_boost = 0.0, speed = 0.0;
  };
  struct BoostSum {
    double time = 0.0, at_boost = 0.0;
    void add(double seconds, Watts power);
    Watts mean(Watts of_nothing) const;
  };
  void advance();
  void decide();
  double next_speed();
  void set_edges();
  void set_speed(double speed);
  void limit_bursts();
  void set_throttle();
  void draw();
  void arm();
  bool is_free() const { return speed_ >= 1.0; }

  Simulation& simulation_;
  const GpuSpec& gpu_;
  Watts limit_;
  Watts band_;  ///< by which the mean moves between two decisions
  double dearer_;
  ResourceId arithmetic_;
  ResourceId derived_ = 0;  ///< of an observed run
  AlarmId alarm_;
  std::vector<HbmLoad> hbm_;
  std::vector<ThrottledClock*> clocks_;
  std::vector<Watts> resident_;  ///< kernels' own powers

  MeanPower mean_;
  Seconds since_;             ///< date for which all of this holds
  double speed_ = 1.0;        ///< by the mean
  double burst_speed_ = 1.0;  ///< by the kernels that are resident
  double throttle_ = 1.0;     ///< the lower of both
  double share_ = 1.0;        ///< of the power at boost clock that is drawn at this throttle
  Watts at_boost_;            ///< of what runs
  Watts traffic_;             ///< of the bytes at HBM, which no clock slows
  Watts drawn_;
  Watts lower_, upper_;  ///< the mean at the next decision
  Watts least_, most_;   ///< drawn since the alarm was set
  Sums run_;             ///< since the beginning
  BoostSum interval_;    ///< since the last decision
  BoostSum window_;      ///< what the clock is held for: of the averaging at most
  Watts highest_;
};

}}  // namespace c3::gpu
