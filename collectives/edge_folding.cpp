#include "collectives/edge_folding.hpp"

#include <algorithm>
#include <utility>

namespace c3 { inline namespace collectives {
namespace {

/// Node and GPU of each member, with nodes numbered in the order in which they come.
std::vector<std::pair<int, int>> positions_of(const std::vector<int>& group, int node_gpus) {
  std::map<int, int> nodes;
  std::vector<std::pair<int, int>> positions;
  for (const int rank : group) {
    const int node = nodes.try_emplace(rank / node_gpus, static_cast<int>(nodes.size())).first->second;
    positions.emplace_back(node, rank % node_gpus);
  }
  return positions;
}

std::vector<int> classes_of(const std::vector<int>& group, const RankPartition& ranks) {
  std::vector<int> classes;
  classes.reserve(group.size());
  for (const int rank : group)
    classes.push_back(ranks.class_of(rank));
  std::ranges::sort(classes);
  return classes;
}

bool is_in_switch(TransferOp op) {
  return op == TransferOp::switch_reduce || op == TransferOp::switch_multicast ||
         op == TransferOp::switch_all_reduce;
}

}  // namespace

std::vector<AlikeGroups> by_kind(const AlikeGroups& groups, const RankPartition& ranks, int node_gpus) {
  std::map<std::pair<std::vector<int>, std::vector<std::pair<int, int>>>, std::size_t> numbers;
  std::vector<AlikeGroups> kinds;
  for (const std::vector<int>& group : groups) {
    const auto [found, is_new] =
        numbers.try_emplace({classes_of(group, ranks), positions_of(group, node_gpus)}, kinds.size());
    if (is_new) kinds.emplace_back();
    kinds[found->second].push_back(group);
  }
  return kinds;
}

bool has_uneven_lanes(const TransferGraph& graph) {
  std::map<std::pair<int, int>, Bytes> of_lane;  // indexed by stage and lane: bytes of the first transfer
  return std::ranges::any_of(graph.transfers, [&](const Transfer& t) {
    return of_lane.try_emplace({t.stage, t.lane}, t.bytes).first->second != t.bytes;
  });
}

EdgeFolding::EdgeFolding(Interconnect& links, const RankPartition& ranks,
                         const std::vector<AlikeGroups>& groups, bool is_uneven)
    : links_(links), ranks_(ranks), groups_(groups), is_uneven_(is_uneven) {
  for (std::size_t kind = 0; kind < groups.size(); ++kind) {
    const std::vector<int>& first = groups[kind].front();
    for (std::size_t i = 0; i < first.size(); ++i)
      places_.emplace(first[i], Place{kind, i});
  }
}

EdgeFolding::Key EdgeFolding::key_of(int src, int dst) const {
  return {ranks_.class_of(src), ranks_.class_of(dst), links_.node_of(src) != links_.node_of(dst)};
}

std::vector<Leg> EdgeFolding::fold(const std::vector<Leg>& legs) {
  std::map<std::tuple<int, TransferOp, Key>, std::size_t> places;
  std::vector<LegClass> classes;
  for (const Leg& leg : legs) {
    const auto [found, is_new] =
        places.try_emplace({leg.lane, leg.op, key_of(leg.src, leg.dst)}, classes.size());
    if (is_new) classes.emplace_back().first = leg;
    add(classes[found->second], leg);
  }
  std::vector<Leg> folded;
  for (LegClass& leg_class : classes)
    folded.push_back(closed(std::move(leg_class)));
  return folded;
}

void EdgeFolding::add(LegClass& leg_class, const Leg& leg) {
  const Place from = places_.at(leg.src), to = places_.at(leg.dst);
  for (const std::vector<int>& group : groups_[from.kind]) {
    const int src = group[from.position], dst = group[to.position];
    leg_class.bytes.push_back(leg.bytes);
    sent_[src] += leg.bytes.value;
    received_[dst] += leg.bytes.value;
    if (is_uneven_) {
      sent_on_[leg.lane][src] += leg.bytes.value;
      received_on_[leg.lane][dst] += leg.bytes.value;
    }
    if (is_in_switch(leg.op)) {
      add_switch_edges(leg_class, {src, src, leg.lane, leg.bytes, leg.op}, group);
    } else if (leg.op == TransferOp::fabric_all_reduce) {
      leg_class.edges.push_back({EdgeKind::to_fabric, src, src, leg.lane});
      leg_class.edges.push_back({EdgeKind::from_fabric, src, src, leg.lane});
    } else {
      leg_class.edges.push_back({EdgeKind::route, src, dst, leg.lane});
    }
    leg_class.ends.push_back(leg_class.edges.size());
  }
}

// What CollectiveRun::add_switch_path says of one initiator.
void EdgeFolding::add_switch_edges(LegClass& leg_class, const Leg& leg, const std::vector<int>& group) const {
  const bool gathers = leg.op != TransferOp::switch_multicast;
  const bool spreads = leg.op != TransferOp::switch_reduce;
  for (const int member : group) {
    if (links_.node_of(member) != links_.node_of(leg.src)) continue;
    leg_class.switched[ranks_.class_of(member)] += 1.0;
    if (gathers) leg_class.edges.push_back({EdgeKind::to_switch, member, member, leg.lane});
    if (spreads) leg_class.edges.push_back({EdgeKind::from_switch, member, member, leg.lane});
  }
  if (gathers) leg_class.edges.push_back({EdgeKind::from_switch, leg.src, leg.src, leg.lane});
  if (spreads) leg_class.edges.push_back({EdgeKind::to_switch, leg.src, leg.src, leg.lane});
}

// Edges with unequal bytes carry their mean, and load links with what is theirs.
Leg EdgeFolding::closed(LegClass leg_class) {
  Leg leg = leg_class.first;
  const auto [least, most] = std::ranges::minmax(leg_class.bytes);
  if (least != most) {
    Bytes sum;
    for (const Bytes bytes : leg_class.bytes)
      sum += bytes;
    leg.bytes = sum / static_cast<double>(leg_class.bytes.size());
    for (std::size_t i = 0, at = 0; i < leg_class.ends.size(); ++i) {
      for (; at < leg_class.ends[i]; ++at)
        leg_class.edges[at].count = leg_class.bytes[i] / leg.bytes;
    }
  }
  LegShares& shares = shares_.emplace_back();
  const auto edges = static_cast<double>(leg_class.bytes.size());
  std::size_t groups = 0;
  for (const AlikeGroups& kind : groups_)
    groups += kind.size();
  shares.edges = edges / static_cast<double>(groups);
  shares.of_sender = edges / ranks_.alike(leg.src);
  shares.of_receiver = edges / ranks_.alike(leg.dst);
  for (const auto& [number, count] : leg_class.switched)
    shares.members[ranks_.representative(number)] = count / ranks_.members(number);
  shares.set = links_.add_edges(std::move(leg_class.edges), leg.bytes);
  leg.shares = &shares;
  return leg;
}

namespace {

/// Over all members of a class.
struct Moved {
  double least = 0.0, most = 0.0, sum = 0.0;
};

/// What ranks moved, for each class. Members that moved nothing are not listed.
std::map<int, Moved> by_class(const std::unordered_map<int, double>& moved, const RankPartition& ranks) {
  std::map<int, std::vector<double>> listed;
  for (const auto& [rank, bytes] : moved)
    listed[ranks.class_of(rank)].push_back(bytes);
  std::map<int, Moved> classes;
  for (const auto& [number, bytes] : listed) {
    const auto [least, most] = std::ranges::minmax(bytes);
    Moved& class_bytes = classes[number];
    class_bytes = {std::ssize(bytes) < ranks.members(number) ? 0.0 : least, most, 0.0};
    for (const double rank_bytes : bytes)
      class_bytes.sum += rank_bytes;
  }
  return classes;
}

}  // namespace

double EdgeFolding::inequity() const {
  double greatest = 0.0;
  const auto add = [&](const std::unordered_map<int, double>& moved,
                       const std::map<int, std::unordered_map<int, double>>& on_lanes) {
    const std::map<int, Moved> all = by_class(moved, ranks_);
    const auto add_spread = [&](int number, const Moved& class_bytes) {
      const double sum = all.at(number).sum;
      if (sum > 0.0)
        greatest = std::max(greatest, (class_bytes.most - class_bytes.least) * ranks_.members(number) / sum);
    };
    for (const auto& [number, class_bytes] : all)
      add_spread(number, class_bytes);
    for (const auto& [lane, on_lane] : on_lanes) {
      for (const auto& [number, class_bytes] : by_class(on_lane, ranks_))
        add_spread(number, class_bytes);
    }
  };
  add(sent_, sent_on_);
  add(received_, received_on_);
  return greatest;
}

}}  // namespace c3::collectives
