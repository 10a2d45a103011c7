#include "collectives/algorithms/graph_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/errors.hpp"

namespace c3 { inline namespace collectives {

int GraphRequest::lanes(std::size_t wanted) const {
  return static_cast<int>(std::min(wanted, static_cast<std::size_t>(std::max(1, form.most_lanes))));
}

GraphBuilder GraphRequest::builder(int lanes, bool pipelined) const {
  TransferGraph graph{
      .members = members, .lanes = lanes, .steps = 0, .pipelined = pipelined, .node_gpus = cluster.node.gpus};
  return {fmt::format("{}: the {} algorithm", name_of(call.kind), algorithm), std::move(graph)};
}

void GraphRequest::refuse(const std::string& why) const {
  throw InfeasibleError(fmt::format("{}: {} {}", name_of(call.kind), algorithm, why));
}

}}  // namespace c3::collectives
