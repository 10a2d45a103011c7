// Rings chunk by chunk against the same rings written out: every chunk of every step on every edge a task that
// waits for its predecessors, as the transfer graph says.

#include "collectives/backends/cu/ring_run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_ring_run_test {

using namespace literals;

namespace {

constexpr double kRate = 100e9;  // B/s, of a typical port

/// Dates at which chunks begin to wait and end, by (lane, sender), in order.
class Dates final : public Observer {
 public:
  void resource_added(ResourceId, const ResourceInfo&, double) override {}
  void capacity_changed(ResourceId, Seconds, double) override {}
  void activity_started(ActivityId id, const ActivityInfo& info, Seconds at) override {
    chunks_[id] = {{info.stream, info.gpu}, at, info.bytes};
  }
  void activity_finished(ActivityId id, Seconds at) override {
    ends[chunks_.at(id).edge].push_back(at.value);
    starts[chunks_.at(id).edge].push_back(chunks_.at(id).start.value);
    bytes[chunks_.at(id).edge].push_back(chunks_.at(id).bytes.value);
  }
  void depends(ActivityId, ActivityId, DependencyKind) override { ++dependencies; }
  void rate_changed(ActivityId, Seconds, double) override {}
  void utilisation(ResourceId, Seconds, double) override {}

  using ByEdge = std::map<std::pair<int, int>, std::vector<double>>;
  ByEdge starts, ends, bytes;
  int dependencies = 0;

 private:
  struct Chunk {
    std::pair<int, int> edge;
    Seconds start;
    Bytes bytes;
  };
  std::map<ActivityId, Chunk> chunks_;
};

/// Ports of different rates and a core that all share; updates take twice as much of the receiver.
class Ports final : public RingTraffic {
 public:
  Ports(Simulation& simulation, int ranks, Seconds latency, unsigned seed)
      : simulation_(simulation), latency_(latency) {
    std::mt19937 random(seed);
    const auto rate = [&random] { return kRate * std::uniform_real_distribution(0.2, 2.0)(random); };
    for (int rank = 0; rank < ranks; ++rank) {
      out_.push_back(simulation.fluid().add_resource({}, rate()));
      in_.push_back(simulation.fluid().add_resource({}, rate()));
      bounds_.push_back(rate());
      clocks_.push_back(simulation.fluid().add_domain());
    }
    core_ = simulation.fluid().add_resource({}, 0.4 * kRate * ranks);
  }

  FlowSpec flow(const Leg& leg, FlowParts& parts) const override {
    const double received = leg.bytes.value * (leg.op == TransferOp::update ? 2.0 : 1.0);
    parts.demands = {
        {out_[at(leg.src)], leg.bytes.value}, {in_[at(leg.dst)], received}, {core_, leg.bytes.value}};
    parts.laws.clear();
    parts.add_channels(clocks_[at(leg.src)], leg.bytes.value / bounds_[at(leg.src)], /*clock_share=*/1.0);
    return {.demands = parts.demands, .laws = parts.laws, .weight = 1.0 / leg.bytes.value};
  }
  std::uint64_t occupancy(int rank) const override { return rank == 0 ? occupancy_ : 0; }
  Seconds latency(const Leg& leg) const override { return latency_ * (1.0 + 0.1 * leg.src); }
  ActivityId begin(const Leg& leg, ActivityId before) override {
    const ActivityId activity =
        simulation_.begin_activity({.name = "chunk", .gpu = leg.src, .stream = leg.lane, .bytes = leg.bytes});
    simulation_.add_dependency(activity, before, DependencyKind::data);
    return activity;
  }

