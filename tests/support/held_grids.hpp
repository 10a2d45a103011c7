#pragma once
/// Grids that hold every slot for a fixed time, and the queues of a GPU that dispatch them.

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "gpu/dispatcher.hpp"
#include "tests/support/gpu_bench.hpp"

namespace c3::test {

struct Placement {
  double date;
  int xcd, cu;
};

/// Holds work group i, in order of placement, for holding_time(i).
class HeldGrid final : public DispatchClient {
 public:
  HeldGrid(Simulation& simulation, Dispatcher& dispatcher, WorkGroupNeeds needs,
           std::function<Seconds(std::size_t)> holding_time)
      : simulation_(simulation),
        dispatcher_(dispatcher),
        needs_(needs),
        holding_time_(std::move(holding_time)) {}

  void on_placed(int xcd, std::span<const int> cus) override {
    for (const int cu : cus) {
      const Seconds duration = holding_time_(placements.size());
      placements.push_back({simulation_.now().value, xcd, cu});
      simulation_.spawn("work group", hold(this, xcd, cu, duration));
    }
  }

  std::vector<Placement> placements;
  int finished = 0;

 private:
  static Task hold(HeldGrid* grid, int xcd, int cu, Seconds duration) {
    co_await grid->simulation_.sleep(duration);
    ++grid->finished;
    grid->dispatcher_.release(*grid, xcd, cu, grid->needs_, kNoActivity);
  }

  Simulation& simulation_;
  Dispatcher& dispatcher_;
  WorkGroupNeeds needs_;
  std::function<Seconds(std::size_t)> holding_time_;
};

inline constexpr WorkGroupNeeds kWholeCu{.lds = Bytes{64 * kKibi}, .registers = {}, .waves = 4};
inline constexpr WorkGroupNeeds kLittle{.lds = {}, .registers = Bytes{32 * kKibi}, .waves = 1};

struct How {
  CuRange range = {0, 4};
  int priority = 0;
  int order = 0;
  std::uint64_t draw = 0;
};

/// A dispatcher of round_gpu(): 2 XCDs of 4 CUs.
struct Queues {
  explicit Queues(DispatchPolicy policy = DispatchPolicy::oldest_first, std::uint64_t seed = 0,
                  Observer* observer = nullptr)
      : Queues(with_policy(policy), seed, observer) {}
  explicit Queues(GpuSpec gpu, std::uint64_t seed = 0, Observer* observer = nullptr)
      : spec(std::move(gpu)),
        simulation(observer),
        busy_cus(simulation.fluid().add_resource({.name = "cus", .unit = "CU"}, spec.compute.cus())),
        dispatcher(simulation, spec, seed, busy_cus) {}

  HeldGrid& submit(Seconds date, std::int64_t work_groups, Seconds holding_time,
                   WorkGroupNeeds needs = kWholeCu, How how = {}) {
    return submit(
        date, work_groups, [holding_time](std::size_t) { return holding_time; }, needs, how);
  }
  HeldGrid& submit(Seconds date, std::int64_t work_groups, std::function<Seconds(std::size_t)> holding_time,
                   WorkGroupNeeds needs = kWholeCu, How how = {}) {
    HeldGrid& grid = grids.emplace_back(simulation, dispatcher, needs, std::move(holding_time));
    const Launch launch{&grid, needs, work_groups, how.range, how.priority, how.order, how.draw};
    simulation.spawn("submit", submitted(this, date, launch));
    return grid;
  }

  static Task submitted(Queues* queues, Seconds date, Launch launch) {
    co_await queues->simulation.sleep(date);
    queues->dispatcher.submit(launch);
  }
  static GpuSpec with_policy(DispatchPolicy policy) {
    GpuSpec spec = round_gpu();
    spec.dispatch.policy = policy;
    return spec;
  }

  GpuSpec spec;
  Simulation simulation;
  ResourceId busy_cus;
  Dispatcher dispatcher;
  std::deque<HeldGrid> grids;
};

/// Dates of the work groups on one XCD.
inline std::vector<double> dates(const HeldGrid& grid, int xcd) {
  std::vector<double> found;
  for (const Placement& placement : grid.placements) {
    if (placement.xcd == xcd) found.push_back(placement.date);
  }
  return found;
}

}  // namespace c3::test
