#include "collectives/planned_flows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace c3 { inline namespace collectives {
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

/// For each transfer: the longest way to its end through transfers of its stage, or through all.
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

/// What tells edges apart, for a hash table of many.
using EdgeNumbers = std::array<int, 5>;
struct HashOfNumbers {
  std::size_t operator()(const EdgeNumbers& numbers) const {
    std::size_t hash = 0;
    for (const int number : numbers)
      hash = (hash ^ static_cast<std::size_t>(number)) * 0x9e3779b97f4a7c15ULL;
    return hash ^ (hash >> 32);
  }
};
template <class Value>
using ByEdge = std::unordered_map<EdgeNumbers, Value, HashOfNumbers>;

/// Sums of bytes of the transfers that share what a leg names. Most bundles have few legs, one has all.
class Legs {
 public:
  void add(const Transfer& t) {
    Leg& leg = legs_[place_of(t)];
    leg.bytes += t.bytes;
    leg.messages += std::max(1, t.hops + t.network_hops);
  }
  const std::vector<Leg>& all() const { return legs_; }
  std::vector<Leg> take() { return std::move(legs_); }

 private:
  static constexpr std::size_t kFew = 4;

  std::size_t place_of(const Transfer& t) {
    if (legs_.size() <= kFew) {
      const auto is_same = [&t](const Leg& leg) {
        return leg.src == t.src && leg.dst == t.dst && leg.lane == t.lane && leg.op == t.op;
      };
      const auto found = std::ranges::find_if(legs_, is_same);
      if (found != legs_.end()) return static_cast<std::size_t>(found - legs_.begin());
    } else {
      if (places_.empty()) {
        for (std::size_t i = 0; i < legs_.size(); ++i)
          places_.emplace(name_of(legs_[i]), i);
      }
      const auto [found, is_new] = places_.try_emplace(name_of(t), legs_.size());
      if (!is_new) return found->second;
    }
    legs_.push_back({t.src, t.dst, t.lane, Bytes{}, t.op, 0.0});
    return legs_.size() - 1;
  }
  template <class Edge>
  static EdgeNumbers name_of(const Edge& edge) {
    return {edge.src, edge.dst, edge.lane, static_cast<int>(edge.op), 0};
  }

  std::vector<Leg> legs_;
  ByEdge<std::size_t> places_;  ///< places of all legs, once they are more than a few
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
  std::vector<std::uint32_t> after;  ///< bundles, some more than once
  int stage = 0;

  void add(const Transfer& t, const Way& its_way) {
    legs.add(t);
    way = std::max(way, its_way);
  }
  PlannedFlow take(LegFolding* folding) {
    std::ranges::sort(after);
    after.erase(std::ranges::unique(after).begin(), after.end());
    return {folding == nullptr ? legs.take() : folding->fold(legs.all()), way.within, way.network,
            std::move(after)};
  }
};

/// What stands for the edge of a transfer in its stage: itself, or its class.
EdgeNumbers edge_of(const Transfer& t, const LegFolding* folding) {
  if (folding == nullptr) return {t.stage, t.lane, t.src, t.dst, 0};
  const LegFolding::Key key = folding->key_of(t.src, t.dst);
  return {t.stage, t.lane, key.sender, key.receiver, key.crosses ? 1 : 0};
}

/// Bundles of an earlier stage first, as those of a class are made with its first edge.
std::vector<Bundle> by_stage(std::vector<Bundle> bundles) {
  std::vector<std::uint32_t> order(bundles.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return bundles[i].stage; });
  std::vector<std::uint32_t> place(bundles.size());
  for (std::uint32_t i = 0; i < order.size(); ++i)
    place[order[i]] = i;
  std::vector<Bundle> sorted;
  sorted.reserve(bundles.size());
  for (const std::uint32_t i : order) {
    for (std::uint32_t& before : sorted.emplace_back(std::move(bundles[i])).after)
      before = place[before];
  }
  return sorted;
}

