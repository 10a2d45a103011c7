// What users allow a library to choose, written as NCCL's environment variables.

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "collectives/library/channel_protocol.hpp"
#include "collectives/library/permits_text.hpp"
#include "collectives/library/tuner.hpp"
#include "engine/errors.hpp"
#include "tests/support/fabrics.hpp"
#include "tests/support/gpu_families.hpp"

namespace c3::collectives_permits_test {

using namespace literals;
using namespace test;

namespace {

/// Which of \p names \p permits allow for \p kind, with spaces between.
std::string allowed(const Permits& permits, CollectiveKind kind, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (permits.allow(kind, name)) text += (text.empty() ? "" : " ") + name;
  }
  return text;
}

const std::vector<std::string> kSome = {"ring", "tree", "nvls_tree", "collnet"};

std::string error_of(std::string_view text) {
  try {
    permitted_algorithms(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

/// One node of eight GPUs behind a switch that reduces, whose library takes it for large sums.
ClusterSpec with_switch() {
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.node = switched(8);
  cluster.node.switch_reduces = true;
  cluster.gpu.family = hopper();
  CollectiveLibrarySpec& library = cluster.library;
  library.channels = 16;
  library.rules = TunerRules::nccl;
  library.tuner_bandwidth = 320.0_GBps;
  library.nvls_channels = 16;
  library.nvls_payload = 300.0_GBps;
  library.ll = library.simple;
  return cluster;
}

CollectiveMethod chosen(const ClusterSpec& cluster, CollectiveKind kind = CollectiveKind::all_reduce) {
  return choose_method({.kind = kind, .bytes = 1.0_GiB}, cluster);
}

}  // namespace

TEST_CASE("lists allow what they name or all but what they exclude, and the last one of an operation counts") {
  const CollectiveKind sum = CollectiveKind::all_reduce;
  const CollectiveKind gather = CollectiveKind::all_gather;
  CHECK(allowed({}, sum, kSome) == "ring tree nvls_tree collnet");
  CHECK(allowed(permitted_algorithms("Ring,Tree"), sum, kSome) == "ring tree");
  CHECK(allowed(permitted_algorithms("^NVLSTree"), sum, kSome) == "ring tree collnet");
  CHECK(allowed(permitted_algorithms("CollnetDirect"), sum, kSome) == "collnet");
  // the examples of NCCL's own source
  const Permits both = permitted_algorithms("ring,collnetdirect;allreduce:tree,collnetdirect;broadcast:ring");
  CHECK(allowed(both, gather, kSome) == "ring collnet");
  CHECK(allowed(both, sum, kSome) == "tree collnet");
  CHECK(allowed(both, CollectiveKind::broadcast, kSome) == "ring");
  const Permits protocols = permitted_protocols("^LL128;allreduce:LL128");
  CHECK(allowed(protocols, gather, {"ll", "ll128", "simple"}) == "ll simple");
  CHECK(allowed(protocols, sum, {"ll", "ll128", "simple"}) == "ll128");
  CHECK(allowed(permitted_algorithms("all_reduce:tree"), gather, kSome) == "ring tree nvls_tree collnet");
}

TEST_CASE("a list that cannot be read is refused with what is wrong") {
  CHECK(error_of("ring,tee").starts_with("unknown algorithm 'tee'; did you mean 'tree'?"));
  CHECK(error_of("").starts_with("unknown algorithm ''"));
  CHECK(error_of("ring,").starts_with("unknown algorithm ''"));
  CHECK(error_of("sum:ring") == "'sum' before ':' is no collective operation");
  CHECK(error_of("ring;tree").starts_with("every list after the first names its operation"));
}

TEST_CASE("the library chooses among what is permitted, and a wish outside is refused") {
  ClusterSpec cluster = with_switch();
  REQUIRE(chosen(cluster).algorithm == Algorithm::nvls);
  cluster.library.permits.nvls = false;
  CHECK(chosen(cluster).algorithm == Algorithm::ring);
  cluster.library.permits = MethodPermits();
  cluster.library.permits.algorithms = permitted_algorithms("^nvls,ring");
  CHECK(chosen(cluster).algorithm == Algorithm::tree);
  cluster.library.permits = MethodPermits();
  cluster.library.permits.protocols = permitted_protocols("ll");
  CHECK(chosen(cluster).protocol == Protocol::ll);
  CHECK(chosen(cluster).algorithm != Algorithm::nvls);  // it knows simple only
  CHECK_THROWS_AS(choose_method({.bytes = 1.0_MiB}, cluster, {.protocol = Protocol::simple}), InfeasibleError);
  cluster.library.permits = MethodPermits();
  cluster.library.permits.algorithms = permitted_algorithms("tree");
  CHECK_THROWS_AS(choose_method({.kind = CollectiveKind::all_reduce, .bytes = 1.0_MiB}, cluster,
                                {.algorithm = Algorithm::ring}),
                  InfeasibleError);
  CHECK_THROWS_WITH_AS(chosen(cluster, CollectiveKind::all_gather),
                       "library.algorithms leaves no algorithm for all_gather", InfeasibleError);
  CHECK(chosen(cluster, CollectiveKind::all_to_all).algorithm == Algorithm::direct);  // sends and receives
}

TEST_CASE("limits cut a library's channels first and then raise them, pairs have a power of two") {
  ClusterSpec cluster = with_switch();
  CollectiveLibrarySpec& library = cluster.library;
  library.channels = 24;
  library.p2p_channels = 32;
  const auto channels = [&](ChannelLimits limits, CollectiveKind kind, Algorithm algorithm) {
    library.channel_limits = limits;
    return channels_of(cluster, {.kind = kind, .bytes = 1.0_GB}, algorithm);
  };
  const CollectiveKind sum = CollectiveKind::all_reduce;
  CHECK(channels({}, sum, Algorithm::ring) == 24);
  CHECK(channels({.most = 8}, sum, Algorithm::ring) == 8);
  CHECK(channels({.most = 8}, sum, Algorithm::nvls) == 8);
  CHECK(channels({.most = 64}, sum, Algorithm::ring) == 24);
  CHECK(channels({.least = 32}, sum, Algorithm::ring) == 32);
  CHECK(channels({.least = 12, .most = 6}, sum, Algorithm::ring) == 12);
  CHECK(channels({.most = 12}, CollectiveKind::all_to_all, Algorithm::direct) == 16);
  CHECK(channels({.least = 40}, CollectiveKind::all_to_all, Algorithm::direct) == 64);
}

}  // namespace c3::collectives_permits_test
