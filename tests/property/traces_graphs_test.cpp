/// Alignment of sequences and critical paths, against brute force.

#include <doctest/doctest.h>

#include <rapidcheck.h>
#include <algorithm>

#include "tests/support/chakra_text.hpp"
#include "workloads/traces/chakra/critical_path.hpp"
#include "workloads/traces/execution/sequence_alignment.hpp"
#include "workloads/traces/trace_event.hpp"

namespace c3::traces_graphs_test {

namespace {

/// The longest chain that ends with a node, by recursion.
std::uint64_t longest_to(const std::vector<ChakraNodeText>& nodes, std::size_t node) {
  std::uint64_t longest = 0;
  for (const std::uint64_t before : nodes[node].data)
    longest = std::max(longest, longest_to(nodes, before));
  return longest + nodes[node].duration;
}

}  // namespace

TEST_CASE("property: the critical path is the longest of all chains") {
  CHECK(rc::check([] {
    const auto count = *rc::gen::inRange<std::size_t>(1, 9);
    std::vector<ChakraNodeText> nodes;
    for (std::size_t i = 0; i < count; ++i) {
      ChakraNodeText node{.id = i, .duration = *rc::gen::inRange<std::uint64_t>(0, 1000)};
      for (std::size_t before = 0; before < i; ++before) {
        if (*rc::gen::arbitrary<bool>()) node.data.push_back(before);
      }
      nodes.push_back(std::move(node));
    }
    std::uint64_t longest = 0;
    for (std::size_t i = 0; i < count; ++i)
      longest = std::max(longest, longest_to(nodes, i));
    std::vector<ChakraNodeText> shuffled = nodes;
    std::ranges::reverse(shuffled);
    RC_ASSERT(critical_path(read_nodes(shuffled)).sum().count ==
              static_cast<std::int64_t>(longest) * 1'000'000);
  }));
}

TEST_CASE("property: elements are only aligned with equal ones, and distinct ones all are") {
  CHECK(rc::check([] {
    // A step of distinct elements, recorded several times, with some left out and foreign ones put in. At most
    // one change in twelve elements leaves something to go by.
    std::vector<std::uint32_t> pattern(*rc::gen::inRange<std::size_t>(30, 80));
    for (std::uint32_t i = 0; i < pattern.size(); ++i)
      pattern[i] = i;
    std::vector<std::uint32_t> recorded;
    std::vector<std::uint32_t> expected;
    const auto steps = *rc::gen::inRange(1, 4);
    for (int step = 0; step < steps; ++step) {
      for (std::uint32_t i = 0; i < pattern.size(); ++i) {
        const int change = i % 12 == 6 ? *rc::gen::inRange(0, 3) : 0;
        if (change == 1) continue;
        if (change == 2) {
          recorded.push_back(1000 + i);
          expected.push_back(kNoIndex);
        }
        recorded.push_back(pattern[i]);
        expected.push_back(i);
      }
    }
    RC_ASSERT(align(recorded, pattern) == expected);
  }));
}

TEST_CASE("property: any two sequences are aligned with equal elements") {
  CHECK(rc::check([] {
    const auto elements = rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 4));
    const std::vector<std::uint32_t> recorded = *elements;
    const std::vector<std::uint32_t> pattern = *elements;
    const std::vector<std::uint32_t> places = align(recorded, pattern);
    RC_ASSERT(places.size() == recorded.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] != kNoIndex) RC_ASSERT(pattern.at(places[i]) == recorded[i]);
    }
  }));
}

}  // namespace c3::traces_graphs_test
