#include "gpu/fluid_run.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "gpu/kernel_clock.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/waves.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kSameWave = 1e-6;  // of a wave
constexpr double kHeldUp = 1e-15;   // progress a second of a kernel without slots

BoundLaw stretched(BoundLaw law, double waits, double arithmetic) {
  for (BoundLaw::Phase& phase : law.phases) {
    phase.fixed *= waits;
    phase.scaled *= arithmetic;
    phase.least *= waits;
    phase.steps *= waits;
  }
  return law;
}

BoundLaw times(double factor, BoundLaw law) {
  law = stretched(law, factor, factor);
  law.least *= factor;
  law.beside *= factor;
  return law;
}

double time_of(const BoundLaw::Phase& phase) {
  return std::max(phase.fixed + phase.scaled, phase.least + phase.steps);
}

}  // namespace

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
  if (flow_) {
    stop_course();
    dispatcher_.wave_ends().call_at(*this, simulation_.now());  // when it has all of its slots
  }
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

void FluidRun::on_newcomer() {
  if (started_) await_wave_end();
}

void FluidRun::await_wave_end() {
  if (!flow_ || in_last_wave_ || kept_ || !counts_waves() || last_wave() == 0) return;
  const bool is_before = dispatcher_.others_wait_before(*this);
  const std::int64_t until = is_before ? std::min(course().done(progress()) + 1, last_wave()) : last_wave();
  const double left = std::max(0.0, course().progress_after(until) - progress());
  const double rate = simulation_.fluid().rate(*flow_);
  // In its first instant a flow has no rate yet.
  const double expected = rate > 0.0 ? rate : simulation_.fluid().bound(laws());
  dispatcher_.wave_ends().call_at(*this, simulation_.now() + Seconds{left / expected});
}

// Most kernels end before anyone asks.
WaveCourse& FluidRun::course() {
  if (!course_) {
    course_.emplace(kernel_.work_groups, occupancy_.waves, held().in_xcd);
    set_end_of_course(laws_.front().law);
  }
  return *course_;
}

// Blocks of a persistent kernel keep their slots, and engines in strict turn leave some of them free.
bool FluidRun::counts_waves() const {
  return kernel_.persistent.blocks == 0 && !dispatcher_.rotation().is_on();
}

std::int64_t FluidRun::last_wave() { return static_cast<std::int64_t>(std::ceil(course().waves())) - 1; }

void FluidRun::on_wave_end() {
  if (kept_) {
    go_on_course();
    follow_laws();
    if (dispatcher_.others_wait(*this)) await_wave_end();
    return;
  }
  if (!flow_ || in_last_wave_ || !counts_waves() || !dispatcher_.others_wait(*this)) return;
  const bool is_at_end = course().into_wave(progress()) <= kSameWave;
  if (is_at_end && dispatcher_.others_wait_before(*this)) return offer_slots();
  if (course().done(progress()) >= last_wave()) return begin_last_wave();
  await_wave_end();  // it was slowed down
}

void FluidRun::begin_last_wave() {
  in_last_wave_ = true;
  dispatcher_.withdraw(*this);
  course().stop(progress());
  const std::vector<std::int64_t> left = course().left();
  course().go_on(left, std::vector<std::int64_t>(left.size(), 0));
  keep(left);
  follow_laws();
}

// The emptiest CUs keep them, as they would be placed.
void FluidRun::keep(std::vector<std::int64_t> most) {
  held_.in_xcd = most;
  std::vector<int> kept(held_.slots.size(), 0);
  bool goes_on = true;
  for (int groups = 1; goes_on; ++groups) {
    goes_on = false;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      std::int64_t& here = most[static_cast<std::size_t>(held_.slots[i].xcd)];
      if (held_.slots[i].groups < groups || here == 0) continue;
      kept[i] = groups;
      --here;
      goes_on = true;
    }
  }
  std::vector<GridPlacement::Slot> given_back;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    GridPlacement::Slot& slot = held_.slots[i];
    given_back.push_back({slot.xcd, slot.cu, slot.groups - kept[i]});
    slot.groups = kept[i];
  }
  const auto is_empty = [](const GridPlacement::Slot& slot) { return slot.groups == 0; };
  std::erase_if(held_.slots, is_empty);
  std::erase_if(given_back, is_empty);
  release(given_back);
}

void FluidRun::offer_slots() {
  stop_course();
  const std::vector<GridPlacement::Slot> slots = std::exchange(held_.slots, {});
  leave_shares(slots);
  held_.in_xcd.assign(held_.in_xcd.size(), 0);
  kept_->assign(kept_->size(), 0);
  resident_ = 0;
  dispatcher_.release_wave(*this, slots, kernel_.needs, activity_, course().left());
  simulation_.fluid().set_bound(*flow_, kHeldUp);  // until it is placed again, in this instant or later
}

void FluidRun::stop_course() {
  if (kept_ || !counts_waves()) return;
  course().stop(progress());
  kept_ = held_.in_xcd;
}

// The dispatcher counts work groups of the first wave only, and so may have given it more than it needs.
void FluidRun::go_on_course() {
  const std::vector<std::int64_t>& left = course().left();
  std::vector<std::int64_t> added, held;
  bool any_wait = false;
  for (std::size_t xcd = 0; xcd < left.size(); ++xcd) {
    held.push_back(std::min(held_.in_xcd[xcd], left[xcd]));
    (*kept_)[xcd] = std::min((*kept_)[xcd], left[xcd]);
    added.push_back(held[xcd] - (*kept_)[xcd]);
    any_wait = any_wait || held[xcd] < left[xcd];
  }
  course().go_on(*kept_, added);
  const bool needs_less = held != held_.in_xcd;
  if (!any_wait) {
    in_last_wave_ = true;
    dispatcher_.withdraw(*this);
  }
  kept_.reset();
  if (!needs_less) return;
  keep(held);
  if (any_wait) resident_ = std::accumulate(held.begin(), held.end(), std::int64_t{0});
}

