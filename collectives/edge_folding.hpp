#pragma once
/// Edges of one collective, of all groups that do the same at the same time, in classes.

#include <cstddef>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "collectives/planned_flows.hpp"
#include "interconnect/interconnect.hpp"

namespace c3 { inline namespace collectives {

/// Groups of as many ranks of each class, in which members of equal places have equal positions on their nodes,
/// so that a graph of the first is one of each.
using AlikeGroups = std::vector<std::vector<int>>;

/// Sorts \p groups by the classes of their members and by where they are, in the order of the first of each
/// kind.
std::vector<AlikeGroups> by_kind(const AlikeGroups& groups, const RankPartition& ranks, int node_gpus);

/// Whether edges of some lane carry unlike bytes, as those of an all-to-all with a size for each pair do.
bool has_uneven_lanes(const TransferGraph& graph);

/// Makes one leg of all edges of a class: those between ranks of the same two classes, on one lane, within
/// nodes or between them. What they load is told to the interconnect; a member's memory gets the mean.
class EdgeFolding final : public LegFolding {
 public:
  /// \p groups as by_kind sorts them; transfers are those of the first of each kind. All must outlive it.
  /// \param is_uneven whether edges of a lane carry unlike bytes, see has_uneven_lanes
  EdgeFolding(Interconnect& links, const RankPartition& ranks, const std::vector<AlikeGroups>& groups,
              bool is_uneven = false);

  Key key_of(int src, int dst) const override;
  std::vector<Leg> fold(const std::vector<Leg>& legs) override;
  /// What the legs that it made refer to, which must outlive them.
  std::deque<LegShares> take_shares() { return std::move(shares_); }

  /// The greatest spread, over the mean, of what ranks of a class send and receive in all legs so far: they are
  /// taken to send and receive that mean. For uneven lanes, it includes the spread of what ranks send and
  /// receive on one lane, over all that they do: they are then busy with unlike lanes at one time. 0 where
  /// nothing was averaged.
  double inequity() const;

 private:
  struct Place {
    std::size_t kind = 0;
    std::size_t position = 0;  ///< position in the group
  };
  struct LegClass {
    Leg first;
    std::vector<Bytes> bytes;       ///< one per edge
    std::vector<Edge> edges;        ///< what the interconnect is told of them
    std::vector<std::size_t> ends;  ///< position in `edges` behind each edge's part
    std::map<int, double>
        switched;  ///< indexed by class: edges whose bytes the switch reads or writes at a member
  };
  void add(LegClass& leg_class, const Leg& leg);
  void add_switch_edges(LegClass& leg_class, const Leg& leg, const std::vector<int>& group) const;
  Leg closed(LegClass leg_class);

  Interconnect& links_;
  const RankPartition& ranks_;
  const std::vector<AlikeGroups>& groups_;
  std::unordered_map<int, Place> places_;  ///< indexed by rank; ranks of the first group of each kind
  std::deque<LegShares> shares_;
  bool is_uneven_;
  std::unordered_map<int, double> sent_, received_;                       ///< bytes by rank
  std::map<int, std::unordered_map<int, double>> sent_on_, received_on_;  ///< the same by lane, of uneven ones
};

}}  // namespace c3::collectives
