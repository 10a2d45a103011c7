// What the links of a node carry, against rates worked out by hand.

#include <doctest/doctest.h>

#include <stdexcept>

#include "interconnect/interconnect.hpp"
#include "tests/support/flow_clock.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recording.hpp"

namespace c3::interconnect_links_test {

using namespace literals;

namespace {

constexpr double kOneWay = 48.4e9;    // B/s
constexpr double kBothWays = 46.5e9;  // B/s, each way
constexpr int kGpus = 8;

struct Wires : FlowClock {
  explicit Wires(const Interconnect::Setup& setup = {}, Observer* observer = nullptr)
      : FlowClock(observer), interconnect(simulation.fluid(), {node}, setup) {}

  /// Transfers of a link share it byte for byte.
  FlowId send(int src, int dst, double bytes, int stream = 0, double bound = kUnbounded) {
    std::vector<Demand> demands;
    interconnect.add_route(demands, stream, src, dst, Bytes{bytes});
    return start(tags_++, demands, {.demands = {}, .bound = bound, .weight = 1.0 / bytes});
  }

  const NodeSpec node = test::full_mesh(kGpus);
  const Interconnect interconnect;

 private:
  std::uint64_t tags_ = 0;
};

}  // namespace

TEST_CASE("a transfer alone on its link gets the one-way rate of 48.4 GB/s") {
  Wires wires;
  wires.send(0, 1, 48.4e9);
  wires.simulation.run();
  CHECK(wires.date(0) == near(1.0));
}

TEST_CASE("transfers both ways on a link get 46.5 GB/s each") {
  Wires wires;
  wires.send(0, 1, 46.5e9);
  wires.send(1, 0, 46.5e9);
  wires.simulation.run();
  CHECK(wires.date(0) == near(1.0));
  CHECK(wires.date(1) == near(1.0));
}

TEST_CASE("slow reverse traffic taxes a link only beyond 93 GB/s together") {
  // 46 GB/s back leave 93 - 46 = 47 GB/s; 40 GB/s back leave 53, more than the one-way rate.
  for (const auto& [back, forth] : {std::pair{46e9, 47e9}, std::pair{40e9, kOneWay}}) {
    Wires wires;
    const FlowId flow = wires.send(0, 1, 1.0);
    wires.send(1, 0, 1.0, 0, back);
    CHECK(wires.rate(flow) == near(forth));
  }
}

TEST_CASE("all 56 links of a mesh carry 46.5 GB/s each at once") {
  Wires wires;
  for (int src = 0; src < kGpus; ++src) {
    for (int dst = 0; dst < kGpus; ++dst) {
      if (src != dst) wires.send(src, dst, 46.5e9);
    }
  }
  wires.simulation.run();
  for (std::uint64_t tag = 0; tag < 56; ++tag)
    CHECK(wires.date(tag) == near(1.0));
}

TEST_CASE("links of different pairs share nothing") {
  Wires wires;
  const FlowId to_one = wires.send(0, 1, 1.0);
  const FlowId to_two = wires.send(0, 2, 1.0);
  const FlowId elsewhere = wires.send(3, 1, 1.0);
  CHECK(wires.rate(to_one) == near(kOneWay));
  CHECK(wires.rate(to_two) == near(kOneWay));
  CHECK(wires.rate(elsewhere) == near(kOneWay));
}

TEST_CASE("transfers one way on a link halve it, until one ends") {
  // 24.2 GB/s each: the small one ends at 1 s, the other has 24.2 GB left for the whole link.
  Wires wires;
  wires.send(0, 1, 24.2e9);
  wires.send(0, 1, 48.4e9);
  wires.simulation.run();
  CHECK(wires.date(0) == near(1.0));
  CHECK(wires.date(1) == near(1.5));
}

TEST_CASE("folded links give what explicit ones give, whatever set of distances every rank sends to") {
  for (unsigned set = 1; set < 1U << (kGpus - 1); ++set) {
    CAPTURE(set);
    Wires folded({.streams = {}, .private_links = false, .folded = true});
    Wires all;
    std::uint64_t transfers = 0;
    for (int distance = 1; distance < kGpus; ++distance) {
      if ((set >> (distance - 1) & 1U) == 0) continue;
      folded.send(0, distance, 1e9 * distance);
      for (int src = 0; src < kGpus; ++src)
        all.send(src, (src + distance) % kGpus, 1e9 * distance);
      ++transfers;
    }
    folded.simulation.run();
    all.simulation.run();
    for (std::uint64_t i = 0; i < transfers * kGpus; ++i)
      CHECK(all.date(i) == near(folded.date(i / kGpus)));
  }
}

TEST_CASE("every GPU sending to the one opposite uses its link both ways, folded too") {
  for (const bool folded : {false, true}) {
    Wires wires({.streams = {}, .private_links = false, .folded = folded});
    const FlowId flow = wires.send(0, 4, 1.0);
    if (!folded) wires.send(4, 0, 1.0);
    CHECK(wires.rate(flow) == near(kBothWays));
  }
}

TEST_CASE("private links keep streams apart, shared ones do not") {
  for (const bool is_private : {false, true}) {
    test::Recording recording;
    Wires wires({.streams = {"tp", "dp"}, .private_links = is_private, .folded = false}, &recording);
    const FlowId tp = wires.send(0, 1, 1.0, 0);
    const FlowId dp = wires.send(0, 1, 1.0, 1);
    CHECK(wires.rate(tp) == near(is_private ? kOneWay : kOneWay / 2));
    CHECK(wires.rate(dp) == near(is_private ? kOneWay : kOneWay / 2));
    CHECK(recording.has_resource("link0-1.dp") == is_private);
    CHECK(recording.has_resource("link0-1") != is_private);
  }
}

TEST_CASE("a route from a GPU to itself, or from another than the representative when folded, is a mistake") {
  std::vector<Demand> demands;
  const Wires wires;
  CHECK_THROWS_AS(wires.interconnect.add_route(demands, 0, 3, 3, 1.0_B), std::logic_error);
  const Wires folded({.streams = {}, .private_links = false, .folded = true});
  CHECK_THROWS_AS(folded.interconnect.add_route(demands, 0, 1, 2, 1.0_B), std::logic_error);
}

TEST_CASE("a link's latency is paid between different GPUs only") {
  const Wires wires;
  CHECK(wires.interconnect.latency(0, 5) == 0.3_us);
  CHECK(wires.interconnect.latency(5, 5) == Seconds{});
}

}  // namespace c3::interconnect_links_test
