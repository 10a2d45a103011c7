// Time against size of every collective on every shipped system, with algorithm, protocol and backend held.
//
// More bytes never take less time, but for 5 %: libraries change chunk sizes in steps, and what is larger may
// then pipeline better. Where the library adds channels, by its published thresholds, each carries less,
// down to half of it where there was one: NCCL's LL rings over 72 ranks have one channel below 590 KB, and
// three at 1 MiB. Twice the bytes never take more than twice the time, but for 3 %: two calls of half the size
// would do the same work, and latencies are paid once. Trees of an all-reduce go at rates that NCCL
// publishes by size, which fall by up to a sixth from one size to the next. The thinned set is three systems by
// factor 2, and pipelined algorithms of one in quarter steps; C3SIM_ATTACK=whole takes all systems in quarter
// steps. Grain edge: automatic changes it, and with it times by up to 2 % (of copy engines' chains, which it
// takes for cheaper than their commands are, 12 %).

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/measure.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "engine/errors.hpp"

namespace c3::collectives_size_test {

using namespace literals;

namespace {

constexpr double kSmallest = 1024.0, kLargest = 1024.0 * 1024.0 * 1024.0;
constexpr double kLeastGrowth = 0.95, kLeastWithMoreChannels = 0.5;
constexpr double kMostOfDouble = 2.06, kMostOfDoubleInTrees = 2.4;

struct Case {
  CollectiveKind kind;
  MeasuredMethod how;
  std::string name;
};

/// Everything that may run, whether it does on a cluster or not.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const CollectiveKind kind : kCollectiveKinds) {
    if (kind == CollectiveKind::all_to_all_v || kind == CollectiveKind::barrier) continue;  // have no one size
    for (const Algorithm algorithm : kAlgorithms) {
      if (!supports(algorithm, kind)) continue;
      const auto add = [&](Backend backend, Protocol protocol, std::string_view by) {
        MeasuredMethod how{.backend = backend, .grain = CollectiveGrain::edge};
        how.method = {algorithm, protocol};
        cases.push_back({kind, how, fmt::format("{} {} {}", name_of(kind), name_of(algorithm), by)});
      };
      for (const Protocol protocol : kProtocols)
        add(Backend::cu, protocol, name_of(protocol));
      add(Backend::dma, Protocol::simple, "dma");
    }
  }
  return cases;
}

/// Times by size, from kSmallest on; nullopt where the cluster cannot run it.
std::optional<std::vector<CollectiveMeasurement>> times_of(const ClusterSpec& cluster, const Case& tried,
                                                           double factor) {
  std::vector<CollectiveMeasurement> times;
  try {
    for (double size = kSmallest; size <= kLargest * 1.001; size *= factor) {
      CollectiveCall call{.kind = tried.kind, .bytes = Bytes{std::round(size)}};
      times.push_back(measure_collective(cluster, call, tried.how));
    }
  } catch (const InfeasibleError&) {
    return std::nullopt;
  }
  return times;
}

/// What is wrong with \p times of \p tried, \p per_double of them to a doubling of the size.
std::vector<std::string> faults(const Case& tried, const std::vector<CollectiveMeasurement>& times,
                                int per_double) {
  std::vector<std::string> found;
  const std::string& name = tried.name;
  const bool is_tree =
      tried.how.method.algorithm == Algorithm::tree && tried.kind == CollectiveKind::all_reduce;
  const double most = is_tree ? kMostOfDoubleInTrees : kMostOfDouble;
  const auto size_of = [&](std::size_t i) {
    return kSmallest * std::exp2(static_cast<double>(i) / per_double);
  };
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    const CollectiveMeasurement &now = times[i], &next = times[i + 1];
    const double least = next.channels > now.channels ? kLeastWithMoreChannels : kLeastGrowth;
    if (next.time < least * now.time)
      found.push_back(fmt::format("{}: {:.0f} B take {:.2f} us, {:.0f} B {:.2f}", name, size_of(i),
                                  now.time / 1.0_us, size_of(i + 1), next.time / 1.0_us));
    const std::size_t twice = i + static_cast<std::size_t>(per_double);
    if (twice < times.size() && times[twice].time > most * now.time)
      found.push_back(fmt::format("{}: {:.0f} B take {:.2f} us, twice as many {:.2f}", name, size_of(i),
                                  now.time / 1.0_us, times[twice].time / 1.0_us));
  }
  return found;
}

/// Checks \p cases on \p cluster. \returns how many of them it can run
int check(const ClusterSpec& cluster, const std::vector<Case>& cases, int per_double) {
  int ran = 0;
  for (const Case& tried : cases) {
    const auto times = times_of(cluster, tried, std::exp2(1.0 / per_double));
    if (!times) continue;
    ++ran;
    for (const std::string& fault : faults(tried, *times, per_double))
      FAIL_CHECK(title_of(cluster) << ": " << fault);
  }
  return ran;
}

bool is_whole() {
  const char* const size = std::getenv("C3SIM_ATTACK");
  return size != nullptr && std::string_view(size) == "whole";
}

}  // namespace

TEST_CASE(
    "property: with one algorithm and protocol more bytes take longer, and twice the bytes at most twice as "
    "long") {
  if (is_whole()) {
    for (const std::string& system : preset_names(PresetKind::node)) {
      CAPTURE(system);
      const ClusterSpec cluster = load_cluster(system);
      if (cluster.ranks() > 1) CHECK(check(cluster, all_cases(), 4) > 10);
    }
    return;
  }
  for (const char* const system : {"h100-sxm-8", "mi300x-8", "v100-sxm2-8"}) {
    CAPTURE(system);
    CHECK(check(load_cluster(system), all_cases(), 1) > 40);
  }
}

TEST_CASE(
    "property: chains and trees, whose fill depends on their chunks, are monotone between powers of two, too") {
  const ClusterSpec cluster = load_cluster("h100-sxm-8");
  std::vector<Case> pipelined = all_cases();
  std::erase_if(pipelined, [](const Case& tried) {
    const Algorithm algorithm = tried.how.method.algorithm;
    const bool is_chain = algorithm == Algorithm::ring && is_rooted(tried.kind);
    return !is_chain && algorithm != Algorithm::tree;
  });
  CHECK(check(cluster, pipelined, 4) >= 12);
}

}  // namespace c3::collectives_size_test
