// A chain within each node and two binary trees over nodes (all_reduce); two trees under one root (broadcast,
// reduce), over ranks on one node.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/double_tree.hpp"
#include "collectives/algorithms/entry.hpp"
#include "collectives/algorithms/node_paths.hpp"
#include "collectives/library/channel_context.hpp"
#include "interconnect/interconnect.hpp"

namespace c3 { inline namespace collectives {
namespace {

using Chain = std::vector<int>;  ///< ranks of a node, its head first

/// One tree of chains: sums go up each chain to its head and from head to head, results the same way down.
class ChainTree {
 public:
  /// \p numbered: chains by number in the tree.
  ChainTree(GraphBuilder& graph, int lane, Bytes bytes, std::vector<Chain> numbered)
      : graph_(graph),
        lane_(lane),
        bytes_(bytes),
        tree_{static_cast<int>(numbered.size())},
        chains_(std::move(numbered)) {}

  void add(CollectiveKind kind) {
    std::vector<std::uint32_t> here;
    if (kind != CollectiveKind::broadcast) here = add_up(0);
    if (kind != CollectiveKind::reduce) add_down(0, here);
  }

 private:
  const Chain& chain(int number) const { return chains_[static_cast<std::size_t>(number)]; }

  std::uint32_t send(int src, int dst, std::vector<std::uint32_t> after, TransferOp op) {
    return graph_.add_next({src, dst, lane_, 0, bytes_, std::move(after), op});
  }

  /// \returns what arrives at the head of chain \p number.
  std::vector<std::uint32_t> add_up(int number) {
    std::vector<std::uint32_t> here;
    for (const int child : tree_.children(number)) {
      std::vector<std::uint32_t> below = add_up(child);
      here.push_back(send(chain(child).front(), chain(number).front(), std::move(below), TransferOp::update));
    }
    std::vector<std::uint32_t> along;
    for (std::size_t at = chain(number).size() - 1; at > 0; --at)
      along = {send(chain(number)[at], chain(number)[at - 1], along, TransferOp::update)};
    here.insert(here.end(), along.begin(), along.end());
    return here;
  }

  /// \p here: what the head of chain \p number waits for.
  void add_down(int number, const std::vector<std::uint32_t>& here) {
    std::vector<std::uint32_t> along = here;
    for (std::size_t at = 0; at + 1 < chain(number).size(); ++at)
      along = {send(chain(number)[at], chain(number)[at + 1], along, TransferOp::store)};
    for (const int child : tree_.children(number))
      add_down(child, {send(chain(number).front(), chain(child).front(), here, TransferOp::store)});
  }

