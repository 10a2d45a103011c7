// The engine at speed: no allocation in steady state, no work that grows with what did not change.

#include <doctest/doctest.h>

#include <array>

#include <chrono>
#include <cstdlib>
#include <new>
#include <vector>

#include "engine/flow_solver.hpp"
#include "engine/fluid_system.hpp"
#include "tests/support/near.hpp"

#if !defined(__SANITIZE_ADDRESS__)  // which brings an allocator of its own
namespace {
std::size_t allocations = 0;
}

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace c3::engine_scale_test {

#if !defined(__SANITIZE_ADDRESS__)
namespace {

/// Eight GPUs with eight flows each; whatever ends starts again with another size, class and timer.
class SteadyNode final : public Completion {
 public:
  SteadyNode() {
    for (std::size_t r = 0; r < 24; ++r)
      fluid_.add_resource({}, 100.0);
    for (std::uint64_t flow = 0; flow < 64; ++flow)
      start(flow);
  }
  void on_complete(std::uint64_t tag) override {
    if (tag < 64) start(tag);
  }
  void run(int events) {
    for (int i = 0; i < events; ++i)
      fluid_.advance_to(fluid_.next_date());
  }

 private:
  void start(std::uint64_t flow) {
    const double size = 1.0 + static_cast<double>((flow * 7 + ++started_ * 13) % 11);
    const auto gpu = static_cast<ResourceId>(flow % 8);
    const auto demands =
        std::to_array<Demand>({{gpu, size}, {8 + gpu, 0.5 * size}, {16 + (gpu + 1) % 8, 0.25 * size}});
    fluid_.start(
        {.demands = demands, .bound = 90.0 / size, .priority = static_cast<PriorityClass>(flow % 16 == 0)},
        this, flow);
    fluid_.set_timer(fluid_.now() + Seconds{0.01}, *this, 64);
  }

  FluidSystem fluid_;
  std::uint64_t started_ = 0;
};

}  // namespace

TEST_CASE("in steady state 10000 events allocate nothing") {
  SteadyNode node;
  node.run(20'000);  // warm-up: every container reaches its largest size
  const std::size_t before = allocations;
  node.run(10'000);
  CHECK(allocations == before);
}
#endif

TEST_CASE("one flow over 4096 resources is solved in a few rounds, not one a resource") {
  // A gang flow shares every resource with a flow of its own there: all stop at the same level, a tie
  // everywhere. In rounds that took the ties one by one, each change would cost 4096 rounds over 4096 flows,
  // minutes in all.
  constexpr std::size_t kResources = 4096;
  FlowSolver solver;
  std::vector<Demand> everywhere;
  for (std::size_t r = 0; r < kResources; ++r)
    everywhere.push_back({solver.add_resource(2.0), 1.0});
  for (const Demand& demand : everywhere)
    solver.add_flow({.demands = {&demand, 1}});
  const auto start = std::chrono::steady_clock::now();
  for (int change = 0; change < 20; ++change) {
    const auto gang = solver.add_flow({.demands = everywhere});
    solver.solve();
    CHECK(solver.rate(gang) == near(1.0, 1e-12));
    solver.set_capacity(static_cast<ResourceId>(change), 1.0);
    solver.solve();
    CHECK(solver.rate(gang) == near(0.5, 1e-12));
    solver.set_capacity(static_cast<ResourceId>(change), 2.0);
    solver.solve();
    CHECK(solver.rate(gang) == near(1.0, 1e-12));
    solver.remove_flow(gang);
    solver.solve();
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  CHECK(taken.count() < 5.0);
}

}  // namespace c3::engine_scale_test
