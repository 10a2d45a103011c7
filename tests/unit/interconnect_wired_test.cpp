// What the links of wired nodes carry, against rates worked out by hand.

#include <doctest/doctest.h>

#include "engine/errors.hpp"
#include "interconnect/interconnect.hpp"
#include "tests/support/flow_clock.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recording.hpp"
#include "tests/support/wired_nodes.hpp"

namespace c3::interconnect_wired_test {

using namespace literals;

namespace {

struct Wires : FlowClock {
  explicit Wires(NodeSpec spec, const Interconnect::Setup& setup = {}, Observer* observer = nullptr)
      : FlowClock(observer), node(std::move(spec)), interconnect(simulation.fluid(), {node}, setup) {}

  FlowId send(int src, int dst, int stream = 0) {
    std::vector<Demand> demands;
    interconnect.add_route(demands, stream, src, dst, 1.0_B);
    return start(tags_++, demands);
  }

  const NodeSpec node;
  const Interconnect interconnect;

 private:
  std::uint64_t tags_ = 0;
};

/// A node with as many wires as can be: one link for each pair.
NodeSpec mesh_by_wires(int gpus) {
  NodeSpec node = test::full_mesh(gpus);
  node.topology = NodeTopology::wired;
  for (int a = 0; a < gpus; ++a) {
    for (int b = a + 1; b < gpus; ++b)
      node.wires.push_back({a, b});
  }
  return node;
}

}  // namespace

TEST_CASE("a bundle of two links carries twice what one does, one way and both ways") {
  Wires wires(test::line_of_three());
  const FlowId there = wires.send(0, 1);
  CHECK(wires.rate(there) == near(80e9));
  const FlowId back = wires.send(1, 0);
  CHECK(wires.rate(there) == near(72e9));
  CHECK(wires.rate(back) == near(72e9));
}

TEST_CASE("traffic that passes a GPU takes the links on both sides of it") {
  // The way from 0 to 2 is by 1: the single link gives 40 GB/s; with traffic from 1 to 2 each gets 20, and
  // 80 - 20 are left from 0 to 1.
  Wires wires(test::line_of_three());
  const FlowId through = wires.send(0, 2);
  CHECK(wires.rate(through) == near(40e9));
  const FlowId last = wires.send(1, 2);
  const FlowId first = wires.send(0, 1);
  CHECK(wires.rate(through) == near(20e9));
  CHECK(wires.rate(last) == near(20e9));
  CHECK(wires.rate(first) == near(60e9));
}

TEST_CASE("GPUs on a socket do not notice what crosses between sockets") {
  Wires wires(test::tree_of_four());
  const FlowId beside = wires.send(2, 3);
  const FlowId across = wires.send(0, 1);
  CHECK(wires.rate(beside) == near(40e9));
  CHECK(wires.rate(across) == near(40e9));
}

TEST_CASE("transfers between sockets share the way between them, whatever GPUs they join") {
  Wires wires(test::tree_of_four());
  const FlowId one = wires.send(0, 2);
  CHECK(wires.rate(one) == near(30e9));
  const FlowId other = wires.send(1, 3);
  CHECK(wires.rate(one) == near(15e9));
  CHECK(wires.rate(other) == near(15e9));
}

TEST_CASE("traffic both ways between sockets gets their both-ways rate") {
  Wires wires(test::tree_of_four());
  const FlowId there = wires.send(0, 2);
  const FlowId back = wires.send(3, 1);
  CHECK(wires.rate(there) == near(25e9));
  CHECK(wires.rate(back) == near(25e9));
}

TEST_CASE("transfers to one GPU of a tree share the link to it") {
  Wires wires(test::tree_of_four());
  const FlowId near_one = wires.send(1, 0);
  const FlowId far_one = wires.send(2, 0);
  CHECK(wires.rate(near_one) == near(20e9));
  CHECK(wires.rate(far_one) == near(20e9));
}

TEST_CASE("one wire for each pair is a full mesh") {
  Wires wires(mesh_by_wires(5)), mesh(test::full_mesh(5));
  for (const auto& [src, dst] : {std::pair{0, 1}, {1, 0}, {0, 2}, {0, 2}, {3, 2}, {2, 3}, {4, 0}}) {
    wires.send(src, dst);
    mesh.send(src, dst);
  }
  for (std::uint32_t flow = 0; flow < 7; ++flow)
    CHECK(wires.rate({flow, 0}) == near(mesh.rate({flow, 0})));
  CHECK(raw_egress(wires.node) == raw_egress(mesh.node));
}

TEST_CASE("a route's latency is that of all its hops") {
  const Wires tree(test::tree_of_four());
  CHECK(tree.interconnect.latency(0, 1).value == near(1.0e-6));
  CHECK(tree.interconnect.latency(0, 3).value == near(1.1e-6));
  CHECK(tree.interconnect.latency(2, 2) == Seconds{});
}

TEST_CASE("the raw egress of a wired node is that of the GPU with most links") {
  CHECK(raw_egress(test::line_of_three()) == 150.0_GBps);
  CHECK(raw_egress(test::tree_of_four()) == 50.0_GBps);
}

TEST_CASE("a wired node has no representative, a mesh or switch has one") {
  CHECK_FALSE(is_symmetric(test::line_of_three()));
  CHECK(is_symmetric(test::full_mesh(4)));
  CHECK(is_symmetric(test::switched(4)));
  CHECK_THROWS_WITH_AS(
      Wires(test::tree_of_four(), {.streams = {}, .private_links = false, .folded = true}),
      "node 'tree': its GPUs have different links, so that one cannot represent all; simulate every "
      "rank (fold = false)",
      InfeasibleError);
}

TEST_CASE("resources of a wired node are named by GPU and hub, and a stream's own by the stream") {
  test::Recording shared, own;
  const Wires first(test::tree_of_four(), {}, &shared);
  const Wires second(test::tree_of_four(), {.streams = {"tp", "dp"}, .private_links = true, .folded = false},
                     &own);
  for (const char* name :
       {"link0-cpu0", "link.cpu0-0", "link0-cpu0.duplex", "link.cpu1-cpu0", "link.cpu0-cpu1.duplex"})
    CHECK(shared.has_resource(name));
  CHECK(own.has_resource("link.cpu0-cpu1.dp"));
}

TEST_CASE("private links keep streams apart on a wired node") {
  Wires wires(test::tree_of_four(), {.streams = {"tp", "dp"}, .private_links = true, .folded = false});
  const FlowId tp = wires.send(0, 2, 0);
  const FlowId dp = wires.send(1, 3, 1);
  CHECK(wires.rate(tp) == near(30e9));
  CHECK(wires.rate(dp) == near(30e9));
}

}  // namespace c3::interconnect_wired_test
