#pragma once
/// Core clock of one GPU: the lowest sustained clock of what is resident, as the speed of what follows it.

#include <vector>

#include "engine/fluid_system.hpp"
#include "engine/units.hpp"
#include "gpu/clock/power_governor.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// How many times as long one GPU takes as others of its type.
struct GpuPace {
  double stated = 1.0;  ///< of a straggler: all that follows its clock, and kernels of a given time
  double drawn = 1.0;   ///< since no two GPUs are alike: arithmetic. What was measured on GPUs has it already

  double arithmetic() const { return stated * drawn; }
};

/// A kernel whose sustained clock is stated pulls the clock of the whole GPU down to it; everything beside it
/// runs at that clock. With nothing resident the clock is the boost clock. Where the power of the board is
/// known, its governor lowers the clock further (PowerGovernor). Wrong when: light co-runners would let a
/// stated clock rise between the two. A slow GPU's arithmetic has \p pace.arithmetic() times the period of
/// others, whatever is resident, and its governor counts as much more energy, so that it gives no clock back;
/// wrong where neither power nor temperature limits the clock, which GPUs of one type have in common.
///
/// Two domains follow it, at speed 1 at boost clock: arithmetic, which also loses HypothesisSpec::overlap_loss
/// while a collective is in flight, and channels of collectives, which do not.
class CoreClock final : public ThrottledClock {
 public:
  /// \p fluid must outlive it, and \p governor if there is one.
  CoreClock(FluidSystem& fluid, const GpuSpec& gpu, GpuPace pace = {}, PowerGovernor* governor = nullptr);
  CoreClock(const CoreClock&) = delete;
  CoreClock& operator=(const CoreClock&) = delete;

  Hertz current() const;                  ///< of arithmetic
  Hertz boost() const { return boost_; }  ///< of a sound GPU
  DomainId arithmetic() const { return arithmetic_; }
  DomainId channels() const { return channels_; }
  double speed_of_arithmetic() const { return fluid_.speed(arithmetic_); }

  /// A kernel begins, or ends, that has the clock \p sustained and draws \p power there by itself.
  void enter(Hertz sustained, Watts power = {});
  void leave(Hertz sustained, Watts power = {});
  void on_throttle() override { set_speeds(); }
  void begin_collective();
  void end_collective();

 private:
  void set_speeds();

  FluidSystem& fluid_;
  Hertz boost_;
  GpuPace pace_;
  double beside_collectives_;  ///< speed of arithmetic there
  DomainId arithmetic_, channels_;
  PowerGovernor* governor_;
  std::vector<Hertz> resident_;  ///< kernels' sustained clocks
  int collectives_ = 0;          ///< in flight
};

/// Speed of a kernel that the power limit holds at \p sustained, relative to what it has with all CUs and
/// nobody beside it: power that others' HBM traffic takes is missing, and that of CUs which it does not have
/// goes to the others, as far as the boost clock. Clock ~ (power of a CU)^0.63, from MI300X and MI325X, the
/// same die with 750 and 1,000 W: 1,207 and 1,447 MHz (AMD, maximum achievable FLOPS part 2, 2025; fp16 gives
/// 0.68, fp8 0.61). PowerSpec::coupling is the part of this that is believed. Wrong when: power not spent by
/// CUs is large or the limit is thermal.
double speed_under_power_limit(const GpuSpec& gpu, Hertz sustained, BytesPerSecond others, double cus_taken);

}}  // namespace c3::gpu
