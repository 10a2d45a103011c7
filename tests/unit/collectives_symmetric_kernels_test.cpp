// Kernels on registered buffers: which one NCCL takes, with how many work groups, and what it takes.
//
// The tables were worked out apart from the code under test, by a script of the rules in queryModel_lsa and
// ncclSymkPickKernel (src/sym_kernels.cc of NCCL 2.27.7 to 2.30.7). As an example, eight H100, all-gather of
// 1 MiB, multicast: 7 x 128 KiB received at softmin(2 x 44 x 4.4, 320) GiB/s are 2.9 us: 7.8 + ln(1 + e^1.9)
// = 9.7 us.

#include <doctest/doctest.h>
#include "collectives/library/symmetric_kernels.hpp"

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/library/tuner.hpp"
#include "collectives/measure.hpp"
#include "engine/errors.hpp"
#include "tests/support/clusters.hpp"
#include "tests/support/fabrics.hpp"
#include "tests/support/gpu_families.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_symmetric_kernels_test {

using namespace literals;
using namespace test;

namespace {

struct Choice {
  int up_to;  ///< log2 of the largest size
  std::string_view method;
};

struct Row {
  std::string_view gpu;
  CollectiveKind kind;
  int gpus;
  std::vector<Choice> choices;  ///< from 1 KiB on
};

// clang-format off
const std::vector<Row> kRows{
    {"hopper", CollectiveKind::all_reduce, 2, {{16, "symmetric_gather ll"}, {32, "symmetric simple"}}},
    {"hopper", CollectiveKind::all_reduce, 4, {{15, "symmetric_gather ll"}, {32, "symmetric_nvls simple"}}},
    {"hopper", CollectiveKind::all_reduce, 8, {{14, "symmetric_gather ll"}, {32, "symmetric_nvls simple"}}},
    {"hopper", CollectiveKind::all_gather, 2, {{17, "symmetric ll"}, {32, "symmetric simple"}}},
    {"hopper", CollectiveKind::all_gather, 8, {{16, "symmetric ll"}, {32, "symmetric_nvls simple"}}},
    {"hopper", CollectiveKind::reduce_scatter, 2, {{17, "symmetric ll"}, {32, "symmetric simple"}}},
    {"hopper", CollectiveKind::reduce_scatter, 4, {{16, "symmetric ll"}, {32, "symmetric_nvls simple"}}},
    {"blackwell", CollectiveKind::all_reduce, 2, {{17, "symmetric_gather ll"}, {32, "symmetric simple"}}},
    {"blackwell", CollectiveKind::all_reduce, 8, {{15, "symmetric_gather ll"}, {32, "symmetric_nvls simple"}}},
    {"blackwell", CollectiveKind::all_gather, 4, {{17, "symmetric ll"}, {32, "symmetric_nvls simple"}}},
    {"blackwell", CollectiveKind::reduce_scatter, 2, {{15, "symmetric ll"}, {32, "symmetric simple"}}},
    {"blackwell", CollectiveKind::reduce_scatter, 8, {{15, "symmetric ll"}, {32, "symmetric_nvls simple"}}},
};
// clang-format on

ClusterSpec registered(std::string_view gpu, int gpus, LibraryVersion version = kNewestNccl) {
  ClusterSpec cluster = reducing_nodes_of(1, gpus);
  cluster.gpu.family = gpu == "hopper" ? hopper() : blackwell();
  CollectiveLibrarySpec& library = cluster.library;
  library.rules = TunerRules::nccl;
  library.version = version;
  library.tuner_bandwidth = gpu == "hopper" ? 370.8_GBps : 721.8_GBps;
  library.ll = library.simple;
  library.registered_buffers = true;
  return cluster;
}

std::string chosen(const ClusterSpec& cluster, CollectiveKind kind, double bytes) {
  const CollectiveMethod method = choose_method({.kind = kind, .bytes = Bytes{bytes}}, cluster);
  return std::string(name_of(method.algorithm)) + " " + std::string(name_of(method.protocol));
}

SymmetricKernel kernel_of(const ClusterSpec& cluster, CollectiveKind kind, double bytes, Algorithm algorithm,
                          Protocol protocol) {
  const CollectiveCall call{.kind = kind, .bytes = Bytes{bytes}};
  const auto kernel = symmetric_kernel(PublishedFigures(call, cluster), algorithm, protocol);
  REQUIRE(kernel);
  return *kernel;
}

}  // namespace

TEST_CASE("on registered buffers NCCL takes the symmetric kernel of its source's own model") {
  for (const Row& row : kRows) {
    const ClusterSpec cluster = registered(row.gpu, row.gpus);
    auto choice = row.choices.begin();
    for (int power = 10; power <= 32; ++power) {
      if (power > choice->up_to) ++choice;
      CAPTURE(row.gpu);
      CAPTURE(row.gpus);
      CAPTURE(name_of(row.kind));
      CAPTURE(power);
      CHECK(chosen(cluster, row.kind, std::exp2(power)) == choice->method);
    }
  }
}

TEST_CASE("symmetric kernels take few work groups, and the time of their source's model") {
  const ClusterSpec hopper = registered("hopper", 8), blackwell = registered("blackwell", 8);
  const auto small = kernel_of(hopper, CollectiveKind::all_gather, 1 << 16, Algorithm::symmetric, Protocol::ll);
  CHECK(small.channels == 7);
  CHECK(small.time / 1.0_us == near(5.70, 2e-3));
  const auto large =
      kernel_of(hopper, CollectiveKind::all_reduce, 1 << 24, Algorithm::symmetric_nvls, Protocol::simple);
  CHECK(large.channels == 2);
  CHECK(large.time / 1.0_us == near(43.42, 2e-3));
  const auto newer =
      kernel_of(blackwell, CollectiveKind::all_gather, 1 << 24, Algorithm::symmetric_nvls, Protocol::simple);
  CHECK(newer.channels == 3);
  CHECK(newer.time / 1.0_us == near(34.99, 2e-3));
}

