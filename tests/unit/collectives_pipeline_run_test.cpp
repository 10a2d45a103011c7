// Pipelines piece by piece against the same written out: every piece of every edge a task that waits for
// those that plan_flows names.

#include "collectives/backends/cu/pipeline_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "tests/support/clusters.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_pipeline_run_test {

using namespace literals;
using namespace test;

namespace {

constexpr double kRate = 100e9;  // B/s, of a typical port

/// Dates at which pieces begin to wait and end, by (lane, sender, receiver), in order; ports of different
/// rates, and a core that all share.
class Ports final : public PipelineTraffic, public Observer {
 public:
  explicit Ports(int ranks) : ranks_(ranks) {}
  void add_to(Simulation& simulation, unsigned seed) {
    simulation_ = &simulation;
    std::mt19937 random(seed);
    const auto rate = [&random] { return kRate * std::uniform_real_distribution(0.2, 2.0)(random); };
    for (int rank = 0; rank < ranks_; ++rank) {
      out_.push_back(simulation.fluid().add_resource({}, rate()));
      in_.push_back(simulation.fluid().add_resource({}, rate()));
      bounds_.push_back(rate());
      clocks_.push_back(simulation.fluid().add_domain());
    }
    core_ = simulation.fluid().add_resource({}, 0.4 * kRate * ranks_);
  }

  FlowSpec flow(const PlannedFlow& edge, FlowParts& parts) const override {
    const Leg& leg = edge.legs.front();
    parts.demands = {
        {out_[at(leg.src)], leg.bytes.value}, {in_[at(leg.dst)], leg.bytes.value}, {core_, leg.bytes.value}};
    parts.laws.clear();
    parts.add_channels(clocks_[at(leg.src)], leg.bytes.value / bounds_[at(leg.src)], /*clock_share=*/1.0);
    return {.demands = parts.demands, .laws = parts.laws, .weight = 1.0 / leg.bytes.value};
  }
  std::uint64_t occupancy(const PlannedFlow& edge) const override {
    return edge.legs.front().src == 0 ? occupancy_ : 0;
  }
  Seconds latency(const PlannedFlow& edge) const override { return 3.0_us * (edge.hops + edge.network_hops); }
  ActivityId begin(const PlannedFlow& edge, double share, std::span<const ActivityId> before) override {
    const Leg& leg = edge.legs.front();
    const ActivityId activity = simulation_->begin_activity(
        {.name = "piece", .gpu = leg.src * ranks_ + leg.dst, .stream = leg.lane, .bytes = leg.bytes * share});
    for (const ActivityId one : before)
      simulation_->add_dependency(activity, one, DependencyKind::data);
    return activity;
  }

  /// Rank 0 becomes slower: what starts from now on, or what is in flight, too.
  void crowd(double factor) {
    bounds_[0] *= factor;
    ++occupancy_;
  }
  void slow_clock(double factor) { simulation_->fluid().set_speed(clocks_[0], factor); }

  void resource_added(ResourceId, const ResourceInfo&, double) override {}
  void capacity_changed(ResourceId, Seconds, double) override {}
  void activity_started(ActivityId id, const ActivityInfo& info, Seconds) override {
    edge_of_[id] = {info.stream, info.gpu};
    bytes[edge_of_[id]].push_back(info.bytes.value);
  }
  void activity_finished(ActivityId id, Seconds at) override { ends[edge_of_.at(id)].push_back(at.value); }
  void depends(ActivityId, ActivityId, DependencyKind) override { ++dependencies; }
  void rate_changed(ActivityId, Seconds, double) override {}
  void utilisation(ResourceId, Seconds, double) override {}

  std::map<std::pair<int, int>, std::vector<double>> ends, bytes;
  int dependencies = 0;

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  int ranks_;
  Simulation* simulation_ = nullptr;
  std::vector<ResourceId> out_, in_;
  std::vector<double> bounds_;
  std::vector<DomainId> clocks_;
  ResourceId core_ = 0;
  std::uint64_t occupancy_ = 0;
  std::map<ActivityId, std::pair<int, int>> edge_of_;
};

class WrittenOut {
 public:
  WrittenOut(Simulation& simulation, Ports& ports, std::vector<PlannedFlow> flows)
      : simulation_(simulation), ports_(ports), flows_(std::move(flows)), activities_(flows_.size()) {
    for (std::size_t i = 0; i < flows_.size(); ++i)
      ended_.push_back(std::make_unique<Event>(simulation));
  }
  void start() {
    for (std::size_t i = 0; i < flows_.size(); ++i)
      simulation_.spawn("piece", run(this, i));
  }

