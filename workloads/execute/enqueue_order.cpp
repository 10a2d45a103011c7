#include "workloads/execute/enqueue_order.hpp"

#include <algorithm>

#include "engine/errors.hpp"

namespace c3 { inline namespace workloads {

std::vector<std::size_t> enqueue_order(const Program& program, const Strategy& strategy) {
  std::vector<std::size_t> order;
  for (const std::string& name : strategy.order) {
    const auto found = program.stream_named(name);
    if (!found) throw InfeasibleError("strategy '" + strategy.name + "': no stream '" + name + "'");
    order.push_back(*found);
  }
  for (std::size_t i = 0; i < program.streams.size(); ++i) {
    if (std::ranges::find(order, i) == order.end()) order.push_back(i);
  }
  return order;
}

}}  // namespace c3::workloads