  /// Rank 0 becomes slower: what starts from now on, or what is in flight, too.
  void crowd(double factor) {
    bounds_[0] *= factor;
    ++occupancy_;
  }
  void slow_clock(double factor) { simulation_.fluid().set_speed(clocks_[0], factor); }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  Simulation& simulation_;
  Seconds latency_;
  std::vector<ResourceId> out_, in_;
  std::vector<double> bounds_;
  std::vector<DomainId> clocks_;
  ResourceId core_ = 0;
  std::uint64_t occupancy_ = 0;
};

/// The graph's transfers, each in chunks; a chunk follows the one ahead of it on its edge.
class WrittenOut {
 public:
  WrittenOut(Simulation& simulation, Ports& ports, TransferGraph graph, int chunks)
      : simulation_(simulation),
        ports_(ports),
        graph_(std::move(graph)),
        chunks_(static_cast<std::size_t>(chunks)) {
    for (std::size_t i = 0; i < graph_.transfers.size() * chunks_; ++i)
      ended_.push_back(std::make_unique<Event>(simulation));
    activities_.resize(ended_.size());
  }
  void start() {
    for (std::size_t t = 0; t < graph_.transfers.size(); ++t) {
      const Transfer& transfer = graph_.transfers[t];
      Event*& last = last_[{transfer.lane, transfer.src}];
      for (std::size_t c = 0; c < chunks_; ++c) {
        simulation_.spawn("chunk", run(this, t, c, last));
        last = ended_[t * chunks_ + c].get();
      }
    }
  }

 private:
  static Task run(WrittenOut* all, std::size_t transfer, std::size_t chunk, Event* ahead) {
    const Transfer& t = all->graph_.transfers[transfer];
    ActivityId before = kNoActivity;
    for (const std::uint32_t after : t.after) {
      co_await *all->ended_[after * all->chunks_ + chunk];
      before = all->activities_[after * all->chunks_ + chunk];
    }
    const Leg leg{t.src, t.dst, t.lane, t.bytes / static_cast<double>(all->chunks_), t.op};
    const ActivityId activity = all->ports_.begin(leg, before);
    all->activities_[transfer * all->chunks_ + chunk] = activity;
    co_await all->simulation_.sleep(all->ports_.latency(leg));
    if (ahead != nullptr) co_await *ahead;
    FlowParts parts;
    RunningFlow flow(all->simulation_, all->ports_.flow(leg, parts));
    co_await flow;
    all->simulation_.end_activity(activity);
    all->ended_[transfer * all->chunks_ + chunk]->set();
  }

  Simulation& simulation_;
  Ports& ports_;
  TransferGraph graph_;
  std::size_t chunks_;
  std::vector<std::unique_ptr<Event>> ended_;
  std::vector<ActivityId> activities_;
  std::map<std::pair<int, int>, Event*> last_;
};

struct Case {
  CollectiveKind kind;
  NodeTopology topology;
  int ranks;
  int chunks;
  Seconds latency;

  CollectiveCall call() const { return {.kind = kind, .bytes = Bytes{1e6 * ranks}}; }
  ClusterSpec cluster() const {
    ClusterSpec spec;
    spec.node.topology = topology;
    spec.node.gpus = ranks;
    return spec;
  }
};

/// Runs the rings of \p c with \p during called at 20 us.
template <class During>
std::unique_ptr<Dates> run_rings(const Case& c, During during) {
  auto dates = std::make_unique<Dates>();
  Simulation simulation(dates.get());
  Ports ports(simulation, c.ranks, c.latency, 7);
  RingRun rings(simulation, ports, turning_rings(c.call(), Algorithm::ring, c.cluster()), c.chunks, false);
  rings.start();
  struct Later final : Completion {
    std::function<void()> action;
    void on_complete(std::uint64_t) override { action(); }
  } later;
  later.action = [&] { during(ports); };
  simulation.fluid().set_timer(20.0_us, later);
  simulation.run();
  CHECK(rings.done().is_set());
  return dates;
}
std::unique_ptr<Dates> run_rings(const Case& c) {
  return run_rings(c, [](Ports&) {});
}

std::unique_ptr<Dates> run_written_out(const Case& c) {
  auto dates = std::make_unique<Dates>();
  Simulation simulation(dates.get());
  Ports ports(simulation, c.ranks, c.latency, 7);
  WrittenOut graph(simulation, ports, make_transfer_graph(c.call(), Algorithm::ring, c.cluster()), c.chunks);
  graph.start();
  simulation.run();
  return dates;
}

void check_same(const Dates::ByEdge& actual, const Dates::ByEdge& expected) {
  REQUIRE(actual.size() == expected.size());
  for (const auto& [edge, values] : expected) {
    REQUIRE(actual.at(edge).size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(std::abs(actual.at(edge)[i] - values[i]) <= 1e-9 * values[i]);
  }
}

}  // namespace

TEST_CASE(
    "rings chunk by chunk: every chunk waits from and ends at the date that the written-out graph gives it") {
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                    CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
    for (const NodeTopology topology : {NodeTopology::switched, NodeTopology::full_mesh}) {
      for (const int ranks : {2, 3, 5, 8}) {
        for (const int chunks : {1, 3, 4}) {
          for (const Seconds latency : {Seconds{}, 1.0_us, 40.0_us}) {
            const Case c{kind, topology, ranks, chunks, latency};
            CAPTURE(name_of(kind));
            CAPTURE(ranks);
            CAPTURE(chunks);
            CAPTURE(latency.value);
            const auto rings = run_rings(c);
            const auto graph = run_written_out(c);
            check_same(rings->ends, graph->ends);
            check_same(rings->starts, graph->starts);
            check_same(rings->bytes, graph->bytes);
            CHECK(rings->dependencies == graph->dependencies);
          }
        }
      }
    }
  }
}

