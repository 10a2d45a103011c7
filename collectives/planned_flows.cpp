#include "collectives/planned_flows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace c3::inline collectives {
namespace {

/// A way through steps within nodes and between them; the longer one has more between.
struct Way {
  int network = 0;
  int within = 0;
  auto operator<=>(const Way&) const = default;
};

Way way_of(const TransferGraph& graph, const Transfer& t) {
  if (t.hops + t.network_hops > 0) return {t.network_hops, t.hops};
  return graph.crosses(t) ? Way{1, 0} : Way{0, 1};
}

/// By transfer: the longest way to its end through transfers of its stage, or through all.
std::vector<Way> longest_ways(const TransferGraph& graph, bool of_stage) {
  std::vector<Way> ways;
  ways.reserve(graph.transfers.size());
  for (const Transfer& t : graph.transfers) {
    Way before;
    for (const std::uint32_t position : t.after) {
      if (!of_stage || graph.transfers[position].stage == t.stage) before = std::max(before, ways[position]);
    }
    const Way own = way_of(graph, t);
    ways.push_back({before.network + own.network, before.within + own.within});
  }
  return ways;
}

/// Sums of bytes of the transfers that share what a leg names.
class Legs {
 public:
  void add(const Transfer& t) {
    const auto [found, is_new] = places_.try_emplace({t.src, t.dst, t.lane, t.op}, legs_.size());
    if (is_new) legs_.push_back({t.src, t.dst, t.lane, Bytes{}, t.op, 0.0});
    legs_[found->second].bytes += t.bytes;
    legs_[found->second].messages += std::max(1, t.hops + t.network_hops);
  }
  const std::vector<Leg>& all() const { return legs_; }

 private:
  std::vector<Leg> legs_;
  std::map<std::tuple<int, int, int, TransferOp>, std::size_t> places_;
};

/// Every transfer a flow.
std::vector<PlannedFlow> single_transfers(const TransferGraph& graph) {
  std::vector<PlannedFlow> flows;
  flows.reserve(graph.transfers.size());
  for (const Transfer& t : graph.transfers) {
    if (t.hops + t.network_hops > 0)
      throw std::logic_error("plan_flows: steps that are told as one cannot be taken one by one");
    const Way way = way_of(graph, t);
    flows.push_back({{{t.src, t.dst, t.lane, t.bytes, t.op}}, way.within, way.network, t.after});
  }
  return flows;
}

/// Transfers that become one flow.
struct Bundle {
  Legs legs;
  Way way;
  std::set<std::uint32_t> after;  ///< bundles
  int stage = 0;

  void add(const Transfer& t, const Way& its_way) {
    legs.add(t);
    way = std::max(way, its_way);
  }
  PlannedFlow flow(LegFolding* folding) const {
    return {folding == nullptr ? legs.all() : folding->fold(legs.all()),
            way.within,
            way.network,
            {after.begin(), after.end()}};
  }
};

/// What stands for the edge of a transfer: itself, or its class.
using EdgeName = std::tuple<int, int, bool>;
EdgeName edge_of(const Transfer& t, const LegFolding* folding) {
  if (folding == nullptr) return {t.src, t.dst, false};
  const LegFolding::Key key = folding->key_of(t.src, t.dst);
  return {key.sender, key.receiver, key.crosses};
}

/// Bundles of an earlier stage first, as those of a class are made with its first edge.
std::vector<Bundle> by_stage(const std::vector<Bundle>& bundles) {
  std::vector<std::uint32_t> order(bundles.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return bundles[i].stage; });
  std::vector<std::uint32_t> place(bundles.size());
  for (std::uint32_t i = 0; i < order.size(); ++i)
    place[order[i]] = i;
  std::vector<Bundle> sorted;
  sorted.reserve(bundles.size());
  for (const std::uint32_t i : order) {
    Bundle& bundle = sorted.emplace_back(bundles[i]);
    bundle.after.clear();
    for (const std::uint32_t before : bundles[i].after)
      bundle.after.insert(place[before]);
  }
  return sorted;
}

