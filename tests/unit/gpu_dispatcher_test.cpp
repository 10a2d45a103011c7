// Who gets free CU slots, and when. Grids here hold every slot for a fixed time.

#include "gpu/dispatcher.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "tests/support/held_grids.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recording.hpp"

namespace c3::gpu_dispatcher_test {

using namespace literals;
using namespace test;

namespace {

constexpr Seconds kWave{10e-6};

/// First date of 4 small work groups that come at 5 us, behind a grid of \p big work groups of 10 us since 0.
double start_behind(std::int64_t big, DispatchPolicy policy, How how = {}, WorkGroupNeeds needs = kWholeCu,
                    bool own_queues = false) {
  Queues queues(policy);
  if (own_queues) queues.dispatcher.give_own_queues();
  queues.submit(0.0_s, big, kWave);
  HeldGrid& small = queues.submit(5.0_us, 4, kWave, needs, how);
  queues.simulation.run_without_simgrid();
  REQUIRE(small.finished == 4);
  return small.placements.front().date;
}

}  // namespace

TEST_CASE("oldest first: a late grid waits until the last full wave of the first one leaves") {
  // 24 work groups on 8 CUs: waves at 0, 10 and 20 us. All CUs are full until 30 us.
  CHECK(start_behind(24, DispatchPolicy::oldest_first) == near(30e-6));
  // 28: a wave of 4 is left at 30 us, and the other 4 CUs are free at the same instant.
  CHECK(start_behind(28, DispatchPolicy::oldest_first) == near(30e-6));
  // 32: the fourth wave is full too.
  CHECK(start_behind(32, DispatchPolicy::oldest_first) == near(40e-6));
}

TEST_CASE("round robin: a late grid waits for the first wave only") {
  CHECK(start_behind(24, DispatchPolicy::round_robin) == near(10e-6));
}

TEST_CASE("priority: a higher one waits for the running wave only, a lower one for all") {
  CHECK(start_behind(24, DispatchPolicy::oldest_first, {.priority = 1}) == near(10e-6));
  CHECK(start_behind(24, DispatchPolicy::round_robin, {.priority = 1}) == near(10e-6));
  CHECK(start_behind(24, DispatchPolicy::round_robin, {.priority = -1}) == near(30e-6));
}

TEST_CASE("own queues: a small grid does not wait behind another's queue, but for slots") {
  CHECK(start_behind(24, DispatchPolicy::oldest_first, {}, kWholeCu, true) == near(10e-6));
}

TEST_CASE("what fits beside the resident work groups is not delayed") {
  CHECK(start_behind(24, DispatchPolicy::oldest_first, {}, kLittle) == near(5e-6));
}

TEST_CASE("at equal dates the host's order decides, then the order of submission") {
  Queues queues;
  HeldGrid& second = queues.submit(0.0_s, 8, kWave, kWholeCu, {.order = 1});
  HeldGrid& first = queues.submit(0.0_s, 8, kWave, kWholeCu, {.order = 0});
  HeldGrid& third = queues.submit(0.0_s, 8, kWave, kWholeCu, {.order = 1});
  queues.simulation.run_without_simgrid();
  CHECK(first.placements.front().date == 0.0);
  CHECK(second.placements.front().date == near(10e-6));
  CHECK(third.placements.front().date == near(20e-6));
}

TEST_CASE("round robin serves queues in turn when slots come free one at a time") {
  // XCD 0 is filled by 4 work groups that leave at 1, 2, 3 and 4 us, then every 4 us each: one slot every 1 us.
  // The two grids that wait get them in turn.
  Queues queues(DispatchPolicy::round_robin);
  queues.submit(0.0_s, 8, [](std::size_t i) { return 1.0_us * static_cast<double>(i % 4 + 1); });
  HeldGrid& one = queues.submit(0.5_us, 16, 4.0_us);
  HeldGrid& other = queues.submit(0.6_us, 16, 4.0_us);
  queues.simulation.run_without_simgrid();
  const std::vector<double> of_one = dates(one, 0);
  const std::vector<double> of_other = dates(other, 0);
  REQUIRE(of_one.size() == 8);
  REQUIRE(of_other.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(of_one[i] == near(1e-6 * static_cast<double>(2 * i + 1)));
    CHECK(of_other[i] == near(1e-6 * static_cast<double>(2 * i + 2)));
  }
}

TEST_CASE("random order shuffles grids of one instant by seed and key, whoever is submitted first") {
  // Dates by key.
  const auto starts_of = [](std::uint64_t seed, std::vector<std::uint64_t> submitted) {
    Queues queues(DispatchPolicy::random_order, seed);
    for (const std::uint64_t key : submitted)
      queues.submit(1.0_us, 8, kWave, kWholeCu, {.draw = key});
    HeldGrid& late = queues.submit(2.0_us, 8, kWave);
    queues.simulation.run_without_simgrid();
    CHECK(late.placements.front().date == near(61e-6));  // dates come before the shuffle
    std::map<std::uint64_t, double> starts;
    for (std::size_t i = 0; i < submitted.size(); ++i)
      starts[submitted[i]] = queues.grids[i].placements.front().date;
    return starts;
  };
  CHECK(starts_of(1, {1, 2, 3, 4, 5, 6}) == starts_of(1, {1, 2, 3, 4, 5, 6}));
  CHECK(starts_of(1, {1, 2, 3, 4, 5, 6}) == starts_of(1, {6, 2, 4, 1, 5, 3}));
  CHECK(starts_of(1, {1, 2, 3, 4, 5, 6}) != starts_of(2, {1, 2, 3, 4, 5, 6}));
}

TEST_CASE("work group i goes to XCD i mod XCDs, even when another XCD is free") {
  // 5 and 3 work groups: XCD 0 gets 3 + 2, XCD 1 gets 2 + 1 and has a CU free from the start.
  Queues queues;
  HeldGrid& five = queues.submit(0.0_s, 5, kWave);
  HeldGrid& three = queues.submit(0.0_s, 3, kWave);
  queues.simulation.run_without_simgrid();
  CHECK(dates(five, 0) == std::vector<double>{0.0, 0.0, 0.0});
  CHECK(dates(five, 1) == std::vector<double>{0.0, 0.0});
  CHECK(dates(three, 0) == std::vector<double>{0.0, kWave.value});
  CHECK(dates(three, 1) == std::vector<double>{0.0});
}

TEST_CASE("a mask keeps a grid on its CUs, and off them one that is masked to the others") {
  Queues queues;
  HeldGrid& left = queues.submit(0.0_s, 12, kWave, kWholeCu, {.range = {0, 3}});
  HeldGrid& right = queues.submit(0.0_s, 4, kWave, kWholeCu, {.range = {3, 4}});
  queues.simulation.run_without_simgrid();
  CHECK(std::ranges::all_of(left.placements, [](const Placement& p) { return p.cu >= 0 && p.cu < 3; }));
  CHECK(std::ranges::all_of(right.placements, [](const Placement& p) { return p.cu == 3; }));
  CHECK(dates(left, 0).back() == near(10e-6));   // 6 work groups on 3 CUs
  CHECK(dates(right, 0).back() == near(10e-6));  // 2 on 1
}

TEST_CASE("a grid that is withdrawn gets no more slots, and leaves them to who waits behind it") {
  Queues queues;
  HeldGrid& gone = queues.submit(0.0_s, 24, kWave);
  HeldGrid& next = queues.submit(1.0_us, 8, kWave);
  const auto withdraw = [](Queues* all, HeldGrid* grid) -> Task {
    co_await all->simulation.sleep(5.0_us);
    all->dispatcher.withdraw(*grid);
  };
  queues.simulation.spawn("withdraw", withdraw(&queues, &gone));
  queues.simulation.run_without_simgrid();
  CHECK(gone.placements.size() == 8);
  CHECK(next.placements.front().date == near(10e-6));
}

namespace {

WorkGroupNeeds random_needs() {
  const double lds = *rc::gen::element(0.0, 10.0, 16.0, 33.0, 64.0);
  const double registers = *rc::gen::element(0.0, 100.0, 128.0, 256.0, 512.0);
  return {.lds = Bytes{lds * kKibi}, .registers = Bytes{registers * kKibi}, .waves = *rc::gen::inRange(1, 33)};
}

struct Submitted {
  HeldGrid* grid;
  std::int64_t work_groups;
  WorkGroupNeeds needs;
  CuRange range;
  Seconds holding;
};

std::vector<Submitted> submit_random(Queues& queues) {
  std::vector<Submitted> all;
  const int grids = *rc::gen::inRange(1, 6);
  for (int i = 0; i < grids; ++i) {
    const int begin = *rc::gen::inRange(0, 4);
    const CuRange range{begin, *rc::gen::inRange(begin + 1, 5)};
    const int work_groups = *rc::gen::inRange(1, 40);
    const Seconds holding = 1.0_us * *rc::gen::inRange(1, 20);
    const Seconds date = 1.0_us * *rc::gen::inRange(0, 30);
    const WorkGroupNeeds needs = random_needs();
    HeldGrid& grid =
        queues.submit(date, work_groups, holding, needs, {.range = range, .priority = *rc::gen::inRange(0, 3)});
    all.push_back({&grid, work_groups, needs, range, holding});
  }
  return all;
}

struct Residence {
  double begin, end;
  WorkGroupNeeds needs;
};

/// Who was on each CU of the GPU, in order of arrival.
std::vector<std::vector<Residence>> residences(const std::vector<Submitted>& all) {
  std::vector<std::vector<Residence>> of_cu(8);
  for (const Submitted& one : all) {
    for (const Placement& p : one.grid->placements) {
      of_cu[static_cast<std::size_t>(p.xcd * 4 + p.cu)].push_back(
          {p.date, p.date + one.holding.value, one.needs});
    }
  }
  for (auto& cu : of_cu)
    std::ranges::stable_sort(cu, std::less{}, &Residence::begin);
  return of_cu;
}

/// Seconds in which at least one work group is there.
double busy_time(const std::vector<Residence>& cu) {
  double busy = 0.0, until = 0.0;
  for (const Residence& one : cu) {
    if (one.end <= until) continue;
    busy += one.end - std::max(one.begin, until);
    until = one.end;
  }
  return busy;
}

constexpr double kRounding = 1e-12;  // s

bool fits_at(const std::vector<Residence>& cu, double date, const ComputeSpec& limits) {
  double lds = 0.0, registers = 0.0;
  int waves = 0;
  for (const Residence& one : cu) {
    if (one.begin > date || one.end <= date + kRounding) continue;
    lds += one.needs.lds.value;
    registers += one.needs.registers.value;
    waves += one.needs.waves;
  }
  return lds <= limits.lds_per_cu.value && registers <= limits.registers_per_cu.value &&
         waves <= limits.wave_slots_per_cu;
}

}  // namespace

TEST_CASE("property: CUs stay within limits, every work group runs once, busy CUs add up") {
  CHECK(rc::check([] {
    const auto policy = *rc::gen::element(DispatchPolicy::oldest_first, DispatchPolicy::round_robin,
                                          DispatchPolicy::random_order);
    Recording seen;
    Queues queues(policy, 0, &seen);
    const std::vector<Submitted> all = submit_random(queues);
    queues.simulation.run_without_simgrid();

    for (const Submitted& one : all) {
      RC_ASSERT(static_cast<std::int64_t>(one.grid->placements.size()) == one.work_groups);
      RC_ASSERT(one.grid->finished == one.work_groups);
      for (const Placement& p : one.grid->placements)
        RC_ASSERT(p.cu >= one.range.begin && p.cu < one.range.end);
    }
    double busy = 0.0;
    for (const auto& cu : residences(all)) {
      busy += busy_time(cu);
      // Residents only grow when one arrives: those instants see every maximum.
      for (const Residence& one : cu)
        RC_ASSERT(fits_at(cu, one.begin, queues.spec.compute));
    }
    RC_ASSERT(std::abs(seen.total("cus") - busy) < 1e-9 * busy);
    RC_ASSERT(queues.dispatcher.units().busy() == 0);
  }));
}

}  // namespace c3::gpu_dispatcher_test
