// SimGrid's own network model is the oracle where it can express the same: flows of weight 1 per byte over
// shared links, without latency.

#include <doctest/doctest.h>

#include <array>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "engine/simgrid_loop.hpp"
#include "engine/simulation.hpp"
#include "tests/support/flow_clock.hpp"
#include "tests/support/near.hpp"

namespace c3::engine_native_simgrid_test {

using namespace literals;
namespace s4u = simgrid::s4u;

namespace {

constexpr std::size_t kHosts = 16;
constexpr double kHbm = 700e9;   // B/s; less than a link each way, so that memories are shared too
constexpr double kLink = 450e9;  // B/s and direction

/// A star of GPUs: a route goes through the source's memory and out-link, the destination's in-link and memory.
/// Made before main, because no host can be added once this process has run a simulation.
struct Platform {
  std::vector<s4u::Host*> hosts;

  Platform() {
    auto* zone = prepare_simgrid().get_netzone_root();
    for (std::size_t i = 0; i < kHosts; ++i) {
      const std::string number = std::to_string(i);
      const s4u::LinkInRoute hbm(zone->create_link("hbm" + number, kHbm)->seal());
      const s4u::LinkInRoute out(zone->create_link("out" + number, kLink)->seal());
      const s4u::LinkInRoute in(zone->create_link("in" + number, kLink)->seal());
      hosts.push_back(zone->create_host("gpu" + number, 1.0)->seal());
      zone->add_route(hosts.back()->get_netpoint(), nullptr, nullptr, nullptr, {hbm, out}, false);
      zone->add_route(nullptr, hosts.back()->get_netpoint(), nullptr, nullptr, {in, hbm}, false);
    }
  }
} const kPlatform;

struct Transfer {
  std::size_t from, to;
  std::uint64_t bytes;
};

/// For each lane its transfers, one after the other.
using Traffic = std::vector<std::vector<Transfer>>;
/// Dates of every transfer, shape [lane][transfer].
using Dates = std::vector<std::vector<double>>;

std::uint64_t random_size(std::mt19937_64& random) { return 1'000'000 + random() % 1'000'000; }

Traffic ring_traffic(std::size_t ranks, std::size_t steps) {
  std::mt19937_64 random(1);
  Traffic traffic(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t step = 0; step < steps; ++step) {
      traffic[rank].push_back({rank, (rank + 1) % ranks, random_size(random)});
    }
  }
  return traffic;
}

Traffic star_traffic(std::size_t lanes, std::size_t transfers) {
  std::mt19937_64 random(2);
  Traffic traffic(lanes);
  for (auto& lane : traffic) {
    for (std::size_t i = 0; i < transfers; ++i) {
      const std::size_t from = random() % kHosts;
      lane.push_back({from, (from + 1 + random() % (kHosts - 1)) % kHosts, random_size(random)});
    }
  }
  return traffic;
}

/// The traffic as flows.
class AsFlows final : public Completion {
 public:
  explicit AsFlows(const Traffic& traffic) : traffic_(traffic), dates_(traffic.size()) {
    for (std::size_t i = 0; i < kHosts; ++i) {
      for (const double capacity : {kHbm, kLink, kLink})
        simulation_.fluid().add_resource({}, capacity);
    }
  }
  Dates run() {
    for (std::size_t lane = 0; lane < traffic_.size(); ++lane)
      start_next(lane);
    simulation_.run();
    return dates_;
  }
  void on_complete(std::uint64_t lane) override {
    dates_[lane].push_back(simulation_.now().value);
    start_next(lane);
  }

 private:
  void start_next(std::size_t lane) {
    if (dates_[lane].size() == traffic_[lane].size()) return;
    const Transfer& t = traffic_[lane][dates_[lane].size()];
    const auto bytes = static_cast<double>(t.bytes);
    const auto from = static_cast<ResourceId>(3 * t.from), to = static_cast<ResourceId>(3 * t.to);
    const auto demands =
        std::to_array<Demand>({{from, bytes}, {from + 1, bytes}, {to + 2, bytes}, {to, bytes}});
    simulation_.fluid().start({.demands = demands, .weight = 1.0 / bytes}, this, lane);
  }

  const Traffic& traffic_;
  Simulation simulation_;
  Dates dates_;
};

/// Hears of completed Comms while it lives. SimGrid never forgets a listener: there is one, for whoever is
/// current.
class CommListener {
 public:
  explicit CommListener(std::function<void(const s4u::Comm&)> on_done) : on_done_(std::move(on_done)) {
    static const bool kListening = [] {
      s4u::Activity::on_completion_cb([](const s4u::Activity& activity) {
        if (current != nullptr) current->on_done_(static_cast<const s4u::Comm&>(activity));
      });
      return true;
    }();
    REQUIRE(kListening);
    current = this;
  }
  CommListener(const CommListener&) = delete;
  CommListener& operator=(const CommListener&) = delete;
  ~CommListener() { current = nullptr; }