  GraphBuilder& graph_;
  int lane_;
  Bytes bytes_;
  InOrderTree tree_;
  std::vector<Chain> chains_;
};

/// Every rank a chain of its own.
std::vector<Chain> single_ranks(const std::vector<int>& members) {
  std::vector<Chain> chains;
  for (const int rank : members)
    chains.push_back({rank});
  return chains;
}

/// Sets of chains, one chain a node; set k begins at GPUs of rail k.
std::vector<std::vector<Chain>> chains_by_rail(const GraphRequest& request) {
  const NodeSpec& node = request.cluster.node;
  std::vector<std::vector<Chain>> ways;
  std::size_t rails = 0;
  for (const std::vector<int>& ranks : request.layout.nodes) {
    const int first = ranks.front() / node.gpus * node.gpus;
    std::vector<int> gpus;
    for (const int rank : ranks)
      gpus.push_back(rank - first);
    ways.push_back(request.layout.node_count() > 1 ? node_paths(node, gpus, request.nics())
                                                   : disjoint_rings(node, gpus));
    for (Chain& way : ways.back())
      std::ranges::transform(way, way.begin(), [&](int gpu) { return first + gpu; });
    rails = std::max(rails, ways.back().size());
  }
  std::vector<std::vector<Chain>> by_rail(rails);
  for (std::size_t rail = 0; rail < rails; ++rail) {
    for (const std::vector<Chain>& of_node : ways)
      by_rail[rail].push_back(of_node[rail % of_node.size()]);
  }
  return by_rail;
}

/// The chain of the root's node first, and in it the root.
void put_first(std::vector<Chain>& chains, int root) {
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const auto found = std::ranges::find(chains[i], root);
    if (found == chains[i].end()) continue;
    std::ranges::rotate(chains[i], found);
    Chain first = std::move(chains[i]);
    chains.erase(chains.begin() + static_cast<std::ptrdiff_t>(i));
    chains.insert(chains.begin(), std::move(first));
    return;
  }
}

TransferGraph graph(const GraphRequest& request) {
  const CollectiveCall& call = request.call;
  const bool rooted = is_rooted(call.kind);
  const bool one_node = request.layout.node_count() == 1;
  std::vector<std::vector<Chain>> by_rail = chains_by_rail(request);
  if (one_node && rooted) by_rail = {single_ranks(request.members)};
  const int trees = one_node && !rooted ? 1 : 2;
  const int lanes = request.lanes(by_rail.size() * static_cast<std::size_t>(trees));
  GraphBuilder builder = request.builder(lanes, /*pipelined=*/true);
  for (int lane = 0; lane < lanes; ++lane) {
    std::vector<Chain> chains = by_rail[static_cast<std::size_t>(lane / trees)];
    if (rooted) put_first(chains, call.root);
    std::vector<int> numbers(chains.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    numbers = rooted ? rooted_numbering(numbers, lane % trees) : nccl_numbering(numbers, lane % trees);
    std::vector<Chain> numbered;
    for (const int vertex : numbers)
      numbered.push_back(chains[static_cast<std::size_t>(vertex)]);
    ChainTree(builder, lane, call.bytes / static_cast<double>(lanes), std::move(numbered)).add(call.kind);
  }
  return builder.take();
}

bool supports(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce ||
         kind == CollectiveKind::all_reduce;
}

// --- What authors expect and have measured.

BytesPerSecond cap(const PublishedFigures& figures, const std::array<double, 3>& of_channel) {
  return gigabytes(of_channel[figures.index_of_nodes()] * figures.graphs.tree.channels);
}

/// Algorithm bandwidth that the tuner expects, before its correction by size.
BytesPerSecond expected_rate(const PublishedFigures& figures, Protocol protocol) {
  if (const TunerShares* shares = figures.table.shares)
    return figures.bandwidth() * (0.5 * figures.share(shares->tree, &shares->tree_by_size, protocol));
  BytesPerSecond bus =
      std::min(figures.bandwidth(figures.graphs.tree) * kTreeShare, cap(figures, figures.caps.tree));
  if (protocol == Protocol::ll) bus = std::min(bus / kTreeDivisorInLl, figures.most_in_ll());
  if (protocol == Protocol::ll128) {
    bus = std::min(bus * (figures.nodes == 1 ? kTreeShareInLl128 : kLinePayload),
                   cap(figures, figures.caps.tree_ll128));
  }
  const double plain = figures.ranks == figures.nodes ? kPlainTreeShare : 1.0;
  return bus * (0.5 * plain);
}

/// [us]
double expected_latency(const PublishedFigures& figures, Protocol its_protocol) {
  const auto protocol = static_cast<std::size_t>(its_protocol);
  const TunerTable& table = figures.table;
  const double within = (figures.over_pcie ? table.tree_pcie : table.tree_hop)[protocol];
  const int in_chain = figures.ranks / figures.nodes - 1;
  return table.tree_base[protocol] + 2.0 * (in_chain * within + figures.depth() * table.tree_network[protocol]);
}

std::optional<Seconds> expected_time(const PublishedFigures& figures, Protocol protocol) {
  const bool left_out =
      figures.library.rules == TunerRules::rccl && figures.nodes == 1 && protocol == Protocol::simple;
  if (!figures.reduces_to_all() || left_out) return std::nullopt;
  const double correction =
      figures.library.rules == TunerRules::nccl ? tree_correction(protocol, figures.log_size()) : 1.0;
  const BytesPerSecond expected = expected_rate(figures, protocol) * correction;
  return microseconds(expected_latency(figures, protocol)) + figures.call.bytes / expected;
}

/// What was measured at the sizes in NCCL's table and between them; its tuner takes that of the size below.
double correction_between(const PublishedFigures& figures, Protocol protocol) {
  const int below = figures.log_size();
  if (below < 0) return 1.0;
  const double part = std::log2(figures.call.bytes.value / 64.0) - below;
  return std::lerp(tree_correction(protocol, below), tree_correction(protocol, below + 1), part);
}

/// What NCCL's authors have measured of channels on the generation's GPUs, whatever links and NICs carry: those
/// are simulated.
std::optional<BytesPerSecond> measured_rate(const PublishedFigures& figures, Protocol protocol) {
  BytesPerSecond bus = cap(figures, figures.measured.tree);
  if (protocol == Protocol::ll) bus = std::min(bus / kTreeDivisorInLl, figures.most_in_ll());
  if (protocol == Protocol::ll128) {
    bus = std::min(bus * (figures.nodes == 1 ? kTreeShareInLl128 : kLinePayload),
                   cap(figures, figures.measured.tree_ll128));
  }
  return bus * (0.5 * correction_between(figures, protocol));
}

// --- What channels pass on.

/// NCCL's and RCCL's rule (enqueue.cc): smaller chunks where few would follow one another through a tree that
/// deep.
Bytes chunk(const ChannelContext& channels, Bytes of_channel) {
  constexpr double kKiB = 1024.0;
  const double depth = 0.5 * channels.graph.steps;
  Bytes chunk = channels.library().chunk_size;
  const auto shrink = [&](double times, double least) {
    while (of_channel / chunk < times * depth && chunk.value > least)
      chunk = chunk * 0.5;
  };
  if (channels.library().tuner_bandwidth.value <= 0.0) return chunk;
  shrink(8.0, 128 * kKiB);
  shrink(4.0, 64 * kKiB);
  shrink(1.0, 32 * kKiB);
  return chunk;
}

}  // namespace

extern constexpr AlgorithmEntry kTree = {.name = "tree",
                                         .supports = supports,
                                         .graph = graph,
                                         .expected_time = expected_time,
                                         .channels = {.chunk = chunk, .measured_rate = measured_rate}};

}}  // namespace c3::collectives