TEST_CASE("four chunks of a step hide three quarters of its bytes behind a ring's latency, or the latency") {
  // 8 equal ports of 100 GB/s, 8 MB: 1 MB a step, 10 us, 2.5 us a chunk. Latency 40 us: 7 steps of 40 + 2.5 us
  // and the last three chunks. Latency 1 us: an edge never rests, 7 steps of 10 us and the first latency.
  class Equal final : public RingTraffic {
   public:
    Equal(Simulation& simulation, Seconds latency) : latency_(latency) {
      for (int rank = 0; rank < 8; ++rank)
        out_.push_back(simulation.fluid().add_resource({}, kRate));
    }
    FlowSpec flow(const Leg& leg, FlowParts& parts) const override {
      parts.demands = {{out_[static_cast<std::size_t>(leg.src)], leg.bytes.value}};
      return {.demands = parts.demands};
    }
    std::uint64_t occupancy(int) const override { return 0; }
    Seconds latency(const Leg&) const override { return latency_; }
    ActivityId begin(const Leg&, ActivityId) override { return kNoActivity; }

   private:
    Seconds latency_;
    std::vector<ResourceId> out_;
  };
  const Case c{CollectiveKind::all_gather, NodeTopology::switched, 8, 4, {}};
  const auto time = [&](Seconds latency, bool folded) {
    Simulation simulation;
    Equal traffic(simulation, latency);
    RingRun rings(simulation, traffic, turning_rings(c.call(), Algorithm::ring, c.cluster()), c.chunks, folded);
    rings.start();
    simulation.run();
    CHECK(simulation.fluid().completed_flows() == (folded ? 1u : 8u) * 7u * 4u);
    CHECK(simulation.fluid().flows_in_flight() == 0);
    return simulation.now().value;
  };
  for (const bool folded : {false, true}) {
    CHECK(time(40.0_us, folded) == near(7 * 42.5e-6 + 3 * 2.5e-6));
    CHECK(time(1.0_us, folded) == near(1e-6 + 7 * 10e-6));
  }
}

TEST_CASE("a clock that falls slows a ring's chunk in flight, company on its CUs only those that start later") {
  const Case c{CollectiveKind::all_gather, NodeTopology::switched, 2, 1, {}};
  const auto ends = [](const Dates& dates) { return dates.ends.at({0, 0}); };
  const double alone = ends(*run_rings(c)).front();  // one step, one chunk of rank 0
  REQUIRE(alone > 20e-6);
  const auto slower = run_rings(c, [](Ports& ports) { ports.slow_clock(0.01); });
  const auto crowded = run_rings(c, [](Ports& ports) { ports.crowd(0.01); });
  CHECK(ends(*slower).front() > 2 * alone);
  CHECK(ends(*crowded).front() == near(alone));
  const Case longer{CollectiveKind::all_gather, NodeTopology::switched, 3, 1, {}};
  const auto later = run_rings(longer, [](Ports& ports) { ports.crowd(0.01); });
  CHECK(ends(*later).back() > 2 * ends(*run_rings(longer)).back());
}

}  // namespace c3::collectives_ring_run_test
