#pragma once
/// An interconnect of several nodes, and flows over it.

#include <utility>
#include <vector>

#include "interconnect/interconnect.hpp"
#include "tests/support/fabrics.hpp"
#include "tests/support/flow_clock.hpp"

namespace c3::test {

struct Network : FlowClock {
  Network(NodeSpec node_spec, FabricSpec fabric_spec, int nodes, Interconnect::Setup setup = {},
          Observer* observer = nullptr)
      : FlowClock(observer),
        node(std::move(node_spec)),
        fabric(std::move(fabric_spec)),
        interconnect(simulation.fluid(), {node, nodes, &fabric}, setup) {}

  std::vector<Demand> route(int src, int dst, Bytes bytes, int lane = 0) const {
    std::vector<Demand> demands;
    interconnect.add_route(demands, 0, src, dst, bytes, lane);
    return demands;
  }

  /// Flows share byte for byte.
  FlowId send(int src, int dst, double bytes = 1.0, int lane = 0) {
    return start(tags_++, route(src, dst, Bytes{bytes}, lane), {.demands = {}, .weight = 1.0 / bytes});
  }

  const NodeSpec node;
  const FabricSpec fabric;
  const Interconnect interconnect;

 private:
  std::uint64_t tags_ = 0;
};

}  // namespace c3::test