 private:
  static Task run(WrittenOut* all, std::size_t index) {
    const PlannedFlow& flow = all->flows_[index];
    std::vector<ActivityId> before;
    for (const std::uint32_t position : flow.after) {
      co_await *all->ended_[position];
      before.push_back(all->activities_[position]);
    }
    const ActivityId activity = all->ports_.begin(flow, 1.0, before);
    all->activities_[index] = activity;
    co_await all->simulation_.sleep(all->ports_.latency(flow));
    if (flow.behind) co_await *all->ended_[*flow.behind];
    FlowParts parts;
    FlowSpec spec = all->ports_.flow(flow, parts);
    spec.activity = activity;
    RunningFlow running(all->simulation_, spec);
    co_await running;
    all->simulation_.end_activity(activity);
    all->ended_[index]->set();
  }

  Simulation& simulation_;
  Ports& ports_;
  std::vector<PlannedFlow> flows_;
  std::vector<ActivityId> activities_;
  std::vector<std::unique_ptr<Event>> ended_;
};

struct Case {
  CollectiveKind kind;
  Algorithm algorithm;
  ClusterSpec cluster;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {CollectiveKind::all_reduce, Algorithm::tree, reducing_nodes_of(5, 2)},
      {CollectiveKind::broadcast, Algorithm::tree, nodes_of(NodeTopology::full_mesh, 2, 4)},
      {CollectiveKind::all_reduce, Algorithm::hierarchical, nodes_of(NodeTopology::full_mesh, 4, 2)},
      {CollectiveKind::all_gather, Algorithm::hierarchical, reducing_nodes_of(3, 4)}};
  return all;
}

template <class Check>
void for_each_case(Check check) {
  for (const Case& c : cases()) {
    for (const CollectiveGrain grain : {CollectiveGrain::step, CollectiveGrain::edge}) {
      GraphForm form;
      form.every_step = grain == CollectiveGrain::step;
      form.ring_parts = form.every_step ? 1 : 2;
      const TransferGraph graph =
          make_transfer_graph({.kind = c.kind, .bytes = 64.0_MB}, c.algorithm, c.cluster, form);
      for (const Chunking& chunks :
           {equal_chunks(1), equal_chunks(3), whole_chunks(10.0_MB, 3.0_MB), equal_chunks(50)}) {
        CAPTURE(name_of(c.algorithm));
        CAPTURE(name_of(c.kind));
        CAPTURE(name_of(grain));
        CAPTURE(chunks.count);
        check(graph, grain, chunks);
      }
    }
  }
}

void check_near(const std::map<std::pair<int, int>, std::vector<double>>& seen,
                const std::map<std::pair<int, int>, std::vector<double>>& expected) {
  REQUIRE(seen.size() == expected.size());
  for (const auto& [edge, values] : expected) {
    // Edges of unlike steps share a name: what they do together is compared in order.
    std::vector<double> ours = seen.at(edge), theirs = values;
    REQUIRE(ours.size() == theirs.size());
    std::ranges::sort(ours);
    std::ranges::sort(theirs);
    for (std::size_t i = 0; i < theirs.size(); ++i)
      CHECK(ours[i] == near(theirs[i], 1e-9));
  }
}

}  // namespace

TEST_CASE("pieces begin, end and carry what the same pipeline written out as flows does") {
  for_each_case([](const TransferGraph& graph, CollectiveGrain grain, const Chunking& chunks) {
    const Pipeline pipeline = plan_pipeline(graph, grain, chunks);
    Ports here(graph.ranks()), there(graph.ranks());
    Simulation mine(&here), other(&there);
    here.add_to(mine, 7);
    there.add_to(other, 7);
    PipelineRun run(mine, here, pipeline, std::vector<bool>(pipeline.edges.size(), true));
    run.start();
    mine.run_without_simgrid();
    WrittenOut written(other, there, plan_flows(graph, grain, chunks));
    written.start();
    other.run_without_simgrid();
    CHECK(run.done().is_set());
    check_near(here.bytes, there.bytes);
    check_near(here.ends, there.ends);
    CHECK(here.dependencies == there.dependencies);
    CHECK(mine.fluid().completed_flows() == other.fluid().completed_flows());
  });
}

