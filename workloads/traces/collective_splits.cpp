#include "workloads/traces/collective_splits.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace c3 { inline namespace traces {
namespace {

using Counts = std::vector<std::int64_t>;

/// The splits of one member, in elements.
class MemberSplits {
 public:
  MemberSplits(const CollectiveMember& member, std::size_t members, const std::vector<Rank>& ranks)
      : rank_(ranks[member.rank]), kernel_(rank_.collectives[member.collective]), members_(members) {}

  std::optional<Counts> sent() const { return elements("in", kernel_.in_splits, kernel_.in_elements); }
  std::optional<Counts> received() const { return elements("out", kernel_.out_splits, kernel_.out_elements); }
  std::optional<std::int64_t> element() const { return element_bytes(kernel_.dtype); }
  int number() const { return rank_.number(); }

  [[noreturn]] void refuse(const std::string& why) const {
    throw TraceSetError(rank_.place(rank_.trace.activities[kernel_.activity]), why);
  }

 private:
  std::optional<Counts> elements(std::string_view side, const std::optional<Counts>& splits,
                                 std::optional<std::int64_t> whole) const {
    if (!splits || !whole) return std::nullopt;
    const auto members = static_cast<std::int64_t>(members_);
    if (splits->empty()) {
      if (*whole % members != 0)
        refuse(fmt::format("{} elements of an all-to-all cannot be divided into {} equal shares", *whole,
                           members));
      return Counts(members_, *whole / members);
    }
    if (std::ssize(*splits) != members)
      refuse(fmt::format("an all-to-all of {} ranks has {} {}-splits: one of each rank is needed", members,
                         splits->size(), side));
    const std::int64_t rows = std::accumulate(splits->begin(), splits->end(), std::int64_t{0});
    if (rows == 0 ? *whole != 0 : *whole % rows != 0)
      refuse(
          fmt::format("the {}-splits of an all-to-all add up to {} rows, which do not divide its {} elements",
                      side, rows, *whole));
    Counts counts = *splits;
    for (std::int64_t& count : counts)
      count *= rows == 0 ? 0 : *whole / rows;
    return counts;
  }

  const Rank& rank_;
  const CollectiveKernel& kernel_;
  std::size_t members_;
};

}  // namespace

bool has_unequal_shares(const CollectiveInstance& instance, const std::vector<Rank>& ranks) {
  return std::ranges::any_of(instance.members, [&](const CollectiveMember& member) {
    const CollectiveKernel& kernel = ranks[member.rank].collectives[member.collective];
    return kernel.kind == "all_to_all" && !kernel.splits.empty();
  });
}

std::vector<std::int64_t> bytes_of_pairs(const CollectiveInstance& instance, const std::vector<Rank>& ranks) {
  const std::size_t size = instance.members.size();
  const bool is_whole = std::ranges::all_of(instance.members, [&](const CollectiveMember& member) {
    const auto group = ranks[member.rank].collectives[member.collective].group_size;
    return !group || *group == std::ssize(instance.members);
  });
  if (!is_whole) return {};  // the splits are of ranks that were not recorded, too
  std::vector<MemberSplits> members;
  for (const CollectiveMember& member : instance.members)
    members.emplace_back(member, size, ranks);
  std::vector<std::int64_t> bytes;
  for (const MemberSplits& member : members) {
    const std::optional<Counts> sent = member.sent();
    const std::optional<std::int64_t> element = member.element();
    if (!sent || !element) return {};
    for (const std::int64_t count : *sent)
      bytes.push_back(count * *element);
  }
  for (std::size_t to = 0; to < size; ++to) {
    const std::optional<Counts> received = members[to].received();
    for (std::size_t from = 0; received && from < size; ++from) {
      const std::int64_t sent = bytes[from * size + to], expected = (*received)[from] * *members[to].element();
      if (sent == expected) continue;
      members[to].refuse(
          fmt::format("rank {} receives {} B of rank {} in an all-to-all, which sends it {} B: out-splits must "
                      "be what others send",
                      members[to].number(), expected, members[from].number(), sent));
    }
  }
  return bytes;
}

}}  // namespace c3::traces
