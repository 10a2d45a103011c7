// Partners at doubling distances exchange halving bytes; one more step each way for ranks beyond a power of
// two.

#include <bit>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/entry.hpp"

namespace c3 { inline namespace collectives {
namespace {

/// Recursive halving, then doubling, over the largest power of two of ranks. In an all_reduce each further rank
/// hands its data to one of those before, and gets the sum after.
class HalvingDoubling {
 public:
  explicit HalvingDoubling(const GraphRequest& request)
      : request_(request),
        graph_(request.builder(1)),
        ranks_(request.layout.node_by_node()),
        core_(static_cast<int>(std::bit_floor(ranks_.size()))),
        arrivals_(ranks_.size()) {}

  TransferGraph take() {
    const CollectiveKind kind = request_.call.kind;
    const int extra = request_.ranks() - core_;
    const Bytes whole = request_.call.bytes;
    if (extra > 0) hand_over(extra, whole, core_, 0, TransferOp::update);
    if (kind != CollectiveKind::all_gather) {
      for (int distance = 1; distance < core_; distance *= 2)
        exchange(distance, whole / (2.0 * distance), TransferOp::update);
    }
    if (kind != CollectiveKind::reduce_scatter) {
      for (int distance = core_ / 2; distance > 0; distance /= 2)
        exchange(distance, whole / (2.0 * distance), TransferOp::store);
    }
    if (extra > 0) hand_over(extra, whole, 0, core_, TransferOp::store);
    return graph_.take();
  }

 private:
  /// Rank from + i sends everything to rank to + i.
  void hand_over(int count, Bytes bytes, int from, int to, TransferOp op) {
    for (int i = 0; i < count; ++i)
      send(from + i, to + i, bytes, op);
    end_step();
  }

  void exchange(int distance, Bytes bytes, TransferOp op) {
    for (int at = 0; at < (request_.form.folded ? 1 : core_); ++at)
      send(at, at ^ distance, bytes, op);
    end_step();
  }

  void send(int from, int to, Bytes bytes, TransferOp op) {
    const auto src = static_cast<std::size_t>(from), dst = static_cast<std::size_t>(to);
    Transfer transfer{ranks_[src], ranks_[dst], 0, step_, bytes, arrivals_[src], op};
    transfer.stage = step_;
    // When the graph is folded, rank 0's transfer stands for its partner's.
    coming_.emplace_back(request_.form.folded ? src : dst, graph_.add(std::move(transfer)));
  }

  /// All that has come up to now is waited for by what is sent next.
  void end_step() {
    for (const auto& [at, position] : coming_)
      arrivals_[at].push_back(position);
    coming_.clear();
    ++step_;
  }

  const GraphRequest& request_;
  GraphBuilder graph_;
  std::vector<int> ranks_;  ///< node by node, so that the near partners of the large pieces share a node
  int core_;
  int step_ = 0;
  std::vector<std::vector<std::uint32_t>> arrivals_;  ///< indexed by position in ranks_
  std::vector<std::pair<std::size_t, std::uint32_t>> coming_;
};

TransferGraph graph(const GraphRequest& request) {
  const bool is_power = std::has_single_bit(static_cast<unsigned>(request.ranks()));
  if (!is_power && request.call.kind != CollectiveKind::all_reduce)
    request.refuse("takes a power of two of ranks, not " + std::to_string(request.ranks()));
  return HalvingDoubling(request).take();
}

/// Partners at different distances share a link of a mesh both ways.
bool is_alike(CollectiveKind, const GroupShape& group, const NodeSpec& node) {
  return std::has_single_bit(static_cast<unsigned>(group.ranks)) &&
         (group.one_gpu || node.topology == NodeTopology::switched);
}

}  // namespace

extern constexpr AlgorithmEntry kHalvingDoubling = {
    .name = "halving_doubling", .supports = goes_in_parts, .graph = graph, .is_symmetric = is_alike};

}}  // namespace c3::collectives
