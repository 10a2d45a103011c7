#pragma once
/// All ways to run a collective on one node.

#include <doctest/doctest.h>

#include <iterator>
#include <vector>

#include "tests/support/collective_bench.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"

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
    plan.method.algorithm = algorithm;
    plan.grain = grain;
    return plan;
  }
};

/// Backends that need no kernel to make their data.
inline constexpr Backend kOwnBackends[] = {Backend::cu, Backend::dma};
inline constexpr CollectiveKind kKinds[] = {CollectiveKind::all_gather, CollectiveKind::all_to_all};
inline constexpr CollectiveKind kSums[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter};
inline constexpr Algorithm kSymmetricAlgorithms[] = {Algorithm::direct, Algorithm::ring};
inline constexpr CollectiveGrain kGrains[] = {CollectiveGrain::step, CollectiveGrain::edge,
                                              CollectiveGrain::gang};

/// What \p backend can run on symmetric ranks with every algorithm of kSymmetricAlgorithms.
inline std::vector<CollectiveKind> kinds_of(Backend backend) {
  std::vector<CollectiveKind> kinds(std::begin(kKinds), std::end(kKinds));
  if (backend == Backend::cu) kinds.insert(kinds.end(), std::begin(kSums), std::end(kSums));
  return kinds;
}

/// Calls \p check with each backend, kind, algorithm, grain, folded and explicit.
template <class Check>
void for_each_variant(Check check) {
  for (const Backend backend : kOwnBackends) {
    for (const CollectiveKind kind : kinds_of(backend)) {
      for (const Algorithm algorithm : kSymmetricAlgorithms) {
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

/// Checks that folded and explicit runs agree within 0.2 %, and every grain with step within 2 % on the
/// backends for which \p grains_agree says so. \p time_of takes a Variant.
template <class TimeOf, class GrainsAgree>
void check_that_times_agree(TimeOf time_of, GrainsAgree grains_agree) {
  for (const Backend backend : kOwnBackends) {
    for (const CollectiveKind kind : kinds_of(backend)) {
      for (const Algorithm algorithm : kSymmetricAlgorithms) {
        CAPTURE(name_of(backend));
        CAPTURE(name_of(kind));
        CAPTURE(name_of(algorithm));
        const double step = time_of(Variant{backend, kind, algorithm, CollectiveGrain::step, false}).value;
        for (const CollectiveGrain grain : kGrains) {
          CAPTURE(static_cast<int>(grain));
          const double folded = time_of(Variant{backend, kind, algorithm, grain, true}).value;
          CHECK(folded == near(time_of(Variant{backend, kind, algorithm, grain, false}).value, 2e-3));
          if (grains_agree(backend)) CHECK(folded == near(step, 2e-2));
        }
      }
    }
  }
}

}  // namespace c3::test
