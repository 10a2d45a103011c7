#include "collectives/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>

#include "engine/errors.hpp"

namespace c3 { inline namespace collectives {
namespace {

constexpr Bytes kFlag{4};  // one rank's flag in a barrier

[[noreturn]] void refuse(const CollectiveCall& call, const std::string& why) {
  throw InfeasibleError(fmt::format("{}: {}", name_of(call.kind), why));
}

/// Whether each rank is by itself: a collective of a trace that does not say who else took part, of which a
/// replay keeps the recorded time.
bool is_of_one(const CollectiveCall& call) {
  return call.kind == CollectiveKind::barrier && call.groups && call.groups->size == 1;
}

void check_group(const CollectiveCall& call, const std::vector<int>& members, int ranks) {
  std::vector<bool> seen(static_cast<std::size_t>(ranks));
  for (const int rank : members) {
    if (rank < 0 || rank >= ranks) refuse(call, fmt::format("there is no rank {} of {}", rank, ranks));
    if (seen[static_cast<std::size_t>(rank)]) refuse(call, fmt::format("rank {} is in the group twice", rank));
    seen[static_cast<std::size_t>(rank)] = true;
  }
  if (members.size() < 2 && !is_of_one(call)) refuse(call, "a collective needs at least two ranks");
  if (is_rooted(call.kind) && std::ranges::find(members, call.root) == members.end()) {
    refuse(call, fmt::format("root {} is not in the group", call.root));
  }
}

void check_groups(const CollectiveCall& call, int ranks) {
  const auto& [size, stride] = *call.groups;
  if (!call.ranks.empty()) refuse(call, "takes either one group (ranks) or several (groups), not both");
  if (is_rooted(call.kind)) refuse(call, "has one root and supports one group (ranks), not several (groups)");
  if (size < 2 && !is_of_one(call)) refuse(call, fmt::format("a group needs at least two ranks, not {}", size));
  if (stride < 1) refuse(call, fmt::format("members of a group are at least 1 apart, not {}", stride));
  if (ranks % (std::int64_t{size} * stride) != 0) {
    refuse(call,
           fmt::format("groups of {} ranks that are {} apart do not divide {} ranks", size, stride, ranks));
  }
}

void check_sizes(const CollectiveCall& call, std::size_t members) {
  if (call.kind == CollectiveKind::barrier) return;
  if (call.kind != CollectiveKind::all_to_all_v) {
    if (!(call.bytes.value > 0.0)) {
      refuse(call, fmt::format("the size must be positive, it is {} B", call.bytes.value));
    }
    return;
  }
  if (call.sends.size() != members * members) {
    refuse(call, fmt::format("{} sizes for {} ranks: there must be one for each pair, {} by {}",
                             call.sends.size(), members, members, members));
  }
  bool any = false;
  for (std::size_t i = 0; i < call.sends.size(); ++i) {
    if (!(call.sends[i].value >= 0.0)) refuse(call, "a size is below 0");
    any = any || (i / members != i % members && call.sends[i].value > 0.0);
  }
  if (!any) refuse(call, "no rank sends anything to another");
}

Bytes sent_by(const CollectiveCall& call, std::size_t members, std::size_t index) {
  const auto row = call.sends.begin() + static_cast<std::ptrdiff_t>(index * members);
  return std::accumulate(row, row + static_cast<std::ptrdiff_t>(members), Bytes{});
}

Bytes received_by(const CollectiveCall& call, std::size_t members, std::size_t index) {
  Bytes sum;
  for (std::size_t from = 0; from < members; ++from)
    sum += call.sends[from * members + index];
  return sum;
}

}  // namespace

std::optional<CollectiveKind> collective_named(std::string_view written) {
  const auto bare = [](std::string_view name) {
    std::string letters(name);
    std::ranges::transform(letters, letters.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::string_view kProgram = "_perf";  // nccl-tests: all_reduce_perf
    if (letters.ends_with(kProgram)) letters.resize(letters.size() - kProgram.size());
    std::erase_if(letters, [](char c) { return c == '_' || c == '-' || c == ' '; });
    return letters == "sendrecv" ? "sendreceive" : letters;
  };
  const auto* const found = std::ranges::find(kCollectiveKinds, bare(written),
                                              [&](CollectiveKind kind) { return bare(name_of(kind)); });
  return found == kCollectiveKinds.end() ? std::nullopt : std::optional(*found);
}

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::reduce;
}

bool is_rooted(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce ||
         kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
}

bool sends_in_pairs(CollectiveKind kind) {
  return kind == CollectiveKind::all_to_all || kind == CollectiveKind::all_to_all_v ||
         kind == CollectiveKind::gather || kind == CollectiveKind::scatter ||
         kind == CollectiveKind::send_receive;
}

int group_number(const RankGroups& groups, int rank) {
  return rank / groups.block() * groups.stride + rank % groups.stride;
}

int peer_of(const RankGroups& groups, int rank, int offset) {
  const int place = rank % groups.block() / groups.stride;
  const int there = ((place + offset) % groups.size + groups.size) % groups.size;
  return rank + (there - place) * groups.stride;
}

std::vector<int> group_of(const RankGroups& groups, int rank) {
  const int first = rank / groups.block() * groups.block() + rank % groups.stride;
  std::vector<int> members;
  for (int i = 0; i < groups.size; ++i)
    members.push_back(first + i * groups.stride);
  return members;
}

std::vector<int> members_of(const CollectiveCall& call, int ranks) {
  if (call.groups) check_groups(call, ranks);
  std::vector<int> members = call.groups ? group_of(*call.groups, 0) : call.ranks;
  if (members.empty()) {
    members.resize(static_cast<std::size_t>(std::max(ranks, 0)));
    std::iota(members.begin(), members.end(), 0);
  }
  check_group(call, members, ranks);
  check_sizes(call, members.size());
  return members;
}

int member_count(const CollectiveCall& call, int ranks) {
  if (call.groups) return call.groups->size;
  return call.ranks.empty() ? ranks : static_cast<int>(call.ranks.size());
}

std::vector<CollectiveCall> calls_by_group(const CollectiveCall& call, int ranks) {
  members_of(call, ranks);  // refuses what is wrong
  if (!call.groups) return {call};
  std::vector<CollectiveCall> calls;
  for (int block = 0; block < ranks; block += call.groups->block()) {
    for (int first = block; first < block + call.groups->stride; ++first) {
      CollectiveCall& of_group = calls.emplace_back(call);
      of_group.ranks = group_of(*call.groups, first);
      of_group.groups.reset();
    }
  }
  return calls;
}

bool any_takes_part(const std::vector<int>& members, const std::vector<int>& on) {
  return on.empty() || std::ranges::find_first_of(members, on) != members.end();
}

Bytes counted_bytes(const CollectiveCall& call, int members) {
  if (call.kind == CollectiveKind::barrier) return kFlag * static_cast<double>(members);
  if (call.kind != CollectiveKind::all_to_all_v) return call.bytes;
  Bytes most;
  const auto count = static_cast<std::size_t>(members);
  for (std::size_t index = 0; index < count; ++index)
    most = std::max(most, sent_by(call, count, index));
  return most;
}

Bytes input_bytes(const CollectiveCall& call, int members) {
  const Bytes counted = counted_bytes(call, members);
  const bool from_shards = call.kind == CollectiveKind::all_gather || call.kind == CollectiveKind::barrier ||
                           call.kind == CollectiveKind::gather;
  return from_shards ? counted / static_cast<double>(members) : counted;
}

Bytes output_bytes(const CollectiveCall& call, int members) {
  const Bytes counted = counted_bytes(call, members);
  const bool to_shards = call.kind == CollectiveKind::reduce_scatter || call.kind == CollectiveKind::scatter;
  return to_shards ? counted / static_cast<double>(members) : counted;
}

BytesPerSecond algorithm_bandwidth(const CollectiveCall& call, int members, Seconds time) {
  return counted_bytes(call, members) / time;
}

double bus_factor(CollectiveKind kind, int members) {
  const double others = static_cast<double>(members - 1) / members;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2.0 * others;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      return others;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::send_receive:
    case CollectiveKind::barrier:
      return 1.0;
  }
  throw std::logic_error("bus_factor: unknown collective");
}

BytesPerSecond bus_bandwidth(const CollectiveCall& call, int members, Seconds time) {
  return algorithm_bandwidth(call, members, time) * bus_factor(call.kind, members);
}

LeastBytes least_bytes(const CollectiveCall& call, const std::vector<int>& members, std::size_t index,
                       bool in_switch) {
  const auto n = static_cast<double>(members.size());
  const Bytes whole = call.bytes;
  const Bytes others = whole * ((n - 1.0) / n);
  const bool is_root = members[index] == call.root;
  switch (call.kind) {
    case CollectiveKind::all_reduce:  // a rank sends its part of each element or the sum, and gets the other
      return {whole, whole, 2.0 * whole};
    case CollectiveKind::all_gather:  // a switch multicasts one shard
      return {in_switch ? whole / n : others, others, whole};
    case CollectiveKind::reduce_scatter:
      return {others, in_switch ? whole / n : others, whole};
    case CollectiveKind::all_to_all:
      return {others, others, 2.0 * others};
    case CollectiveKind::all_to_all_v: {
      const Bytes kept = call.sends[index * members.size() + index];
      const Bytes out = sent_by(call, members.size(), index) - kept;
      const Bytes in = received_by(call, members.size(), index) - kept;
      return {out, in, out + in};
    }
    case CollectiveKind::broadcast:
      return is_root ? LeastBytes{whole, Bytes{}, whole} : LeastBytes{Bytes{}, whole, whole};
    case CollectiveKind::reduce:
      return is_root ? LeastBytes{Bytes{}, whole, whole} : LeastBytes{whole, Bytes{}, whole};
    case CollectiveKind::gather:
      return is_root ? LeastBytes{Bytes{}, others, others} : LeastBytes{whole / n, Bytes{}, whole / n};
    case CollectiveKind::scatter:
      return is_root ? LeastBytes{others, Bytes{}, others} : LeastBytes{Bytes{}, whole / n, whole / n};
    case CollectiveKind::send_receive:
      return {whole, whole, 2.0 * whole};
    case CollectiveKind::barrier:
      return {};
  }
  throw std::logic_error("least_bytes: unknown collective");
}

Bytes least_traffic(const CollectiveCall& call, const std::vector<int>& members, bool in_switch) {
  if (call.kind == CollectiveKind::all_reduce && !in_switch) {
    return 2.0 * static_cast<double>(members.size() - 1) * call.bytes;  // parts to one rank, the sum back
  }
  Bytes sum;
  for (std::size_t i = 0; i < members.size(); ++i)
    sum += least_bytes(call, members, i, in_switch).out;
  return sum;
}

}}  // namespace c3::collectives
