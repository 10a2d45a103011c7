#include "workloads/traces/benchmark/listed_collectives.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "workloads/traces/trace_error.hpp"

namespace c3 { inline namespace traces {
namespace {

[[noreturn]] void refuse(const OperatorList& list, const ListedMember& member, const std::string& what) {
  throw TraceSetError({.file = "operator list", .rank = list.ranks[member.rank].rank, .event = member.place},
                      what);
}

const ListedCollective& collective_of(const OperatorList& list, const ListedMember& member) {
  return *list.ranks[member.rank].operators[member.place].collective;
}

/// The same text on all ranks.
class GroupNames {
 public:
  std::string name(const ListedCollective& collective) {
    if (collective.has_group_name) return collective.group;
    const std::int64_t size = collective.group_size.value_or(0);
    std::vector<std::string>& known = groups_[size];
    const auto found = std::ranges::find(known, collective.group);
    const auto place = found - known.begin();
    if (found == known.end()) known.push_back(collective.group);
    return fmt::format("group {} of {} ranks", place, size);
  }

 private:
  std::map<std::int64_t, std::vector<std::string>> groups_;
};

/// Group, whether the number is a sequence number, number, repetition of it.
using Key = std::tuple<std::string, bool, std::int64_t, int>;

bool has_partners(const ListedCollective& collective) {
  return collective.kind != "send" && collective.kind != "recv" && collective.kind != "send_recv";
}

void check(const OperatorList& list, const std::vector<ListedMember>& members) {
  const ListedCollective& first = collective_of(list, members.front());
  for (const ListedMember& member : members) {
    const ListedCollective& other = collective_of(list, member);
    const bool is_uneven = first.kind == "all_to_all";
    const bool same_bytes = is_uneven || !first.bytes || !other.bytes || *first.bytes == *other.bytes;
    if (first.kind == other.kind && same_bytes) continue;
    refuse(list, member,
           fmt::format("its {} of {} B is matched with the {} of {} B of rank {}: members of a collective must "
                       "have one kind and size",
                       other.kind, other.bytes.value_or(0), first.kind, first.bytes.value_or(0),
                       list.ranks[members.front().rank].rank));
  }
  const std::int64_t size = first.group_size.value_or(0);
  if (size > 0 && std::ssize(members) > size)
    refuse(list, members.back(),
           fmt::format("{} ranks join this {}, whose group has {}", members.size(), first.kind, size));
}

}  // namespace

bool runs_on_gpu(const ListedOperator& listed) {
  if (listed.kernels == 0) return false;
  return !listed.collective || (!listed.collective->is_wait && listed.collective->group_size != 1);
}

std::vector<std::vector<ListedMember>> matched_members(const OperatorList& list) {
  std::map<Key, std::vector<ListedMember>> members;
  for (std::uint32_t number = 0; number < list.ranks.size(); ++number) {
    GroupNames names;
    std::map<std::string, std::int64_t> ordinals;
    std::map<std::pair<std::string, std::int64_t>, int> repetitions;
    const std::vector<ListedOperator>& operators = list.ranks[number].operators;
    for (std::uint32_t place = 0; place < operators.size(); ++place) {
      const ListedOperator& listed = operators[place];
      if (!listed.collective || !runs_on_gpu(listed) || !has_partners(*listed.collective)) continue;
      const std::string group = names.name(*listed.collective);
      const std::optional<std::int64_t>& sequence = listed.collective->sequence;
      const std::int64_t ordinal = ordinals[group]++;
      const std::int64_t at = sequence.value_or(ordinal);
      const int repetition = sequence ? repetitions[{group, at}]++ : 0;
      members[Key{group, sequence.has_value(), at, repetition}].push_back({number, place});
    }
  }
  std::vector<std::vector<ListedMember>> found;
  for (auto& [key, joined] : members) {
    if (joined.size() < 2 && list.ranks.size() > 1) continue;  // the others were not recorded
    check(list, joined);
    found.push_back(std::move(joined));
  }
  return found;
}

std::vector<std::uint32_t> group_numbers(const RankOperators& rank) {
  std::map<std::string, std::uint32_t> known;
  std::vector<std::uint32_t> numbers;
  numbers.reserve(rank.operators.size());
  for (const ListedOperator& listed : rank.operators) {
    if (!listed.collective || !runs_on_gpu(listed)) {
      numbers.push_back(kNoIndex);
      continue;
    }
    const auto next = static_cast<std::uint32_t>(known.size());
    numbers.push_back(known.try_emplace(listed.collective->group, next).first->second);
  }
  return numbers;
}

}}  // namespace c3::traces
