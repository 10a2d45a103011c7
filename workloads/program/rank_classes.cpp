#include "workloads/program/rank_classes.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "engine/interrupt.hpp"
#include "workloads/program/member_roles.hpp"
#include "workloads/program/message_ways.hpp"

namespace c3 { inline namespace workloads {
namespace {

using Colour = std::uint32_t;
using Signature = std::vector<Colour>;

/// Numbers signatures in the order in which they come.
class Signatures {
 public:
  Colour number(const Signature& signature) {
    return numbers_.emplace(signature, static_cast<Colour>(numbers_.size())).first->second;
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::map<Signature, Colour> numbers_;
};

/// One way in which calls group ranks, or nodes do.
class Grouping {
 public:
  Grouping(int ranks, int node_gpus)
      : node_gpus_(node_gpus), role_(static_cast<std::size_t>(ranks)), group_(role_.size(), kNone) {}

  /// \param roles by member; empty: all have one
  void add(const std::vector<int>& members, const std::vector<std::uint32_t>& roles = {}) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto rank = static_cast<std::size_t>(members[i]);
      group_[rank] = groups_;
      if (roles.empty()) continue;
      role_[rank] = roles[i];
      roles_ = std::max(roles_, roles[i] + 1);
    }
    ++groups_;
  }

  /// Adds to each rank's signature its role, what is in its group on its node, and on all nodes: how many of
  /// each role and colour.
  void sign(const std::vector<Colour>& colours, std::vector<Signature>& signatures) const {
    Signatures on_node, in_group;
    std::vector<Signature> parts(groups_);  // by group: what is on each of its nodes
    std::vector<Colour> part_of(group_.size());
    std::vector<std::vector<std::size_t>> members(groups_);
    for (std::size_t rank = 0; rank < group_.size(); ++rank) {
      if (group_[rank] != kNone) members[group_[rank]].push_back(rank);
    }
    for (std::uint32_t group = 0; group < groups_; ++group) {
      const std::vector<std::size_t>& its = members[group];
      for (std::size_t begin = 0, end = 0; begin < its.size(); begin = end) {
        Signature part;
        for (; end < its.size() && node_of(its[end]) == node_of(its[begin]); ++end)
          part.push_back(roles_ * colours[its[end]] + role_[its[end]]);
        std::ranges::sort(part);
        const Colour number = on_node.number(part);
        parts[group].push_back(number);
        for (std::size_t i = begin; i < end; ++i)
          part_of[its[i]] = number;
      }
      std::ranges::sort(parts[group]);
    }
    std::vector<Colour> content_of;
    for (const Signature& content : parts)
      content_of.push_back(in_group.number(content));
    for (std::size_t rank = 0; rank < group_.size(); ++rank) {
      const bool is_member = group_[rank] != kNone;
      signatures[rank].push_back(is_member ? content_of[group_[rank]] + 1 : 0);
      signatures[rank].push_back(is_member ? part_of[rank] : 0);
      signatures[rank].push_back(role_[rank]);
    }
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::size_t node_of(std::size_t rank) const { return rank / static_cast<std::size_t>(node_gpus_); }

  int node_gpus_;
  std::vector<Colour> role_;
  std::uint32_t roles_ = 1;           ///< how many there are
  std::vector<std::uint32_t> group_;  ///< by rank
  std::uint32_t groups_ = 0;
};

/// Calls that group ranks alike, and the scripts that join one of them.
struct Family {
  const CollectiveCall* call;
  std::vector<bool> joins;  ///< by script

  bool has(const CollectiveCall& other) const {
    const auto root = [](const CollectiveCall& its) { return is_rooted(its.kind) ? its.root : -1; };
    return call->groups == other.groups && call->ranks == other.ranks && root(*call) == root(other) &&
           call->sends == other.sends;
  }
};

std::vector<Family> families_of(const Program& program) {
  std::vector<Family> families;
  for (std::size_t script = 0; script < program.scripts.size(); ++script) {
    for_each_operation(program.scripts[script], [&](const Operation& operation) {
      const CollectiveCall* call = program.call_of(operation);
      if (call == nullptr) return;
      auto family = std::ranges::find_if(families, [&](const Family& known) { return known.has(*call); });
      if (family == families.end())
        family = families.insert(family, {call, std::vector<bool>(program.scripts.size())});
      family->joins[script] = true;
    });
  }
  return families;
}

std::vector<Grouping> groupings_of(const Program& program, int ranks, int node_gpus) {
  std::vector<Grouping> groupings;
  for (const Family& family : families_of(program)) {
    Grouping& grouping = groupings.emplace_back(ranks, node_gpus);
    for (const CollectiveCall& of_group : calls_by_group(*family.call, ranks)) {
      const std::vector<int> members = members_of(of_group, ranks);
      if (std::ranges::any_of(members, [&](int rank) { return family.joins[program.script_number(rank)]; }))
        grouping.add(members, member_roles(of_group, members));
    }
  }
  Grouping& nodes = groupings.emplace_back(ranks, node_gpus);
  for (int first = 0; first < ranks; first += node_gpus) {
    std::vector<int> node(static_cast<std::size_t>(std::min(node_gpus, ranks - first)));
    std::iota(node.begin(), node.end(), first);
    nodes.add(node);
  }
  return groupings;
}

/// Adds to each rank's signature the colours of those that it sends to and receives from.
void sign_peers(const Program& program, const std::vector<MessageWay>& ways, const std::vector<Colour>& colours,
                std::vector<Signature>& signatures) {
  for (const MessageWay& way : ways) {
    const RankGroups& groups = program.communicators[way.communicator].groups;
    for (std::size_t rank = 0; rank < colours.size(); ++rank) {
      const std::uint32_t script = program.script_number(static_cast<int>(rank));
      const auto sign = [&](int offset) {
        const int peer = peer_of(groups, static_cast<int>(rank), offset);
        signatures[rank].push_back(colours[static_cast<std::size_t>(peer)]);
      };
      if (way.sends[script]) sign(way.offset);
      if (way.receives[script]) sign(-way.offset);
    }
  }
}

}  // namespace

RankPartition rank_classes(const Program& program, int ranks, int node_gpus,
                           const std::vector<std::uint32_t>& apart) {
  const std::vector<Grouping> groupings = groupings_of(program, ranks, node_gpus);
  const std::vector<MessageWay> ways = message_ways(program);
  std::vector<Colour> colours;
  Signatures first;
  for (int rank = 0; rank < ranks; ++rank)
    colours.push_back(
        first.number({program.script_number(rank), apart.empty() ? 0 : apart[static_cast<std::size_t>(rank)]}));
  for (std::size_t before = 0, now = 1; before != now;) {
    before = now;
    std::vector<Signature> signatures(colours.size());
    for (std::size_t rank = 0; rank < colours.size(); ++rank)
      signatures[rank].push_back(colours[rank]);
    for (const Grouping& grouping : groupings) {
      checkpoint();
      grouping.sign(colours, signatures);
    }
    sign_peers(program, ways, colours, signatures);
    Signatures refined;
    for (std::size_t rank = 0; rank < colours.size(); ++rank)
      colours[rank] = refined.number(signatures[rank]);
    now = refined.size();
  }
  return RankPartition(std::move(colours));
}

}}  // namespace c3::workloads