/// A flow for all transfers of a stage on one edge of a lane. Stages must be written one after another.
std::vector<PlannedFlow> edges(const TransferGraph& graph, LegFolding* folding) {
  const std::vector<Way> ways = longest_ways(graph, /*of_stage=*/true);
  std::vector<Bundle> bundles;
  std::vector<std::uint32_t> bundle_of;  // by transfer
  std::map<std::tuple<int, int, EdgeName>, std::uint32_t> places;
  for (std::size_t i = 0; i < graph.transfers.size(); ++i) {
    const Transfer& t = graph.transfers[i];
    const auto next = static_cast<std::uint32_t>(bundles.size());
    const auto [found, is_new] = places.try_emplace({t.stage, t.lane, edge_of(t, folding)}, next);
    if (is_new) bundles.emplace_back().stage = t.stage;
    bundle_of.push_back(found->second);
    Bundle& bundle = bundles[found->second];
    bundle.add(t, ways[i]);
    for (const std::uint32_t before : t.after) {
      if (graph.transfers[before].stage != t.stage) bundle.after.insert(bundle_of[before]);
    }
  }
  if (folding != nullptr) bundles = by_stage(bundles);
  std::vector<PlannedFlow> flows;
  flows.reserve(bundles.size());
  for (const Bundle& bundle : bundles) {
    if (!bundle.after.empty() && *bundle.after.rbegin() >= flows.size())
      throw std::logic_error("plan_flows: a stage is written after one that needs it");
    flows.push_back(bundle.flow(folding));
  }
  return flows;
}

/// What a rank sends on a lane goes one after another, in the order of the graph.
void queue_in_lanes(std::vector<PlannedFlow>& flows) {
  std::map<std::pair<int, int>, std::uint32_t> last;  // by lane and sender
  for (std::uint32_t i = 0; i < flows.size(); ++i) {
    const Leg& leg = flows[i].legs.front();
    const auto [found, is_new] = last.try_emplace({leg.lane, leg.src}, i);
    if (is_new) continue;
    flows[i].behind = found->second;
    found->second = i;
  }
}

Leg part_of(Leg leg, double part) {
  leg.bytes = leg.bytes * part;
  leg.messages *= part;
  return leg;
}

/// All flows in parts: each after the same part of those before it, or free of them, and behind its part ahead.
class Pipeline {
 public:
  explicit Pipeline(std::vector<PlannedFlow> whole) : whole_(std::move(whole)) {}

  void add(double part, bool waits) {
    const auto first = static_cast<std::uint32_t>(planned_.size());
    const auto count = static_cast<std::uint32_t>(whole_.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      PlannedFlow& flow = planned_.emplace_back(whole_[i]);
      for (Leg& leg : flow.legs)
        leg = part_of(leg, part);
      for (std::uint32_t& before : flow.after)
        before += first;
      if (first > 0) flow.behind = first - count + i;
      if (waits) continue;
      flow.after.clear();
      flow.hops = flow.network_hops = 0;
    }
  }
  std::vector<PlannedFlow> take() { return std::move(planned_); }

 private:
  std::vector<PlannedFlow> whole_;
  std::vector<PlannedFlow> planned_;
};

std::vector<PlannedFlow> in_turn(std::vector<PlannedFlow> flows) {
  queue_in_lanes(flows);
  return flows;
}

std::vector<PlannedFlow> chunk_by_chunk(std::vector<PlannedFlow> whole, const Chunking& chunks) {
  Pipeline pipeline(std::move(whole));
  for (int chunk = 1; chunk < chunks.count; ++chunk)
    pipeline.add(chunks.share, /*waits=*/true);
  pipeline.add(chunks.last(), /*waits=*/true);
  return pipeline.take();
}

// Behind the slowest edge a last chunk that is smaller waits for the whole one ahead of it.
std::vector<PlannedFlow> first_middle_last(std::vector<PlannedFlow> whole, const Chunking& chunks) {
  const bool is_smaller = chunks.last() < (1.0 - 1e-6) * chunks.share;
  const int whole_ones_last = is_smaller && chunks.count > 2 ? 1 : 0;
  const int between = chunks.count - 2 - whole_ones_last;
  Pipeline pipeline(std::move(whole));
  if (chunks.count > 1) pipeline.add(chunks.share, /*waits=*/true);
  if (between > 0) pipeline.add(between * chunks.share, /*waits=*/false);
  if (whole_ones_last > 0) pipeline.add(chunks.share, /*waits=*/true);
  pipeline.add(chunks.last(), /*waits=*/true);
  return pipeline.take();
}

