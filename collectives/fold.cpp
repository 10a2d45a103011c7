#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "collectives/transfer_graph.hpp"

namespace c3 { inline namespace collectives {

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
  TransferGraph folded{
      .members = graph.members, .lanes = graph.lanes, .steps = graph.steps, .node_gpus = graph.node_gpus};
  const auto ranks = graph.members.size();
  std::unordered_map<int, std::size_t> place;  // position in the group
  for (const int rank : graph.members)
    place.emplace(rank, place.size());
  for (const Transfer& transfer : graph.transfers) {
    Class& step = classes[class_of(transfer)];
    if (step.sent.empty()) {
      step = {std::vector<bool>(ranks), std::vector<bool>(ranks), transfer.bytes, classes_before(transfer), 0};
    }
    const std::size_t src = place.at(transfer.src), dst = place.at(transfer.dst);
    if (step.bytes != transfer.bytes) asymmetric("transfers of a step differ in bytes");
    if (step.after != classes_before(transfer)) asymmetric("transfers of a step wait for different steps");
    if (step.sent[src] || step.received[dst]) asymmetric("a rank sends or receives twice in a step");
    step.sent[src] = step.received[dst] = true;
    if (transfer.src != 0) continue;
    step.kept = static_cast<std::uint32_t>(folded.transfers.size());
    folded.transfers.push_back(transfer);
  }
  for (const Class& step : classes) {
    if (std::ranges::find(step.sent, false) != step.sent.end()) asymmetric("a rank is missing in a step");
  }
  for (Transfer& transfer : folded.transfers) {
    for (std::uint32_t& before : transfer.after)
      before = classes[class_of(graph.transfers[before])].kept;
  }
  return folded;
}

}}  // namespace c3::collectives