TEST_CASE("symmetric kernels need registered buffers, NCCL 2.27 and one node") {
  ClusterSpec cluster = registered("hopper", 8);
  const auto takes = [&] {
    return chosen(cluster, CollectiveKind::all_reduce, 1 << 24).starts_with("symmetric");
  };
  CHECK(takes());
  cluster.library.registered_buffers = false;
  CHECK_FALSE(takes());
  cluster.library.registered_buffers = true;
  cluster.library.version = {2, 26, 6};
  CHECK_FALSE(takes());
  cluster.library.version = {2, 27, 3};
  CHECK(takes());
  cluster.library.permits.nvls = false;  // what is left: by loads and stores of work groups
  CHECK_FALSE(takes());
  ClusterSpec nodes = reducing_nodes_of(2, 8);
  nodes.gpu.family = hopper();
  nodes.library = registered("hopper", 8).library;
  nodes.fabric->nic.raw = 50.0_GBps;
  CHECK_FALSE(chosen(nodes, CollectiveKind::all_reduce, 1 << 24).starts_with("symmetric"));
}

TEST_CASE("from 2.29.0 to 2.29.6 a symmetric kernel in ll runs only where ll would run without it") {
  const CollectiveCall call{.kind = CollectiveKind::all_gather, .bytes = 64.0_KiB};
  for (const LibraryVersion version :
       {LibraryVersion{2, 28, 9}, LibraryVersion{2, 29, 2}, LibraryVersion{2, 29, 7}}) {
    CAPTURE(name_of(version));
    const ClusterSpec cluster = registered("hopper", 8, version);
    const PublishedFigures figures(call, cluster);
    CHECK(symmetric_method(figures, {Algorithm::ring, Protocol::ll}));
    const bool stays = version != LibraryVersion{2, 29, 2};
    CHECK(symmetric_method(figures, {Algorithm::nvls, Protocol::simple}).has_value() == stays);
  }
}

TEST_CASE("on registered buffers a collective pays its kernel's base, then what links or work groups pass") {
  ClusterSpec cluster = registered("hopper", 8);
  cluster.library.link_payload = 360.0_GBps;
  const auto time = [&](CollectiveKind kind, Bytes bytes, const CollectiveMethod& method) {
    const CollectiveCall call{.kind = kind, .bytes = bytes};
    return measure_collective(cluster, call, {.method = method}).time / 1.0_us;
  };
  CHECK(time(CollectiveKind::all_gather, 8.0_B, {Algorithm::symmetric, Protocol::ll}) == near(4.5, 2e-2));
  CHECK(time(CollectiveKind::all_gather, 8.0_B, {Algorithm::symmetric, Protocol::simple}) == near(7.8, 2e-2));
  CHECK_THROWS_WITH_AS(
      time(CollectiveKind::all_reduce, 8.0_B, {Algorithm::symmetric, Protocol::ll}),
      "'rccl-like' has no kernel symmetric for all_reduce in protocol ll on 'mi300x-like-cluster'",
      InfeasibleError);
  cluster.library.registered_buffers = false;
  CHECK_THROWS_WITH_AS(time(CollectiveKind::all_gather, 8.0_B, {Algorithm::symmetric, Protocol::ll}),
                       "all_gather: symmetric needs buffers that are registered with every rank: "
                       "library.registered_buffers = true",
                       InfeasibleError);
}

TEST_CASE("large all-gathers of registered buffers go by copy engines on Blackwell from 2.29.2 on") {
  const auto backend = [](const ClusterSpec& cluster, double bytes, std::optional<DType> dtype = {}) {
    const CollectiveCall call{.kind = CollectiveKind::all_gather, .bytes = Bytes{bytes}, .dtype = dtype};
    return choose_backend(call, cluster);
  };
  const double most = 8.0 * 8388608.0;  // 8 Mi elements of a byte by each of 8 ranks
  const ClusterSpec cluster = registered("blackwell", 8);
  CHECK(backend(cluster, most) == Backend::cu);
  CHECK(backend(cluster, most + 8.0) == Backend::dma);
  CHECK(backend(cluster, 2.0 * most, DType::bf16) == Backend::cu);
  CHECK(backend(cluster, 2.0 * most + 16.0, DType::bf16) == Backend::dma);
  CHECK(backend(registered("blackwell", 8, {2, 29, 2}), 2.0 * most) == Backend::dma);
  CHECK(backend(registered("blackwell", 8, {2, 28, 9}), 2.0 * most) == Backend::cu);
  CHECK(backend(registered("hopper", 8), 2.0 * most) == Backend::cu);
  const CollectiveCall sum{.kind = CollectiveKind::all_reduce, .bytes = Bytes{4.0 * most}};
  CHECK(choose_backend(sum, cluster) == Backend::cu);
  CHECK(choose_backend({.kind = CollectiveKind::all_gather, .bytes = Bytes{2.0 * most}}, cluster,
                       {.algorithm = Algorithm::ring}) == Backend::cu);
}

}  // namespace c3::collectives_symmetric_kernels_test