Task FluidRun::run() {
  RunningFlow flow(simulation_, whole_kernel());
  flow_ = flow.id();
  if (alone_ == nullptr && dispatcher_.others_wait(*this)) await_wave_end();
  co_await flow;
  flow_.reset();
  if (kept_ && resident_ == 0) {  // nothing else happened any more that could give it slots
    Event slots(simulation_, "CU slots for " + kernel_.name);
    co_await slots;
  }
  leave();
  done_.set();
}

void FluidRun::leave() {
  dispatcher_.withdraw(*this);
  dispatcher_.wave_ends().withdraw(*this);
  if (dispatcher_.release_alone(*this, activity_)) return;
  release(held_.slots);
}

void FluidRun::leave_shares(std::span<const GridPlacement::Slot> slots) {
  if (!kernel_.needs.computes) return;
  for (const GridPlacement::Slot& slot : slots)
    dispatcher_.shares().leave(slot.xcd, slot.cu, *this, slot.groups);
}

// Work groups of unequal times end one after another.
void FluidRun::release(std::span<const GridPlacement::Slot> slots) {
  leave_shares(slots);
  if (gpu_.spec().dispatch.work_group_spread > 0.0)
    return dispatcher_.release_in_turn(*this, slots, kernel_.needs, activity_);
  for (const GridPlacement::Slot& slot : slots)
    dispatcher_.release(*this, slot.xcd, slot.cu, kernel_.needs, activity_, slot.groups);
}

void FluidRun::on_shares_changed(int) { follow_laws(); }

void FluidRun::follow_laws() {
  if (flow_ && !kept_) simulation_.fluid().set_bound(*flow_, kUnbounded, laws());
}

double FluidRun::progress() const { return 1.0 - simulation_.fluid().remaining(*flow_); }

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
  int groups = 0;
  for (const GridPlacement::Slot& slot : held_.slots) {
    const ArithmeticShare here = dispatcher_.shares().of(*this, slot.xcd, slot.cu);
    shares.groups = std::max(shares.groups, here.groups);
    shares.least = std::min(shares.least, here.available);
    sum += slot.groups * here.available;
    groups += slot.groups;
  }
  shares.mean = sum / static_cast<double>(groups);
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
    occupancy_.waves = waves();
    BoundLaw as_known;
    as_known.least = known_->value;
    laws_.assign({{gpu_.clock(launch_.stream).arithmetic(), as_known}});
    return laws_;
  }
  const double taken = gpu_.cus_taken(launch_.stream, launch_.range);
  const double after_others = gpu_.work().is_other_than(kernel_.name) ? kernel_.after_others : 1.0;
  const double slower = gpu_.slowdown_at_boost(launch_.stream, kernel_.clock, taken) * after_others;
  const Shares shares = this->shares();
  WaveCourse::Rest rest;
  if (course_ && !course_->is_whole()) {
    rest = course_->rest(shares.groups);
  } else {
    rest.occupancy = occupancy(kernel_.work_groups, resident_, waves(), shares.groups);
  }
  occupancy_ = rest.occupancy;
  BoundLaw alone = law_of_waves(kernel_, gpu_.spec(), traffic(), occupancy_, slower);
  const Bytes in_flight_together =
      in_flight(gpu_.spec().compute, kernel_, computing_beside()) * static_cast<double>(resident_);
  const Bytes loads = traffic().hbm * static_cast<double>(kernel_.work_groups);
  alone.least = gpu_.memory().least_loading_time(launch_.stream, loads, in_flight_together).value;
  alone.beside = 1.0 / hbm_rate_;
  alone.overlap = kernel_.overlap;
  if (course_) set_end_of_course(alone);
  const DomainId domain = gpu_.clock(launch_.stream).arithmetic();
  laws_.assign({{domain, times(launch_.correction, stretched(alone, rest.waits, rest.arithmetic))}});
  if (shares.least < 1.0) {
    const auto full_waves = static_cast<double>(occupancy_.waves - 1);
    BoundLaw beside_others;
    beside_others.phases[0].scaled =
        (kernel_.compute_time * slower).value *
        (full_waves * occupancy_.sharing / shares.mean + occupancy_.last_sharing / shares.least);
    laws_.push_back({domain, times(launch_.correction, stretched(beside_others, rest.waits, rest.arithmetic))});
  }
  return laws_;
}

void FluidRun::set_end_of_course(const BoundLaw& alone) {
  const auto& [full_waves, last_wave, tail] = alone.phases;
  const bool is_held_up_by_hbm = time_of(full_waves) + time_of(last_wave) + time_of(tail) < alone.beside;
  if (is_held_up_by_hbm) return course_->set_end(1.0, 0.0);
  BoundLaw::Phase wave = last_wave;
  wave.scaled *= static_cast<double>(occupancy_.sharing) / occupancy_.last_sharing;
  if (time_of(wave) <= 0.0) return course_->set_end(0.0, 0.0);
  const bool computes = wave.fixed + wave.scaled >= wave.least + wave.steps;
  const double crowding = computes ? wave.scaled / time_of(wave) * relief(occupancy_) : 0.0;
  course_->set_end(crowding, time_of(tail) / time_of(wave));
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
