#include "collectives/transfer_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "engine/errors.hpp"
#include "interconnect/interconnect.hpp"

namespace c3 {
namespace {

TransferGraph direct(const CollectiveCall& call, int ranks) {
  TransferGraph graph{.ranks = ranks, .lanes = ranks - 1, .steps = 1, .transfers = {}};
  const Bytes shard = call.bytes / static_cast<double>(ranks);
  for (int lane = 0; lane < ranks - 1; ++lane) {
    for (int src = 0; src < ranks; ++src) {
      graph.transfers.push_back({src, (src + lane + 1) % ranks, lane, 0, shard, {}});
    }
  }
  return graph;
}

TransferGraph ring(const CollectiveCall& call, const NodeSpec& node) {
  std::vector<int> members(static_cast<std::size_t>(node.gpus));
  std::iota(members.begin(), members.end(), 0);
  const auto rings = disjoint_rings(node, members);
  const auto ranks = static_cast<std::size_t>(node.gpus);
  TransferGraph graph{
      .ranks = node.gpus, .lanes = static_cast<int>(rings.size()), .steps = node.gpus - 1, .transfers = {}};
  const Bytes chunk = call.bytes / static_cast<double>(ranks * rings.size());
  for (std::size_t lane = 0; lane < rings.size(); ++lane) {
    for (std::size_t step = 0; step + 1 < ranks; ++step) {
      const double chunks =
          call.kind == CollectiveKind::all_gather ? 1.0 : static_cast<double>(ranks - 1 - step);
      const std::size_t first_of_step = graph.transfers.size();
      for (std::size_t at = 0; at < ranks; ++at) {
        Transfer transfer{rings[lane][at],        rings[lane][(at + 1) % ranks],
                          static_cast<int>(lane), static_cast<int>(step),
                          chunk * chunks,         {}};
        if (step > 0) {
          const std::size_t upstream = (at + ranks - 1) % ranks;
          transfer.after.push_back(static_cast<std::uint32_t>(first_of_step - ranks + upstream));
        }
        graph.transfers.push_back(std::move(transfer));
      }
    }
  }
  return graph;
}

}  // namespace

TransferGraph make_transfer_graph(const CollectiveCall& call, Algorithm algorithm, const NodeSpec& node) {
  if (node.gpus < 2) throw InfeasibleError("a collective needs at least two ranks");
  if (!(call.bytes.value > 0.0)) {
    throw InfeasibleError(
        fmt::format("{} of {} B: the size must be positive", name_of(call.kind), call.bytes.value));
  }
  switch (algorithm) {
    case Algorithm::direct:
      return direct(call, node.gpus);
    case Algorithm::ring:
      return ring(call, node);
  }
  throw std::logic_error("make_transfer_graph: unknown algorithm");
}

TransferGraph fold(const TransferGraph& graph) {
  const auto class_of = [&](const Transfer& t) {
    return static_cast<std::size_t>(t.lane) * static_cast<std::size_t>(graph.steps) +
           static_cast<std::size_t>(t.step);
  };
  const auto classes_before = [&](const Transfer& t) {
    std::vector<std::size_t> before;
    before.reserve(t.after.size());
    for (const std::uint32_t position : t.after)
      before.push_back(class_of(graph.transfers[position]));
    std::ranges::sort(before);
    return before;
  };
  const auto asymmetric = [](const char* what) { throw std::logic_error(std::string("fold: ") + what); };
  struct Class {
    std::vector<bool> sent, received;
    Bytes bytes;
    std::vector<std::size_t> after;  ///< classes
    std::uint32_t kept = 0;          ///< position of rank 0's transfer in the folded graph
  };
  std::vector<Class> classes(static_cast<std::size_t>(graph.lanes * graph.steps));
  TransferGraph folded{.ranks = graph.ranks, .lanes = graph.lanes, .steps = graph.steps, .transfers = {}};
  const auto ranks = static_cast<std::size_t>(graph.ranks);
  for (const Transfer& transfer : graph.transfers) {
    Class& its = classes[class_of(transfer)];
    if (its.sent.empty()) {
      its = {std::vector<bool>(ranks), std::vector<bool>(ranks), transfer.bytes, classes_before(transfer), 0};
    }
    const auto src = static_cast<std::size_t>(transfer.src);
    const auto dst = static_cast<std::size_t>(transfer.dst);
    if (its.bytes != transfer.bytes) asymmetric("transfers of a step differ in bytes");
    if (its.after != classes_before(transfer)) asymmetric("transfers of a step wait for different steps");
    if (its.sent[src] || its.received[dst]) asymmetric("a rank sends or receives twice in a step");
    its.sent[src] = its.received[dst] = true;
    if (transfer.src != 0) continue;
    its.kept = static_cast<std::uint32_t>(folded.transfers.size());
    folded.transfers.push_back(transfer);
  }
  for (const Class& its : classes) {
    if (std::ranges::find(its.sent, false) != its.sent.end()) asymmetric("a rank is missing in a step");
  }
  for (Transfer& transfer : folded.transfers) {
    for (std::uint32_t& before : transfer.after)
      before = classes[class_of(graph.transfers[before])].kept;
  }
  return folded;
}

Bytes bytes_sent(const TransferGraph& graph, int rank) {
  Bytes sent;
  for (const Transfer& transfer : graph.transfers) {
    if (transfer.src == rank) sent += transfer.bytes;
  }
  return sent;
}

BytesPerSecond algorithm_bandwidth(const CollectiveCall& call, Seconds time) { return call.bytes / time; }

BytesPerSecond bus_bandwidth(const CollectiveCall& call, int ranks, Seconds time) {
  return algorithm_bandwidth(call, time) * (static_cast<double>(ranks - 1) / ranks);
}

}  // namespace c3
