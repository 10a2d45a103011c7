#include "workloads/program/member_roles.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace c3 { inline namespace workloads {
namespace {

/// What a member keeps, sends and receives, the last two in order of size.
using Sizes = std::tuple<Bytes, std::vector<Bytes>, std::vector<Bytes>>;

Sizes sizes_of(const CollectiveCall& call, std::size_t members, std::size_t member) {
  std::vector<Bytes> sent, received;
  for (std::size_t other = 0; other < members; ++other) {
    if (other == member) continue;
    sent.push_back(call.sends[member * members + other]);
    received.push_back(call.sends[other * members + member]);
  }
  std::ranges::sort(sent);
  std::ranges::sort(received);
  return {call.sends[member * members + member], std::move(sent), std::move(received)};
}

}  // namespace

std::vector<std::uint32_t> member_roles(const CollectiveCall& call, const std::vector<int>& members) {
  std::vector<std::uint32_t> roles;
  if (is_rooted(call.kind)) {
    for (const int rank : members)
      roles.push_back(rank == call.root ? 1 : 0);
  } else if (call.kind == CollectiveKind::all_to_all_v) {
    std::map<Sizes, std::uint32_t> numbers;
    for (std::size_t i = 0; i < members.size(); ++i)
      roles.push_back(
          numbers.try_emplace(sizes_of(call, members.size(), i), static_cast<std::uint32_t>(numbers.size()))
              .first->second);
  }
  return roles;
}

}}  // namespace c3::workloads
