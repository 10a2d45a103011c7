#pragma once
/// What is asked of a collective.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "engine/units.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace collectives {

enum class CollectiveKind {
  all_reduce,      ///< every rank ends with the sum over ranks
  all_gather,      ///< every rank ends with every rank's shard
  reduce_scatter,  ///< rank i ends with the sum of all ranks' shards i
  all_to_all,      ///< rank i's shard j goes to rank j
  all_to_all_v,    ///< the same with a size for each pair
  broadcast,       ///< every rank ends with the root's data
  reduce,          ///< the root ends with the sum over ranks
  gather,          ///< the root ends with every rank's shard
  scatter,         ///< rank i ends with the root's shard i
  send_receive,    ///< every rank sends to the next one of its group, the last to the first
  barrier,         ///< every rank learns that all have come
};
constexpr auto enum_names(CollectiveKind) {
  return std::to_array<EnumName<CollectiveKind>>({{"all_reduce", CollectiveKind::all_reduce},
                                                  {"all_gather", CollectiveKind::all_gather},
                                                  {"reduce_scatter", CollectiveKind::reduce_scatter},
                                                  {"all_to_all", CollectiveKind::all_to_all},
                                                  {"all_to_all_v", CollectiveKind::all_to_all_v},
                                                  {"broadcast", CollectiveKind::broadcast},
                                                  {"reduce", CollectiveKind::reduce},
                                                  {"gather", CollectiveKind::gather},
                                                  {"scatter", CollectiveKind::scatter},
                                                  {"send_receive", CollectiveKind::send_receive},
                                                  {"barrier", CollectiveKind::barrier}});
}
inline constexpr auto kCollectiveKinds = enum_values<CollectiveKind>();
/// The one that \p written names as libraries, benchmarks and papers spell it: "AllReduce", "all-to-all",
/// "alltoall_perf", "sendrecv".
std::optional<CollectiveKind> collective_named(std::string_view written);

/// Whether data are added, which copy engines cannot do.
bool reduces(CollectiveKind kind);
/// Whether one rank, the root, has all data before or after.
bool is_rooted(CollectiveKind kind);
/// Whether libraries run it as sends and receives, each pair of ranks by itself (NCCL's and RCCL's ncclSend).
bool sends_in_pairs(CollectiveKind kind);

/// All ranks in groups of `size`: members are `stride` apart, within blocks of size x stride ranks. With stride
/// 1 neighbours, as of tensor parallelism; with stride t those that are alike in groups of t, as of data
/// parallelism.
struct RankGroups {
  int size = 0;  ///< >= 2; 1 of a barrier: each rank by itself
  int stride = 1;

  int block() const { return size * stride; }
  bool operator==(const RankGroups&) const = default;
};

/// The number of \p rank's group, counted from 0: block after block, within a block ordered by first rank.
int group_number(const RankGroups& groups, int rank);
/// The members of \p rank's group, in their order.
std::vector<int> group_of(const RankGroups& groups, int rank);
/// The rank \p offset places after \p rank in its group, counted around; before it where \p offset is negative.
int peer_of(const RankGroups& groups, int rank, int offset);

/// One collective over a group of ranks, or the same in several groups at once, each by itself.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::all_gather;
  /// Total buffer as nccl-tests counts it: of one rank for all_reduce, broadcast, reduce and send_receive;
  /// over all ranks for all_gather, reduce_scatter, all_to_all, gather and scatter; ignored by all_to_all_v and
  /// barrier.
  Bytes bytes = {};
  std::optional<DType> dtype = std::nullopt;  ///< absent when only a size was asked for
  std::vector<int> ranks = {};                ///< the group, in its order; empty: all ranks of the cluster
  std::optional<RankGroups> groups = std::nullopt;  ///< instead of `ranks`: several groups
  int root = 0;                                     ///< the root's rank, for rooted kinds
  bool in_place = false;          ///< all_gather: every rank's shard is where it belongs already
  std::vector<Bytes> sends = {};  ///< all_to_all_v: what member i sends to member j at i * members + j

  bool operator==(const CollectiveCall&) const = default;
};

/// The group of \p call on a cluster of \p ranks; of several rank 0's. \throws InfeasibleError, naming the
/// call, for a rank that it has not, a rank twice, fewer than two ranks, a root outside the group, a size that
/// is not positive, sends that are not one for each pair, or groups that do not divide the ranks or have a
/// root.
std::vector<int> members_of(const CollectiveCall& call, int ranks);
/// How many they are.
int member_count(const CollectiveCall& call, int ranks);
/// \p call in each of its groups, by group_number, with their ranks written out; else itself. \throws
/// InfeasibleError as members_of.
std::vector<CollectiveCall> calls_by_group(const CollectiveCall& call, int ranks);

/// Whether one of \p members is among \p on, the ranks that take part; empty: all do.
bool any_takes_part(const std::vector<int>& members, const std::vector<int>& on);

/// The buffer that bandwidths refer to: the call's bytes; of all_to_all_v what the busiest rank sends, itself
/// included; of a barrier a flag from each rank.
Bytes counted_bytes(const CollectiveCall& call, int members);

/// What a rank of the group holds before and after; the busiest one's for all_to_all_v.
Bytes input_bytes(const CollectiveCall& call, int members);
Bytes output_bytes(const CollectiveCall& call, int members);

/// counted_bytes over time.
BytesPerSecond algorithm_bandwidth(const CollectiveCall& call, int members, Seconds time);
/// nccl-tests' ratio of bus to algorithm bandwidth: 2(n-1)/n for all_reduce, (n-1)/n for all_gather,
/// reduce_scatter, all-to-all, gather and scatter, 1 for the others.
double bus_factor(CollectiveKind kind, int members);
/// algorithm_bandwidth times bus_factor. With in-switch algorithms it is no wire rate.
BytesPerSecond bus_bandwidth(const CollectiveCall& call, int members, Seconds time);

/// Bytes that no algorithm can avoid.
struct LeastBytes {
  Bytes out, in;  ///< over its links
  Bytes hbm;      ///< read and written
};
/// The least bytes of \p members[index].
/// \param in_switch whether the switch can add and multicast, which saves bytes on links
LeastBytes least_bytes(const CollectiveCall& call, const std::vector<int>& members, std::size_t index,
                       bool in_switch);
/// The least bytes of all members together, over their links; some rank has at least the average. This exceeds
/// the sum of what each could do with where one's saving is another's work.
Bytes least_traffic(const CollectiveCall& call, const std::vector<int>& members, bool in_switch);

}}  // namespace c3::collectives