/// A flow for all transfers of a stage on one edge of a lane. Stages must be written one after another.
std::vector<PlannedFlow> edges(const TransferGraph& graph, LegFolding* folding) {
  const std::vector<Way> ways = longest_ways(graph, /*of_stage=*/true);
  std::vector<Bundle> bundles;
  std::vector<std::uint32_t> bundle_of;  // bundle of each transfer
  ByEdge<std::uint32_t> places;
  for (std::size_t i = 0; i < graph.transfers.size(); ++i) {
    const Transfer& t = graph.transfers[i];
    const auto next = static_cast<std::uint32_t>(bundles.size());
    const auto [found, is_new] = places.try_emplace(edge_of(t, folding), next);
    if (is_new) bundles.emplace_back().stage = t.stage;
    bundle_of.push_back(found->second);
    Bundle& bundle = bundles[found->second];
    bundle.add(t, ways[i]);
    for (const std::uint32_t before : t.after) {
      if (graph.transfers[before].stage != t.stage) bundle.after.push_back(bundle_of[before]);
    }
  }
  if (folding != nullptr) bundles = by_stage(std::move(bundles));
  std::vector<PlannedFlow> flows;
  flows.reserve(bundles.size());
  for (Bundle& bundle : bundles) {
    if (!bundle.after.empty() && std::ranges::max(bundle.after) >= flows.size())
      throw std::logic_error("plan_flows: a stage is written after one that needs it");
    flows.push_back(bundle.take(folding));
  }
  return flows;
}

