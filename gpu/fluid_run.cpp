#include "gpu/fluid_run.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "gpu/kernel_clock.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/waves.hpp"

namespace c3 { inline namespace gpu {

FluidRun::FluidRun(Gpu& gpu, const KernelDescription& kernel, const KernelLaunch& launch, ActivityId activity,
                   std::optional<Seconds> known)
    : gpu_(gpu),
      simulation_(gpu.simulation()),
      dispatcher_(gpu.dispatcher(launch.stream)),
      kernel_(kernel),
      launch_(launch),
      activity_(activity),
      known_(known),
      done_(simulation_, "work groups of " + kernel.name) {
  held_.in_xcd.assign(static_cast<std::size_t>(gpu.spec().compute.xcds), 0);
}

void FluidRun::on_placed(int xcd, std::span<const int> cus) {
  const std::size_t before = held_.slots.size();
  held_.add(xcd, cus);
  if (kernel_.needs.computes) {
    for (const GridPlacement::Slot& slot : std::span(held_.slots).subspan(before))
      dispatcher_.shares().join(xcd, slot.cu, *this, kernel_.needs.waves, slot.groups);
  }
  resident_ += std::ssize(cus);
  begin();
}

void FluidRun::on_placed_alone(const GridPlacement& placement) {
  alone_ = &placement;
  resident_ = std::accumulate(placement.in_xcd.begin(), placement.in_xcd.end(), std::int64_t{0});
  begin();
}

void FluidRun::on_company() {
  held_ = *std::exchange(alone_, nullptr);
  for (const GridPlacement::Slot& slot : held_.slots)
    dispatcher_.shares().join_alone(slot.xcd, slot.cu, *this, kernel_.needs.waves, slot.groups);
}

void FluidRun::begin() {
  if (std::exchange(started_, true)) return;
  began_ = simulation_.now();
  enter_clock(gpu_, kernel_, launch_);
  simulation_.spawn(kernel_.name, run());
}

Task FluidRun::run() {
  RunningFlow flow(simulation_, whole_kernel());
  flow_ = flow.id();
  co_await flow;
  flow_.reset();
  leave();
  done_.set();
}

void FluidRun::leave() {
  dispatcher_.withdraw(*this);
  if (dispatcher_.release_alone(*this, activity_)) return;
  for (const GridPlacement::Slot& slot : held_.slots) {
    if (kernel_.needs.computes) dispatcher_.shares().leave(slot.xcd, slot.cu, *this, slot.groups);
    dispatcher_.release(*this, slot.xcd, slot.cu, kernel_.needs, activity_, slot.groups);
  }
}

void FluidRun::on_shares_changed(int) {
  if (flow_) simulation_.fluid().set_bound(*flow_, kUnbounded, laws());
}

const Traffic& FluidRun::traffic() {
  if (!traffic_) {
    CacheState state = gpu_.memory().cache_state(launch_.stream, resident_, kernel_.compute_time);
    state.cus_taken = gpu_.cus_taken(launch_.stream, launch_.range);
    traffic_ = with_added_to(kernel_, kernel_.traffic->per_work_group(state));
  }
  return *traffic_;
}

double FluidRun::arithmetic_asked(int groups) {
  const double taken = gpu_.cus_taken(launch_.stream, launch_.range);
  return c3::arithmetic_asked(kernel_, gpu_.spec(), traffic(), groups,
                              launch_.range.size() * gpu_.spec().compute.xcds,
                              gpu_.slowdown(launch_.stream, kernel_.clock, taken));
}

int FluidRun::computing_beside() const {
  if (alone_ != nullptr) return alone_->most_on_a_cu;
  int most = 1;
  for (const GridPlacement::Slot& slot : held_.slots)
    most = std::max(most, dispatcher_.units().computing(slot.xcd, slot.cu));
  return most;
}

FluidRun::Shares FluidRun::shares() const {
  Shares shares;
  if (!kernel_.needs.computes) return shares;
  if (alone_ != nullptr) {
    shares.groups = alone_->most_on_a_cu;
    return shares;
  }
  double sum = 0.0;
  for (const GridPlacement::Slot& slot : held_.slots) {
    const ArithmeticShare here = dispatcher_.shares().of(*this, slot.xcd, slot.cu);
    shares.groups = std::max(shares.groups, here.groups);
    shares.least = std::min(shares.least, here.available);
    sum += slot.groups * here.available;
  }
  shares.mean = sum / static_cast<double>(resident_);
  return shares;
}

// Dealt to XCDs in turn and on each to its shader engines in turn, work groups go in turn to all engines.
std::int64_t FluidRun::waves() const {
  const auto engines = static_cast<std::size_t>(dispatcher_.rotation().in_turn());
  if (engines == 1) return wave_count(kernel_.work_groups, held().in_xcd, kernel_.persistent);
  std::vector<std::int64_t> slots(held().in_xcd.size() * engines, 0);
  for (const GridPlacement::Slot& slot : held_.slots) {
    const std::size_t engine = static_cast<std::size_t>(slot.cu) % engines;
    slots[static_cast<std::size_t>(slot.xcd) + held().in_xcd.size() * engine] += slot.groups;
  }
  return wave_count(kernel_.work_groups, slots, kernel_.persistent);
}

// Full waves go at the mean pace of its CUs, because CUs that others leave alone take more of the grid; the
// last wave ends with the slowest CU.
std::span<const BoundTerm> FluidRun::laws() {
  if (known_) {
    BoundLaw as_known;
    as_known.least = known_->value;
    laws_.assign({{gpu_.clock(launch_.stream).arithmetic(), as_known}});
    return laws_;
  }
  const double taken = gpu_.cus_taken(launch_.stream, launch_.range);
  const double after_others = gpu_.work().is_other_than(kernel_.name) ? kernel_.after_others : 1.0;
  const double slower = gpu_.slowdown_at_boost(launch_.stream, kernel_.clock, taken) * after_others;
  const Shares shares = this->shares();
  const Occupancy waves = occupancy(kernel_.work_groups, resident_, this->waves(), shares.groups);
  BoundLaw alone = law_of_waves(kernel_, gpu_.spec(), traffic(), waves, slower);
  const Bytes in_flight_together =
      in_flight(gpu_.spec().compute, kernel_, computing_beside()) * static_cast<double>(resident_);
  const Bytes loads = traffic().hbm * static_cast<double>(kernel_.work_groups);
  alone.least = gpu_.memory().least_loading_time(launch_.stream, loads, in_flight_together).value;
  alone.beside = 1.0 / hbm_rate_;
  alone.overlap = kernel_.overlap;
  const DomainId domain = gpu_.clock(launch_.stream).arithmetic();
  laws_.assign({{domain, alone}});
  if (shares.least < 1.0) {
    const auto full_waves = static_cast<double>(waves.waves - 1);
    BoundLaw beside_others;
    beside_others.phases[0].scaled =
        (kernel_.compute_time * slower).value *
        (full_waves * waves.sharing / shares.mean + waves.last_sharing / shares.least);
    laws_.push_back({domain, beside_others});
  }
  return laws_;
}

FlowSpec FluidRun::whole_kernel() {
  const auto work_groups = static_cast<double>(kernel_.work_groups);
  const auto xcds = static_cast<double>(held().in_xcd.size());
  const Traffic& of_one = traffic();
  const Bytes stored = kernel_.output * work_groups;
  const Bytes written = (of_one.stores_to_hbm + gpu_.rewritten(launch_.stream)) * stored;
  const Bytes read = of_one.hbm * work_groups;
  hbm_rate_ = gpu_.memory().alone_rate(read, written) * kernel_.hbm_share;
  demands_.clear();
  for (int xcd = 0; xcd < static_cast<int>(held().in_xcd.size()); ++xcd) {
    gpu_.memory().add_loads(demands_, launch_.stream, xcd, work_groups / xcds * of_one, kernel_.hbm_share);
    gpu_.memory().add_stores(demands_, launch_.stream, xcd, stored / xcds, written / xcds, kernel_.hbm_share);
  }
  gpu_.add_arithmetic(demands_, work_groups * kernel_.energy);
  FlowSpec spec;
  spec.demands = demands_;
  spec.laws = laws();
  spec.weight = weight(simulation_.fluid().bound(spec.laws));
  spec.activity = activity_;
  return spec;
}

// A work group's loads hold up the next one; its stores are posted and hold up nobody.
double FluidRun::weight(double alone) {
  const auto requesters = static_cast<int>(resident_);
  const Bytes of_one = in_flight(gpu_.spec().compute, kernel_, computing_beside());
  const auto work_groups = static_cast<double>(kernel_.work_groups);
  const Traffic& loads = traffic();
  if (loads.hbm.value <= 0.0) {
    return gpu_.memory().weight(of_one, requesters, kernel_.output * work_groups, alone);
  }
  const Bytes outstanding = of_one * (loads.hbm / loads.l2);
  return gpu_.memory().weight(outstanding, requesters, loads.hbm * work_groups, alone);
}

}}  // namespace c3::gpu
