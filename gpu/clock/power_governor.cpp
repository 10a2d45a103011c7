#include "gpu/clock/power_governor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "gpu/clock/governor.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kPico = 1e-12;
constexpr double kLeastAim = 0.5;  // of the limit, however far the mean is above it (assumed)
constexpr double kCame = 0.01;     // of the band: as near to an edge, the mean is there

}  // namespace

void PowerGovernor::BoostSum::add(double seconds, Watts power) {
  time += seconds;
  at_boost += seconds * power.value;
}

Watts PowerGovernor::BoostSum::mean(Watts of_nothing) const {
  return time > 0.0 ? Watts{at_boost / time} : of_nothing;
}

PowerGovernor::PowerGovernor(Simulation& simulation, const GpuSpec& gpu, int rank, double dearer)
    : simulation_(simulation),
      gpu_(gpu),
      limit_(power_limit(gpu)),
      band_(kGovernorBand * limit_),
      dearer_(dearer),
      arithmetic_(simulation.fluid().add_resource(
          {.name = fmt::format("gpu{}.products_at_boost", rank), .unit = "J/s", .gpu = rank}, kUnbounded)),
      alarm_(simulation.fluid().add_alarm(*this)),
      mean_(gpu.governor.averaging, gpu.governor.idle),
      at_boost_(gpu.governor.idle),
      drawn_(gpu.governor.idle),
      least_(drawn_),
      most_(drawn_),
      highest_(drawn_) {
  set_edges();
  simulation.fluid().set_listener(arithmetic_, *this);
  if (!simulation.is_observed()) return;
  const std::string name = fmt::format("gpu{}.derived_power", rank);
  derived_ = simulation.fluid().add_resource({.name = name, .unit = "W", .gpu = rank}, kUnbounded);
  simulation.fluid().report_use(derived_, drawn_.value);
}

void PowerGovernor::listen_to(std::span<const HbmLoad> hbm) {
  hbm_.assign(hbm.begin(), hbm.end());
  for (const HbmLoad& its : hbm)
    simulation_.fluid().set_listener(its.total, *this);
}

void PowerGovernor::begin_at(const PowerState& state) {
  mean_.set(state.mean);
  if (state.speed < 1.0)  // what it is held for
    window_.add(gpu_.governor.averaging.value, power_when_slowed(gpu_, sustained_target(gpu_), state.speed));
  highest_ = state.mean;
  set_speed(state.speed);
  set_edges();
  least_ = most_ = drawn_;
  arm();
}

void PowerGovernor::enter(Watts at_boost) {
  resident_.push_back(at_boost);
  limit_bursts();
}

void PowerGovernor::leave(Watts at_boost) {
  const auto found = std::ranges::find(resident_, at_boost);
  if (found == resident_.end()) throw std::logic_error("PowerGovernor::leave: no kernel of this power");
  *found = resident_.back();
  resident_.pop_back();
  limit_bursts();
}

void PowerGovernor::add_arithmetic(std::vector<Demand>& demands, Joules energy) const {
  add_demand(demands, arithmetic_, dearer_ * energy.value);
}

PowerState PowerGovernor::state() {
  advance();
  return {mean_.value(), speed_};
}

PowerMeans PowerGovernor::means() {
  advance();
  if (run_.time <= 0.0) return {drawn_, at_boost_, throttle_, highest_};
  return {Watts{run_.drawn / run_.time}, Watts{run_.at_boost / run_.time}, run_.speed / run_.time, highest_};
}

void PowerGovernor::on_load(const FlowSolver& rates) {
  advance();
  double bytes = 0.0;  // each second
  for (const HbmLoad& hbm : hbm_)
    bytes += rates.load(hbm.total) - rates.load(hbm.lost);
  traffic_ = Watts{kPico * gpu_.governor.byte_pj * bytes};
  at_boost_ = gpu_.governor.idle + (1.0 / throttle_) * (Watts{rates.load(arithmetic_)} + traffic_);
  draw();
}

void PowerGovernor::on_complete(std::uint64_t) {
  advance();
  const Watts mean = mean_.value();
  const Watts near = kCame * band_;
  if (mean >= upper_ - near || mean <= lower_ + near) decide();
  least_ = most_ = drawn_;
  arm();
}

