#pragma once
/// All ways to run a collective on one node.

#include <doctest/doctest.h>

#include <iterator>
#include <vector>

#include "tests/support/collective_bench.hpp"
#include "tests/support/mi300x_like.hpp"

namespace c3::test {

struct Variant {
  Backend backend;
  CollectiveKind kind;
  Algorithm algorithm;
  CollectiveGrain grain;
  bool folded;

  CollectiveCall call() const { return {kind, Bytes{1e9}}; }
  CollectivePlan plan() const {
    CollectivePlan plan;
    plan.name = "gather";
    plan.call = call();
    plan.backend = backend;
    plan.algorithm = algorithm;
    plan.grain = grain;
    return plan;
  }
};

inline constexpr Backend kBackends[] = {Backend::cu, Backend::dma};
inline constexpr CollectiveKind kKinds[] = {CollectiveKind::all_gather, CollectiveKind::all_to_all};
inline constexpr CollectiveKind kSums[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter};
inline constexpr Algorithm kAlgorithms[] = {Algorithm::direct, Algorithm::ring};
inline constexpr CollectiveGrain kGrains[] = {CollectiveGrain::step, CollectiveGrain::edge,
                                              CollectiveGrain::gang};

/// What \p backend can run on symmetric ranks with every algorithm of kAlgorithms.
inline std::vector<CollectiveKind> kinds_of(Backend backend) {
  std::vector<CollectiveKind> kinds(std::begin(kKinds), std::end(kKinds));
  if (backend == Backend::cu) kinds.insert(kinds.end(), std::begin(kSums), std::end(kSums));
  return kinds;
}

/// Calls \p check with each backend, kind, algorithm, grain, folded and explicit.
template <class Check>
void for_each_variant(Check check) {
  for (const Backend backend : kBackends) {
    for (const CollectiveKind kind : kinds_of(backend)) {
      for (const Algorithm algorithm : kAlgorithms) {
        for (const CollectiveGrain grain : kGrains) {
          for (const bool folded : {true, false}) {
            CAPTURE(name_of(backend));
            CAPTURE(name_of(kind));
            CAPTURE(name_of(algorithm));
            CAPTURE(static_cast<int>(grain));
            CAPTURE(folded);
            check(Variant{backend, kind, algorithm, grain, folded});
          }
        }
      }
    }
  }
}

}  // namespace c3::test
