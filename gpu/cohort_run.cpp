#include "gpu/cohort_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpu/kernel_clock.hpp"
#include "gpu/kernel_time.hpp"

namespace c3 { inline namespace gpu {
namespace {

std::size_t cohort_size(const Gpu& gpu, const KernelDescription& kernel, const KernelLaunch& launch) {
  if (launch.grain == KernelGrain::work_group) return 1;
  const int slots =
      gpu.spec().compute.cus_per_xcd * work_groups_per_cu(gpu.spec().compute, kernel.needs, kernel.name);
  const int cohorts = gpu.spec().simulation.cohorts_per_placement;
  return static_cast<std::size_t>((slots + cohorts - 1) / cohorts);
}

}  // namespace

CohortRun::CohortRun(Gpu& gpu, const KernelDescription& kernel, const KernelLaunch& launch, ActivityId activity)
    : gpu_(gpu),
      simulation_(gpu.simulation()),
      dispatcher_(gpu.dispatcher(launch.stream)),
      kernel_(kernel),
      launch_(launch),
      activity_(activity),
      random_(gpu.setup().seed, launch.draw),
      cohort_size_(cohort_size(gpu, kernel, launch)),
      left_(kernel.work_groups),
      dealt_(dealt_tiles(kernel.persistent, kernel.work_groups)),
      placed_in_xcd_(static_cast<std::size_t>(gpu.spec().compute.xcds), 0),
      done_(simulation_, "work groups of " + kernel.name) {}

void CohortRun::on_placed(int xcd, std::span<const int> cus) {
  if (placed_ == 0) {
    began_ = simulation_.now();
    enter_clock(gpu_, kernel_, launch_);
  }
  resident_ += std::ssize(cus);
  most_resident_ = std::max(most_resident_, resident_);
  if (kernel_.needs.computes) {
    for (const int cu : cus)
      dispatcher_.shares().join(xcd, cu, *this, kernel_.needs.waves);
  }
  while (!cus.empty()) {
    const std::size_t size = std::min(cohort_size_, cus.size());
    Cohort* cohort = add_cohort(xcd, cus.first(size));
    std::int64_t& in_xcd = placed_in_xcd_[static_cast<std::size_t>(xcd)];
    cohort->first = std::exchange(in_xcd, in_xcd + std::ssize(cohort->cus));
    cohort->block = std::exchange(placed_, placed_ + std::ssize(cohort->cus));
    cohort->end_block = placed_;
    cohort->round = 0;
    cohort->before = kNoActivity;
    cus = cus.subspan(size);
  }
}

CohortRun::Cohort* CohortRun::add_cohort(int xcd, std::span<const int> cus) {
  Cohort* cohort = take_record();
  cohort->xcd = xcd;
  cohort->number = started_++;
  cohort->placed = simulation_.now();
  cohort->cus.assign(cus.begin(), cus.end());
  simulation_.spawn(kernel_.name, run_cohort(cohort));
  return cohort;
}

std::int64_t CohortRun::take_tiles(const Cohort& cohort) {
  const int round = cohort.round + 1;
  if (round < kernel_.persistent.own_tiles)
    return own_tiles_in_round(kernel_.persistent, kernel_.work_groups, round, cohort.block, cohort.end_block);
  const std::int64_t taken = std::min(std::ssize(cohort.cus), dealt_);
  dealt_ -= taken;
  return taken;
}

void CohortRun::go_on(const Cohort& cohort, ActivityId activity) {
  const auto going = static_cast<std::size_t>(take_tiles(cohort));
  leave(cohort, activity, going);
  if (going == 0) return;
  Cohort* next = add_cohort(cohort.xcd, std::span(cohort.cus).first(going));
  next->block = cohort.block;
  next->end_block = cohort.end_block;
  next->round = cohort.round + 1;
  next->before = activity;
}

Task CohortRun::run_cohort(Cohort* cohort) {
  const auto size = static_cast<std::int64_t>(cohort->cus.size());
  const ActivityId activity = begin(*cohort);
  cohort->share = share_of(*cohort);
  cohort->cus_taken = gpu_.cus_taken(launch_.stream, launch_.range);
  cohort->after_others = gpu_.work().is_other_than(kernel_.name) ? kernel_.after_others : 1.0;
  const Seconds computing_now = compute_time(*cohort) / gpu_.clock(launch_.stream).speed_of_arithmetic();
  CacheState state = gpu_.memory().cache_state(launch_.stream, resident_, computing_now);
  state.cus_taken = cohort->cus_taken;
  state.stores_bypass = launch_.sink != nullptr;
  const Traffic traffic = kernel_.traffic->per_work_group(state);

  cohort->loads = traffic.hbm;
  cohort->stores_to_hbm = traffic.stores_to_hbm;
  cohort->in_flight = in_flight(gpu_.spec().compute, kernel_, computing_beside(*cohort));
  if (kernel_.prologue > 0.0) {
    RunningFlow prologue(simulation_,
                         load_flow(*cohort, traffic, kernel_.prologue, 1.0 / latency_of_load(), activity));
    co_await prologue;
  }
  cohort->share = share_of(*cohort);
  RunningFlow steady(simulation_, steady_flow(*cohort, traffic, activity));
  cohort->steady = steady.id();
  computing_.push_back(cohort);
  co_await steady;
  std::erase(computing_, cohort);
  if (kernel_.added_to.value > 0.0) {
    const Traffic added{.l2 = kernel_.added_to, .llc = kernel_.added_to, .hbm = kernel_.added_to};
    RunningFlow adding(simulation_, load_flow(*cohort, added, 1.0, 1.0 / latency_of_load(), activity));
    co_await adding;
  }

  const bool holds_cu = launch_.sink != nullptr && gpu_.spec().hbm.store_order == StoreOrder::stores_first;
  const bool is_full = gpu_.memory().storing(launch_.stream) > state.llc_size;
  const bool waits = !holds_cu && is_full;
  if (!holds_cu && !waits) go_on(*cohort, activity);
  const Bytes stores = kernel_.output * static_cast<double>(size);
  storing_ += size;
  gpu_.memory().stores_begin(launch_.stream, stores);
  co_await store(cohort, traffic.stores_to_hbm);
  gpu_.memory().stores_end(launch_.stream, stores);
  storing_ -= size;
  if (holds_cu) leave(*cohort, activity);
  if (waits) go_on(*cohort, activity);
  free_records_.push_back(cohort);
  left_ -= size;
  if (left_ == 0) done_.set();
}

ActivityId CohortRun::begin(const Cohort& cohort) {
  if (!simulation_.is_observed()) return kNoActivity;
  const auto size = static_cast<double>(cohort.cus.size());
  const ActivityId activity =
      simulation_.begin_activity({.name = kernel_.name,
                                  .kind = ActivityKind::cohort,
                                  .gpu = gpu_.rank(),
                                  .stream = launch_.stream,
                                  .parent = activity_,
                                  .flops = kernel_.flops * size,
                                  .work_groups = static_cast<std::int64_t>(cohort.cus.size())});
  simulation_.add_dependency(activity, activity_, DependencyKind::launch);
  if (cohort.before != kNoActivity) {
    simulation_.add_dependency(activity, cohort.before, DependencyKind::slot);
    return activity;
  }
  ActivityId previous = kNoActivity;
  for (const int cu : cohort.cus) {
    const ActivityId by = dispatcher_.units().last_released_by(cohort.xcd, cu);
    if (by != previous) simulation_.add_dependency(activity, by, DependencyKind::slot);
    previous = by;
  }
  return activity;
}

// Beside other kernels its arithmetic takes as long as their share of the CU makes it; that hides what it would
// wait for alone.
std::span<const BoundTerm> CohortRun::steady_laws(const Cohort& cohort) {
  const DomainId domain = gpu_.clock(launch_.stream).arithmetic();
  const Seconds computing = compute_time(cohort);
  laws_.assign({{domain, law_alone(cohort, computing)}});
  if (cohort.share.available < 1.0) {
    BoundLaw beside_others;
    beside_others.phases[0].scaled = (computing / cohort.share.available).value;
    laws_.push_back({domain, beside_others});
  }
  return laws_;
}

// Where nothing needs to be there before work begins, the latency is the first load's and all others follow it.
// Stalls are found at dispatch, from the bytes of the kernel's resident work groups. Work groups that hide
// everything need no bound of this kind: HBM itself holds them up, and lets go when siblings end.
BoundLaw CohortRun::law_alone(const Cohort& cohort, Seconds computing) const {
  const Memory& memory = gpu_.memory();
  const Seconds latency = gpu_.spec().hbm.latency;
  const Seconds waited_before = kernel_.prologue > 0.0 ? latency : Seconds{};
  BoundLaw law;
  law.phases[0] = {.fixed = (latency - waited_before).value,
                   .scaled = computing.value,
                   .least = -waited_before.value,
                   .steps = kernel_.least_time.value * slower(cohort)};
  law.least = memory.least_loading_time(launch_.stream, cohort.loads, cohort.in_flight).value;
  if (std::isinf(kernel_.overlap) && kernel_.hbm_share == 1.0) return law;
  // Work groups that load, compute and store by turns, most of their time at least, wait for their stores, too.
  constexpr double kMostlyByTurns = 2.0;
  const bool by_turns = kernel_.overlap < kMostlyByTurns;
  const Bytes stored = by_turns ? kernel_.output * cohort.stores_to_hbm : Bytes{0};
  const auto resident = static_cast<double>(resident_);
  const double rate = memory.alone_rate(cohort.loads * resident, stored * resident) * kernel_.hbm_share;
  law.beside = 1.0 / rate;
  law.overlap = kernel_.overlap;
  return law;
}

double CohortRun::arithmetic_asked(int groups) {
  const double taken = gpu_.cus_taken(launch_.stream, launch_.range);
  if (!asked_for_) {
    CacheState state = gpu_.memory().cache_state(launch_.stream, resident_, kernel_.compute_time);
    state.cus_taken = taken;
    asked_for_ = with_added_to(kernel_, kernel_.traffic->per_work_group(state));
  }
  return c3::arithmetic_asked(kernel_, gpu_.spec(), *asked_for_, groups,
                              launch_.range.size() * gpu_.spec().compute.xcds,
                              gpu_.slowdown(launch_.stream, kernel_.clock, taken));
}

void CohortRun::on_shares_changed(int xcd) {
  const CuShares& shares = dispatcher_.shares();
  const auto changed = [&](const Cohort& cohort) {
    return std::ranges::any_of(cohort.cus, [&](int cu) { return shares.changed(xcd, cu); });
  };
  for (Cohort* cohort : computing_) {
    if (cohort->xcd != xcd || !changed(*cohort)) continue;
    cohort->share = share_of(*cohort);
    simulation_.fluid().set_bound(*cohort->steady, kUnbounded, steady_laws(*cohort));
  }
}

int CohortRun::computing_beside(const Cohort& cohort) const {
  int most = 1;
  for (const int cu : cohort.cus)
    most = std::max(most, dispatcher_.units().computing(cohort.xcd, cu));
  return most;
}

ArithmeticShare CohortRun::share_of(const Cohort& cohort) const {
  ArithmeticShare share{.groups = 1, .available = 1.0};
  if (!kernel_.needs.computes) return share;
  double sum = 0.0;
  for (const int cu : cohort.cus) {
    const ArithmeticShare here = dispatcher_.shares().of(*this, cohort.xcd, cu);
    share.groups = std::max(share.groups, here.groups);
    share.available = std::min(share.available, here.available);
    sum += here.available;
  }
  if (placed_ < launched_work_groups(kernel_)) share.available = sum / static_cast<double>(cohort.cus.size());
  return share;
}

// Work groups of one kernel share a CU evenly.
Seconds CohortRun::compute_time(const Cohort& cohort) const {
  const double spread = gpu_.spec().dispatch.work_group_spread;
  const double drawn = spread > 0.0 ? 1.0 + spread * random_.normal(cohort.number) : 1.0;
  return kernel_.compute_time * (drawn * cohort.share.groups * slower(cohort));
}

double CohortRun::slower(const Cohort& cohort) const {
  return gpu_.slowdown_at_boost(launch_.stream, kernel_.clock, cohort.cus_taken) * cohort.after_others;
}

// Alone means without other kernels: the kernel's resident work groups still share HBM with one another.
FlowSpec CohortRun::load_flow(const Cohort& cohort, const Traffic& traffic, double share, double fastest,
                              ActivityId activity) {
  const auto size = static_cast<double>(cohort.cus.size());
  const double part = size * share;
  const Bytes hbm = traffic.hbm * part;
  demands_.clear();
  gpu_.memory().add_loads(demands_, launch_.stream, cohort.xcd, part * traffic, kernel_.hbm_share);
  FlowSpec spec;
  spec.demands = demands_;
  spec.bound = fastest;
  const Bytes outstanding = cohort.in_flight * (traffic.hbm / traffic.l2);
  const Bytes with_siblings = traffic.hbm * (share * static_cast<double>(resident_));
  const double alone = std::min(spec.bound, gpu_.memory().alone_rate(with_siblings, Bytes{0}));
  spec.weight = gpu_.memory().weight(outstanding, static_cast<int>(cohort.cus.size()), hbm, alone);
  spec.activity = activity;
  return spec;
}

// Whatever its clock does later, its weight stays: a clock changes how fast it computes, not how much it asks
// for.
FlowSpec CohortRun::steady_flow(const Cohort& cohort, const Traffic& traffic, ActivityId activity) {
  const std::span<const BoundTerm> laws = steady_laws(cohort);
  const double fastest = simulation_.fluid().bound(laws);
  const auto size = static_cast<double>(cohort.cus.size());
  FlowSpec spec = load_flow(cohort, traffic, 1.0 - kernel_.prologue, fastest, activity);
  gpu_.add_arithmetic(demands_, size * kernel_.energy);
  spec.demands = demands_;
  spec.bound = kUnbounded;
  spec.laws = laws;
  return spec;
}

Task CohortRun::store(const Cohort* cohort, double to_hbm) {
  if (launch_.sink != nullptr) {
    StoreBurst burst = burst_of(*cohort);
    co_await launch_.sink->store(std::move(burst));
    co_return;
  }
  if (gpu_.spec().cache.write_back == WriteBack::spread) {
    simulation_.fluid().start(store_flow(*cohort, to_hbm), nullptr);  // the caches have them: nobody waits
    co_return;
  }
  RunningFlow stores(simulation_, store_flow(*cohort, to_hbm));
  co_await stores;
}

StoreBurst CohortRun::burst_of(const Cohort& cohort) const {
  StoreBurst burst{.rank = gpu_.rank(),
                   .stream = launch_.stream,
                   .xcd = cohort.xcd,
                   .hbm_share = kernel_.hbm_share,
                   .kernel = activity_,
                   .in_flight = cohort.in_flight,
                   .tiles = {}};
  const auto xcds = static_cast<std::int64_t>(placed_in_xcd_.size());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(cohort.cus.size()); ++i)
    burst.tiles.push_back((cohort.first + i) * xcds + cohort.xcd);
  return burst;
}

FlowSpec CohortRun::store_flow(const Cohort& cohort, double to_hbm) {
  const Bytes stored = kernel_.output * static_cast<double>(cohort.cus.size());
  const Bytes bytes = (to_hbm + gpu_.rewritten(launch_.stream)) * stored;
  demands_.clear();
  gpu_.memory().add_stores(demands_, launch_.stream, cohort.xcd, stored, bytes, kernel_.hbm_share);
  FlowSpec spec;
  spec.demands = demands_;
  const bool spread = gpu_.spec().cache.write_back == WriteBack::spread;
  const Seconds ran = spread ? simulation_.now() - cohort.placed : Seconds{};
  spec.bound = 1.0 / std::max(gpu_.spec().hbm.latency, ran).value;
  const Bytes with_siblings = bytes + kernel_.output * (to_hbm * static_cast<double>(resident_));
  const double alone = std::min(spec.bound, gpu_.memory().alone_rate(Bytes{0}, with_siblings));
  const double at_hbm =
      static_cast<double>(most_resident_) / static_cast<double>(std::max(storing_, most_resident_));
  spec.weight =
      gpu_.memory().weight(cohort.in_flight, static_cast<int>(cohort.cus.size()), bytes, alone) * at_hbm;
  spec.account = activity_;
  return spec;
}

void CohortRun::leave(const Cohort& cohort, ActivityId activity, std::size_t kept) {
  simulation_.end_activity(activity);
  const std::span<const int> free = std::span(cohort.cus).subspan(kept);
  resident_ -= std::ssize(free);
  for (const int cu : free) {
    if (kernel_.needs.computes) dispatcher_.shares().leave(cohort.xcd, cu, *this);
    dispatcher_.release(*this, cohort.xcd, cu, kernel_.needs, activity);
  }
}

CohortRun::Cohort* CohortRun::take_record() {
  if (free_records_.empty()) return &records_.emplace_back();
  Cohort* record = free_records_.back();
  free_records_.pop_back();
  return record;
}

}}  // namespace c3::gpu
