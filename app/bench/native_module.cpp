#include "app/bench/native_module.hpp"

#include <simgrid/s4u.hpp>

#include <array>
#include <string>

#include "app/bench/program.hpp"
#include "base/cpu_clock.hpp"

namespace c3::bench {

namespace s4u = simgrid::s4u;

namespace {

struct Platform final : Launcher {
  Platform(s4u::Engine& engine, const Load& l) : load(l), zone(engine.get_netzone_root()) {
    add_links();
    for (std::size_t lane = 0; lane < load.lanes.size(); ++lane)
      add_hosts(lane);
    s4u::Activity::on_completion_cb([this](const s4u::Activity& activity) {
      const Side* side = static_cast<const s4u::Comm&>(activity).get_data<Side>();
      program->on_done(static_cast<std::size_t>(side - sides.data()), s4u::Engine::get_clock() - origin);
    });
  }

  void add_links() {
    for (std::size_t r = 0; r < load.capacities.size(); ++r) {
      links.push_back(zone->create_link("r" + std::to_string(r), load.capacities[r])->seal());
    }
  }

  void add_hosts(std::size_t lane) {
    std::vector<s4u::LinkInRoute> route;
    for (const Demand& demand : load.lanes[lane].demands) {
      if (demand.amount == 1.0) route.emplace_back(links[demand.resource]);
    }
    const std::string number = std::to_string(lane);
    if (load.lanes[lane].bound < kUnbounded) {
      route.emplace_back(zone->create_link("b" + number, load.lanes[lane].bound)->seal());
    }
    auto* from = zone->create_host("from" + number, 1.0)->seal();
    auto* to = zone->create_host("to" + number, 1.0)->seal();
    zone->add_route(from->get_netpoint(), nullptr, nullptr, nullptr, route, false);
    zone->add_route(nullptr, to->get_netpoint(), nullptr, nullptr, {}, false);
    sides.push_back({from, to, {}, 0});
  }

  // A Comm must outlive its completion callback: the slot of the last but one operation is free for certain.
  void start(std::size_t lane, double size) override {
    Side& side = sides[lane];
    side.turn = 1 - side.turn;
    s4u::CommPtr& comm = side.comms[side.turn];
    comm = s4u::Comm::sendto_init(side.from, side.to);
    comm->set_payload_size(static_cast<std::uint64_t>(size));
    comm->set_data(&side);
    comm->start();
  }

  struct Side {
    s4u::Host* from;
    s4u::Host* to;
    std::array<s4u::CommPtr, 2> comms;
    std::size_t turn = 0;
  };
  const Load& load;
  s4u::NetZone* zone;
  std::vector<s4u::Link*> links;
  std::vector<Side> sides;
  double origin = 0.0;
  Program* program = nullptr;
};

class Runs final : public NativeRuns {
 public:
  Runs(s4u::Engine& engine, const Load& load) : engine_(engine), platform_(engine, load) {}

  Run run() override {
    Program program(platform_.load, platform_, platform_.load.native_events);
    platform_.program = &program;
    platform_.origin = s4u::Engine::get_clock();
    const CpuClock clock;
    program.begin();
    engine_.run();
    return {clock.seconds(), program.take_dates()};
  }

 private:
  s4u::Engine& engine_;
  Platform platform_;
};

}  // namespace

NativeRuns* c3_native_runs(s4u::Engine& engine, const Load& load) { return new Runs(engine, load); }

}  // namespace c3::bench
