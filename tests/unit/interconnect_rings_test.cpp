// Rings of a full mesh that share no link direction.

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "interconnect/interconnect.hpp"
#include "tests/support/mi300x_like.hpp"

namespace c3::interconnect_rings_test {

namespace {

using Rings = std::vector<std::vector<int>>;

std::vector<int> all(int gpus) {
  std::vector<int> members(static_cast<std::size_t>(gpus));
  std::iota(members.begin(), members.end(), 0);
  return members;
}

Rings rings_of(int gpus) { return disjoint_rings(test::full_mesh(gpus), all(gpus)); }

bool visits_every_gpu_once_from_zero(std::vector<int> ring, int gpus) {
  const bool from_zero = !ring.empty() && ring.front() == 0;
  std::ranges::sort(ring);
  return from_zero && ring == all(gpus);
}

/// Links by direction, once for each use.
std::multiset<std::pair<int, int>> arcs_of(const Rings& rings) {
  std::multiset<std::pair<int, int>> arcs;
  for (const auto& ring : rings) {
    for (std::size_t at = 0; at < ring.size(); ++at)
      arcs.emplace(ring[at], ring[(at + 1) % ring.size()]);
  }
  return arcs;
}

}  // namespace

TEST_CASE("every disjoint ring visits every GPU once, starting at rank 0") {
  for (int gpus = 2; gpus <= 16; ++gpus) {
    CAPTURE(gpus);
    for (const auto& ring : rings_of(gpus))
      CHECK(visits_every_gpu_once_from_zero(ring, gpus));
  }
}

TEST_CASE("no two disjoint rings use a link in the same direction") {
  for (int gpus = 2; gpus <= 16; ++gpus) {
    CAPTURE(gpus);
    const auto arcs = arcs_of(rings_of(gpus));
    CHECK(arcs.size() == std::set(arcs.begin(), arcs.end()).size());
  }
}

TEST_CASE("disjoint rings use every link of a mesh of 2, 3, 5, 7, 8, 9 or 16 GPUs") {
  for (const int gpus : {2, 3, 5, 7, 8, 9, 16}) {
    CAPTURE(gpus);
    CHECK(static_cast<int>(rings_of(gpus).size()) == gpus - 1);
  }
}

TEST_CASE("4 and 6 GPUs, where no set of rings fills the mesh, have all rings but one") {
  // Tillson 1980: the complete directed graph on n vertices splits into Hamiltonian cycles except for n = 4
  // and 6.
  CHECK(rings_of(4).size() == 2);
  CHECK(rings_of(6).size() == 4);
}

TEST_CASE("rings use a link both ways or not at all") {
  // Else folding, which takes all ranks to be alike, would give some links the rate of an idle reverse
  // direction.
  for (int gpus = 2; gpus <= 9; ++gpus) {
    CAPTURE(gpus);
    const auto arcs = arcs_of(rings_of(gpus));
    for (const auto& [src, dst] : arcs)
      CHECK(arcs.contains({dst, src}));
  }
}

TEST_CASE("one GPU has no ring") { CHECK(rings_of(1).empty()); }

TEST_CASE("the same rings are found every time") {
  for (const int gpus : {6, 8, 16})
    CHECK(rings_of(gpus) == rings_of(gpus));
}

TEST_CASE("rings of some GPUs of a mesh are those of a mesh of so many, from the first member on") {
  const std::vector<int> members = {6, 1, 4, 0, 7};
  const Rings rings = disjoint_rings(test::full_mesh(8), members);
  Rings renamed = rings_of(5);
  for (auto& ring : renamed)
    std::ranges::transform(ring, ring.begin(),
                           [&](int at) { return members.at(static_cast<std::size_t>(at)); });
  CHECK(rings == renamed);
  CHECK(disjoint_rings(test::full_mesh(8), std::vector{3}).empty());
}

TEST_CASE("some GPUs of a switch have one ring in their order") {
  const std::vector<int> members = {3, 0, 5};
  CHECK(disjoint_rings(test::switched(8), members) == Rings{members});
}

}  // namespace c3::interconnect_rings_test