void PowerGovernor::advance() {
  const double time = (simulation_.now() - since_).value;
  if (time <= 0.0) return;
  since_ = simulation_.now();
  mean_.pass(Seconds{time}, drawn_);
  highest_ = std::max(highest_, mean_.value());
  run_.time += time;
  run_.drawn += time * drawn_.value;
  run_.at_boost += time * at_boost_.value;
  run_.speed += time * throttle_;
  interval_.add(time, at_boost_);
  window_.add(time, at_boost_);
  const double longest = gpu_.governor.averaging.value;
  if (window_.time > longest) window_ = {longest, longest * window_.mean(at_boost_).value};
}

void PowerGovernor::decide() {
  const Watts mean = mean_.value();
  if (is_free() && mean < limit_ - kCame * band_) {
    window_ = {};  // what runs from here to the limit says how fast it may go there
  } else {
    set_speed(next_speed());
  }
  interval_ = {};
  set_edges();
}

// What ran within the averaging says what will run. Where the mean leaves the band that waves and small kernels
// explain, what ran since the last decision does.
double PowerGovernor::next_speed() {
  const Watts mean = mean_.value();
  const Watts far = (2.0 - kCame) * band_;
  if (mean <= limit_ - far) return 1.0;
  const bool is_far_above = mean >= limit_ + far;
  if (is_far_above) window_ = interval_;
  Watts expected = window_.mean(at_boost_);
  const Watts held = sustained_target(gpu_);
  if (is_far_above || (is_free() && expected <= held)) expected = std::max(expected, at_boost_);
  const Watts off = mean - held;
  return 1.0 / slowdown_to(gpu_, expected,
                           std::abs(off.value) > band_.value ? std::max(held - off, kLeastAim * held) : held);
}

void PowerGovernor::set_edges() {
  const Watts mean = mean_.value();
  if (!is_free()) {
    lower_ = mean - band_;
    upper_ = mean + band_;
    return;
  }
  const bool is_near = mean >= limit_ - (1.0 + kCame) * band_;
  lower_ = is_near ? mean - band_ : Watts{-std::numeric_limits<double>::infinity()};
  upper_ = mean >= limit_ - kCame * band_ ? mean + band_ : limit_ - (is_near ? 0.0 : 1.0) * band_;
}

void PowerGovernor::set_speed(double speed) {
  speed_ = speed;
  set_throttle();
}

void PowerGovernor::limit_bursts() {
  Watts most{};
  for (const Watts power : resident_)
    most = std::max(most, power);
  burst_speed_ = 1.0 / burst_slowdown(gpu_, most);
  set_throttle();
}

void PowerGovernor::set_throttle() {
  const double throttle = std::min(speed_, burst_speed_);
  if (throttle == throttle_) return;
  advance();
  // Nothing is solved again for bytes alone, which no clock slows.
  at_boost_ = at_boost_ + (1.0 / throttle - 1.0 / throttle_) * traffic_;
  throttle_ = throttle;
  share_ = power_when_slowed(gpu_, Watts{1.0}, 1.0 / throttle).value;
  for (ThrottledClock* clock : clocks_)
    clock->on_throttle();
  draw();
}

void PowerGovernor::draw() {
  drawn_ = share_ * at_boost_;
  if (simulation_.is_observed()) simulation_.fluid().report_use(derived_, drawn_.value);
  if (drawn_ >= least_ && drawn_ <= most_) return;
  least_ = std::min(least_, drawn_);
  most_ = std::max(most_, drawn_);
  arm();
}

void PowerGovernor::arm() {
  const Watts mean = mean_.value();
  const bool is_there = mean >= upper_ || mean <= lower_;
  const Seconds wait =
      is_there ? Seconds{} : std::min(mean_.time_to(upper_, most_), mean_.time_to(lower_, least_));
  if (std::isinf(wait.value)) return simulation_.fluid().withdraw_alarm(alarm_);
  simulation_.fluid().set_alarm(alarm_, simulation_.now() + wait);
}

}}  // namespace c3::gpu