/// What a rank sends on a lane goes one after another, in the order of the graph.
void queue_in_lanes(std::vector<PlannedFlow>& flows) {
  std::map<std::pair<int, int>, std::uint32_t> last;  // indexed by lane and sender
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

/// Every piece of every edge a flow: after the pieces that it needs and the one ahead of it does not, and
/// behind that one.
std::vector<PlannedFlow> written_out(const Pipeline& pipeline) {
  std::vector<PlannedFlow> planned;
  const auto count = static_cast<std::uint32_t>(pipeline.edges.size());
  planned.reserve(pipeline.pieces.size() * count);
  std::uint32_t had = 0;  // pieces that the one ahead needs
  for (const Piece& piece : pipeline.pieces) {
    const auto first = static_cast<std::uint32_t>(planned.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      PlannedFlow& flow = planned.emplace_back(pipeline.edges[i]);
      for (Leg& leg : flow.legs)
        leg = part_of(leg, piece.share);
      for (std::uint32_t& before : flow.after)
        before += (piece.needs - 1) * count;
      if (first > 0) flow.behind = first - count + i;
      if (piece.needs > had) continue;
      flow.after.clear();
      flow.hops = flow.network_hops = 0;
    }
    had = piece.needs;
  }
  return planned;
}

std::vector<PlannedFlow> in_turn(std::vector<PlannedFlow> flows) {
  queue_in_lanes(flows);
  return flows;
}

/// Appends one that needs what it carries itself.
void add_piece(std::vector<Piece>& pieces, double share) {
  pieces.push_back({share, static_cast<std::uint32_t>(pieces.size()) + 1});
}

std::vector<Piece> chunk_by_chunk(const Chunking& chunks) {
  std::vector<Piece> pieces;
  for (int chunk = 1; chunk < chunks.count; ++chunk)
    add_piece(pieces, chunks.share);
  add_piece(pieces, chunks.last());
  return pieces;
}

/// The first chunk, what is between in \p parts, and the last. Behind the slowest edge a last chunk that is
/// smaller waits for the whole one ahead of it.
std::vector<Piece> first_middle_last(const Chunking& chunks, int parts = 1) {
  const bool is_smaller = chunks.last() < (1.0 - 1e-6) * chunks.share;
  const int whole_ones_last = is_smaller && chunks.count > 2 ? 1 : 0;
  const int between = chunks.count - 2 - whole_ones_last;
  std::vector<Piece> pieces;
  if (chunks.count > 1) add_piece(pieces, chunks.share);
  parts = between > 0 ? parts : 0;
  for (int part = 0; part < parts; ++part)  // while the edges before send theirs
    pieces.push_back({between * chunks.share / parts, static_cast<std::uint32_t>(part) + 1});
  if (whole_ones_last > 0) add_piece(pieces, chunks.share);
  add_piece(pieces, chunks.last());
  return pieces;
}

/// Pieces of phases with rates of their own: chunk by chunk where chunks are few.
std::vector<Piece> pieces_of_phases(const Chunking& chunks) {
  constexpr int kParts = 32;  // with half as many, an all-reduce over 16 nodes is 7 % slow where chunks are 22
  return chunks.count <= kParts ? chunk_by_chunk(chunks) : first_middle_last(chunks, kParts - 3);
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
  for (auto& [number, stage] : by_number) {
    flows.push_back(stage.take(folding));
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
  if (flows.size() <= kFewStages || chunks.count == 1)
    return written_out({std::move(flows), first_middle_last(chunks)});
  flows = written_out({std::move(flows), {{chunks.share, 1}}});
  Legs all;
  for (const Transfer& t : graph.transfers)
    all.add(t);
  PlannedFlow rest{folding == nullptr ? all.take() : folding->fold(all.all()),
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
  constexpr double kRounding = 1e-6;   // part of a chunk: what rounding leaves gets no chunk of its own
  const double whole = transfer / size;
  if (whole <= 1.0) return {};
  if (whole > kMostChunks) return equal_chunks(static_cast<int>(kMostChunks));
  return {static_cast<int>(std::ceil(whole - kRounding)), 1.0 / whole};
}

Pipeline plan_pipeline(const TransferGraph& graph, CollectiveGrain grain, Chunking chunks,
                       LegFolding* folding) {
  constexpr int kMostPieces = 1'000;  // pieces of a transfer; more fill the pipeline hardly sooner
  if (chunks.count < 1) throw std::logic_error("plan_pipeline: at least one chunk");
  if (!graph.pipelined) throw std::logic_error("plan_pipeline: the graph is not pipelined");
  if (grain == CollectiveGrain::step) {
    if (folding != nullptr) throw std::logic_error("plan_pipeline: steps are not folded");
    if (chunks.count > kMostPieces) chunks = equal_chunks(kMostPieces);
    return {single_transfers(graph), chunk_by_chunk(chunks)};
  }
  if (grain != CollectiveGrain::edge) throw std::logic_error("plan_pipeline: no such grain");
  return {edges(graph, folding), graph.phased ? pieces_of_phases(chunks) : first_middle_last(chunks)};
}

std::vector<PlannedFlow> plan_flows(const TransferGraph& graph, CollectiveGrain grain, Chunking chunks,
                                    LegFolding* folding) {
  if (chunks.count < 1) throw std::logic_error("plan_flows: at least one chunk");
  switch (grain) {
    case CollectiveGrain::step:
      if (folding != nullptr) throw std::logic_error("plan_flows: steps are not folded");
      return graph.pipelined ? written_out(plan_pipeline(graph, grain, chunks))
                             : in_turn(single_transfers(graph));
    case CollectiveGrain::edge:
      return graph.pipelined ? written_out(plan_pipeline(graph, grain, chunks, folding))
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
  std::unordered_set<EdgeNumbers, HashOfNumbers> edges;
  for (const Transfer& t : graph.transfers) {
    steps += std::max(1, t.hops + t.network_hops);
    edges.insert(edge_of(t, nullptr));
  }
  if (steps * (graph.pipelined ? chunks : 1) <= kMostSteps) return CollectiveGrain::step;
  const double parts = graph.pipelined ? 3.0 : 1.0;
  return static_cast<double>(edges.size()) * parts <= kMostEdges ? CollectiveGrain::edge
                                                                 : CollectiveGrain::gang;
}

}}  // namespace c3::collectives