/// A flow for all transfers of a stage, after those of the stage before. It pays what the longest way so far is
/// longer than before: lanes may pass between nodes in unlike stages.
std::vector<PlannedFlow> stages(const TransferGraph& graph, LegFolding* folding) {
  const std::vector<Way> ways = longest_ways(graph, /*of_stage=*/false);
  std::map<int, Bundle> by_number;
  for (std::size_t i = 0; i < graph.transfers.size(); ++i)
    by_number[graph.transfers[i].stage].add(graph.transfers[i], ways[i]);
  std::vector<PlannedFlow> flows;
  Way paid;
  for (const auto& [number, stage] : by_number) {
    flows.push_back(stage.flow(folding));
    flows.back().hops = std::max(0, stage.way.within - paid.within);
    flows.back().network_hops = std::max(0, stage.way.network - paid.network);
    paid = {paid.network + flows.back().network_hops, paid.within + flows.back().hops};
    if (flows.size() > 1) flows.back().after = {static_cast<std::uint32_t>(flows.size() - 2)};
  }
  return flows;
}

/// Few stages are phases that overlap, each at its own pace. Many are the depth of a tree or chain, which the
/// first chunk fills; then all of it goes at one pace.
std::vector<PlannedFlow> ganged(const TransferGraph& graph, const Chunking& chunks, LegFolding* folding) {
  constexpr std::size_t kFewStages = 4;
  std::vector<PlannedFlow> flows = stages(graph, folding);
  if (flows.size() <= kFewStages || chunks.count == 1) return first_middle_last(std::move(flows), chunks);
  Pipeline first(std::move(flows));
  first.add(chunks.share, /*waits=*/true);
  flows = first.take();
  Legs all;
  for (const Transfer& t : graph.transfers)
    all.add(t);
  PlannedFlow rest{folding == nullptr ? all.all() : folding->fold(all.all()),
                   0,
                   0,
                   {},
                   static_cast<std::uint32_t>(flows.size() - 1)};
  for (Leg& leg : rest.legs)
    leg = part_of(leg, 1.0 - chunks.share);
  flows.push_back(std::move(rest));
  return flows;
}

}  // namespace

Chunking equal_chunks(int count) { return {count, 1.0 / count}; }

Chunking whole_chunks(Bytes transfer, Bytes size) {
  constexpr double kMostChunks = 1e9;  // a pipeline's filling is nothing long before that
  constexpr double kRounding = 1e-6;   // of a chunk: no chunk of its own for what rounding leaves
  const double whole = transfer / size;
  if (whole <= 1.0) return {};
  if (whole > kMostChunks) return equal_chunks(static_cast<int>(kMostChunks));
  return {static_cast<int>(std::ceil(whole - kRounding)), 1.0 / whole};
}

std::vector<PlannedFlow> plan_flows(const TransferGraph& graph, CollectiveGrain grain, Chunking chunks,
                                    LegFolding* folding) {
  constexpr int kMostFlows = 1'000;  // of a transfer; more fill the pipeline hardly sooner
  if (chunks.count < 1) throw std::logic_error("plan_flows: at least one chunk");
  switch (grain) {
    case CollectiveGrain::step:
      if (folding != nullptr) throw std::logic_error("plan_flows: steps are not folded");
      if (chunks.count > kMostFlows) chunks = equal_chunks(kMostFlows);
      return graph.pipelined ? chunk_by_chunk(single_transfers(graph), chunks)
                             : in_turn(single_transfers(graph));
    case CollectiveGrain::edge:
      return graph.pipelined ? first_middle_last(edges(graph, folding), chunks)
                             : in_turn(edges(graph, folding));
    case CollectiveGrain::gang:
      return graph.pipelined ? ganged(graph, chunks, folding) : stages(graph, folding);
    case CollectiveGrain::automatic:
      break;
  }
  throw std::logic_error("plan_flows: no such grain");
}

CollectiveGrain choose_grain(const TransferGraph& graph, int chunks) {
  constexpr double kMostSteps = 2'000;
  constexpr double kMostEdges = 20'000;
  double steps = 0.0;
  std::set<std::tuple<int, int, int, int>> edges;
  for (const Transfer& t : graph.transfers) {
    steps += std::max(1, t.hops + t.network_hops);
    edges.emplace(t.stage, t.lane, t.src, t.dst);
  }
  if (steps * (graph.pipelined ? chunks : 1) <= kMostSteps) return CollectiveGrain::step;
  const double parts = graph.pipelined ? 3.0 : 1.0;
  return static_cast<double>(edges.size()) * parts <= kMostEdges ? CollectiveGrain::edge
                                                                 : CollectiveGrain::gang;
}

}  // namespace c3::collectives