 private:
  static CommListener* current;
  std::function<void(const s4u::Comm&)> on_done_;
};
CommListener* CommListener::current = nullptr;

/// The traffic as SimGrid's Comms.
class AsComms {
 public:
  explicit AsComms(const Traffic& traffic) : traffic_(traffic), dates_(traffic.size()) {}
  Dates run() {
    const CommListener listener([this](const s4u::Comm& comm) {
      const auto lane = static_cast<std::size_t>(comm.get_data<std::vector<double>>() - dates_.data());
      dates_[lane].push_back(s4u::Engine::get_clock() - origin_);
      start_next(lane);
    });
    for (std::size_t lane = 0; lane < traffic_.size(); ++lane)
      start_next(lane);
    prepare_simgrid().run();
    return dates_;
  }

 private:
  void start_next(std::size_t lane) {
    if (dates_[lane].size() == traffic_[lane].size()) return;
    const Transfer& t = traffic_[lane][dates_[lane].size()];
    comms_.push_back(s4u::Comm::sendto_init(kPlatform.hosts[t.from], kPlatform.hosts[t.to]));
    comms_.back()->set_payload_size(t.bytes);
    comms_.back()->set_data(&dates_[lane]);
    comms_.back()->start();
  }

  const Traffic& traffic_;
  Dates dates_;
  double origin_ = s4u::Engine::get_clock();
  std::vector<s4u::CommPtr> comms_;  // a Comm dropped before it ends crashes SimGrid
};

void check_same_dates(const Traffic& traffic) {
  const Dates flows = AsFlows(traffic).run();
  const Dates comms = AsComms(traffic).run();
  for (std::size_t lane = 0; lane < traffic.size(); ++lane) {
    REQUIRE(flows[lane].size() == traffic[lane].size());
    REQUIRE(comms[lane].size() == traffic[lane].size());
    for (std::size_t i = 0; i < traffic[lane].size(); ++i)
      CHECK(flows[lane][i] == near(comms[lane][i]));
  }
}

}  // namespace

TEST_CASE("a ring of 8 whose memories are shared ends every transfer when SimGrid's Comms do") {
  check_same_dates(ring_traffic(8, 30));
}

TEST_CASE("random traffic through a star ends every transfer when SimGrid's Comms do") {
  check_same_dates(star_traffic(40, 10));
}

TEST_CASE("SimGrid's clock advances by what a simulation takes, also one that goes on") {
  const double origin = s4u::Engine::get_clock();
  FlowClock clock;
  for (std::uint64_t second = 1; second <= 200; ++second)
    clock.start(second, {}, {.demands = {}, .bound = 1.0 / static_cast<double>(second)});
  clock.simulation.run();
  CHECK(s4u::Engine::get_clock() - origin == near(200.0));
  clock.start(201, {}, {.demands = {}, .bound = 1.0});
  clock.simulation.run();
  CHECK(s4u::Engine::get_clock() - origin == near(201.0));
}

TEST_CASE("flows and SimGrid's activities start one another at exact dates") {
  // A timer of SimGrid's keeps the clocks in step. 1 s of flow, 450 GB over 450 GB/s, 1 s of flow.
  FlowClock clock;
  double native_end = 0.0;
  s4u::CommPtr comm;
  const double origin = s4u::Engine::get_clock();
  simgrid::kernel::timer::Timer::set(origin + 5.0, [] {});
  clock.start(1, {}, {.demands = {}, .bound = 1.0});
  clock.after(1, [&] {
    comm = s4u::Comm::sendto_init(kPlatform.hosts[0], kPlatform.hosts[1]);
    comm->set_payload_size(450'000'000'000)->start();
  });
  const CommListener listener([&](const s4u::Comm&) {
    native_end = s4u::Engine::get_clock() - origin;
    clock.start(2, {}, {.demands = {}, .bound = 1.0});
  });
  clock.simulation.run();
  CHECK(clock.date(1) == near(1.0));
  CHECK(native_end == near(2.0));
  CHECK(clock.date(2) == near(3.0));
}

TEST_CASE("a SimGrid activity started while the fluid system runs ahead of SimGrid's clock is refused") {
  FlowClock clock;
  s4u::CommPtr comm;
  clock.start(1, {}, {.demands = {}, .bound = 1.0});
  clock.start(2, {}, {.demands = {}, .bound = 0.5});
  clock.after(1, [&] {
    comm = s4u::Comm::sendto_init(kPlatform.hosts[0], kPlatform.hosts[1]);
    comm->set_payload_size(1)->start();
  });
  CHECK_THROWS_AS(clock.simulation.run(), std::logic_error);
  prepare_simgrid().run();  // lets the transfer end
}

}  // namespace c3::engine_native_simgrid_test