TEST_CASE(
    "who becomes slower while a pipeline runs is slower at once by its clock, from its next piece by its "
    "channels") {
  const Case& c = cases().front();
  const TransferGraph graph = make_transfer_graph({.kind = c.kind, .bytes = 64.0_MB}, c.algorithm, c.cluster);
  const Pipeline pipeline = plan_pipeline(graph, CollectiveGrain::step, equal_chunks(8));
  const auto time = [&](double clock, double crowd) {
    Simulation simulation;
    Ports ports(graph.ranks());
    ports.add_to(simulation, 7);
    PipelineRun run(simulation, ports, pipeline, std::vector<bool>(pipeline.edges.size(), true));
    run.start();
    struct Change final : Completion {
      std::function<void()> change;
      void on_complete(std::uint64_t) override { change(); }
    } later;
    later.change = [&] {
      ports.slow_clock(clock);
      if (crowd < 1.0) ports.crowd(crowd);
    };
    simulation.fluid().set_timer(20.0_us, later);
    simulation.run_without_simgrid();
    return simulation.now().value;
  };
  const double sound = time(1.0, 1.0);
  CHECK(time(0.01, 1.0) > 3.0 * sound);
  CHECK(time(1.0, 0.01) > 3.0 * sound);
  CHECK(time(1.0, 0.01) < time(0.01, 0.01));
}

TEST_CASE("an edge that does not take part is not waited for, and a pipeline without edges is done") {
  const Case& c = cases().front();
  const TransferGraph graph = make_transfer_graph({.kind = c.kind, .bytes = 64.0_MB}, c.algorithm, c.cluster);
  const Pipeline pipeline = plan_pipeline(graph, CollectiveGrain::step, equal_chunks(4));
  Simulation simulation;
  Ports ports(graph.ranks());
  ports.add_to(simulation, 7);
  std::vector<bool> takes_part(pipeline.edges.size(), true);
  takes_part.front() = false;
  PipelineRun run(simulation, ports, pipeline, takes_part);
  run.start();
  simulation.run_without_simgrid();
  CHECK(run.done().is_set());
  CHECK(simulation.fluid().completed_flows() == (pipeline.edges.size() - 1) * 4);
  PipelineRun none(simulation, ports, pipeline, std::vector<bool>(pipeline.edges.size(), false));
  none.start();
  CHECK(none.done().is_set());
}

TEST_CASE("phases of many chunks go in parts of which none is more than one part ahead of what it forwards") {
  TransferGraph graph = make_transfer_graph({.kind = CollectiveKind::all_reduce, .bytes = 64.0_MB},
                                            Algorithm::hierarchical, nodes_of(NodeTopology::full_mesh, 4, 2));
  REQUIRE(graph.phased);
  const auto check = [&](const Chunking& chunks) {
    double sum = 0.0;
    std::uint32_t needed = 0, place = 0;
    for (const Piece& piece : plan_pipeline(graph, CollectiveGrain::edge, chunks).pieces) {
      sum += piece.share;
      CHECK(piece.needs >= std::max(needed, place));  // strictly what it carries, or one part less
      CHECK(piece.needs <= ++place);
      needed = piece.needs;
    }
    CHECK(sum == near(1.0));
    CHECK(needed == place);  // the last waits for all
    return place;
  };
  CHECK(check(equal_chunks(1)) == 1);
  CHECK(check(equal_chunks(12)) == 12);
  CHECK(check(whole_chunks(1.0_GB, 3.0_MB)) <= 32);
  graph.phased = false;
  CHECK(plan_pipeline(graph, CollectiveGrain::edge, equal_chunks(100)).pieces.size() == 3);
  graph.pipelined = false;
  CHECK_THROWS_AS(plan_pipeline(graph, CollectiveGrain::edge, equal_chunks(3)), std::logic_error);
}

}  // namespace c3::collectives_pipeline_run_test
