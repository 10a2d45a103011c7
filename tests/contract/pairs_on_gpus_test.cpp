// A GEMM beside a collective on every kind of GPU, by channels and by copy engines: what must hold whatever the
// hardware is.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/support/written_experiment.hpp"
#include "workloads/execute/run.hpp"

namespace c3::pairs_on_gpus_test {

using namespace test;

namespace {

constexpr const char* kSystems[] = {"mi300x-8", "mi355x-8", "h100-sxm-8", "a100-sxm-80gb-8", "b200-sxm-8"};
constexpr int kSeeds = 2;
constexpr int kMask = 32;  // CUs: a multiple of every granule
// Other places for the work groups of a last wave, and their drawn times.
constexpr double kLuck = 0.02;

struct Times {
  double kernel = 0.0, collective = 0.0, whole = 0.0;
};

WrittenExperiment pair_on(const std::string& system, const std::vector<std::string>& sets = {}) {
  WrittenExperiment experiment;
  experiment.name = system;
  experiment.cluster = load_cluster(system, sets);
  experiment.streams = {
      {"compute", {{"gemm", GemmShape{8192, 8192, 8192, DType::bf16}}}},
      {"comm", {{"gather", CollectiveCall{CollectiveKind::all_gather, Bytes{512.0 * kMebi}}}}}};
  return experiment;
}

StreamPolicy engines() { return {.cus = {}, .backend = Backend::dma}; }

Strategy by(StreamPolicy comm, std::vector<std::string> order = {"comm", "compute"}, bool serial = false) {
  return {.name = "s", .serial = serial, .order = std::move(order), .streams = {{"comm", std::move(comm)}}};
}

/// Means over seeds.
Times run(const Experiment& experiment, const Strategy& strategy,
          OperationFilter filter = OperationFilter::all) {
  Times times;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const CuChoice cus = cu_choices(experiment, strategy).front();
    const RunResult result = run_once(experiment, strategy, {.cus = cus, .seed = seed, .filter = filter});
    if (result.kernels.any) times.kernel += result.kernels.duration().value / kSeeds;
    if (result.collectives.any) times.collective += result.collectives.duration().value / kSeeds;
    times.whole += result.time.value / kSeeds;
  }
  return times;
}

struct Way {
  const char* name;
  Strategy strategy;
};

std::vector<Way> ways() {
  Strategy reserved = by(engines());
  reserved.streams["compute"].reserve_cus = 8;
  return {{"SP", by({})},
          {"base", by({}, {"compute", "comm"})},
          {"RP", by({.cus = {kMask, kMask}})},
          {"engines", by(engines())},
          {"engines, CUs reserved", reserved}};
}

}  // namespace

TEST_CASE("a GEMM and a collective take as long one after the other as each alone, on every GPU") {
  for (const char* system : kSystems) {
    CAPTURE(system);
    const Experiment experiment = pair_on(system);
    const double kernel = run(experiment, by({}), OperationFilter::kernels).kernel;
    const double collective = run(experiment, by({}), OperationFilter::collectives).collective;
    const Times serial = run(experiment, by({}, {"compute", "comm"}, /*serial=*/true));
    CHECK(serial.kernel == near(kernel, 1e-6));
    CHECK(serial.collective == near(collective, 1e-2));
  }
}

TEST_CASE("neither side is faster beside the other than alone, by channels, masks and engines on every GPU") {
  for (const char* system : kSystems) {
    CAPTURE(system);
    const Experiment experiment = pair_on(system);
    for (const Way& way : ways()) {
      CAPTURE(way.name);
      const Times kernel = run(experiment, way.strategy, OperationFilter::kernels);
      const Times collective = run(experiment, way.strategy, OperationFilter::collectives);
      const Times together = run(experiment, way.strategy);
      CHECK(together.kernel >= kernel.kernel * (1.0 - kLuck));
      CHECK(together.collective >= collective.collective * (1.0 - kLuck));
      CHECK(together.whole >= std::max(kernel.whole, collective.whole) * (1.0 - kLuck));
      CHECK(together.whole <= (kernel.whole + collective.whole) * (1.0 + kLuck));
      // Behind a GEMM in the queue a collective may wait for all of it.
      if (way.strategy.order.front() == "comm")
        CHECK(together.whole < (kernel.whole + collective.whole) * 0.95);
    }
  }
}

TEST_CASE("engines cost a GEMM no more than channels, fewer channels no more than all, on every GPU") {
  for (const char* system : kSystems) {
    CAPTURE(system);
    const Experiment experiment = pair_on(system);
    const double alone = run(experiment, by({}), OperationFilter::kernels).kernel;
    const Times channels = run(experiment, by({}));
    const Times copied = run(experiment, by(engines()));
    const Times late = run(experiment, by({}, {"compute", "comm"}));
    MethodWish four;
    four.channels.most = 4;
    const Times few = run(experiment, by({.cus = {}, .method = four}));
    CHECK(copied.kernel <= channels.kernel * (1.0 + kLuck));
    CHECK(few.kernel <= channels.kernel * (1.0 + kLuck));
    CHECK(few.collective > channels.collective);
    CHECK(channels.collective <= late.collective * (1.0 + kLuck));
    CHECK(late.kernel <= channels.kernel * (1.0 + kLuck));
    CHECK(channels.kernel > alone * (1.0 + kLuck));  // channels take CUs for as long as they run
  }
}

TEST_CASE("no hypothesis makes a pair faster, or changes a GEMM alone, on any GPU") {
  const std::vector<std::string> hypotheses = {"gpu.strict_rotation=true", "gpu.product_after_others=1.1",
                                               "gpu.release_rewrites=1.0"};
  for (const char* system : kSystems) {
    CAPTURE(system);
    const Experiment off = pair_on(system);
    const Times alone = run(off, by({}), OperationFilter::kernels);
    const Times beside = run(off, by({}));
    for (const std::string& hypothesis : hypotheses) {
      CAPTURE(hypothesis);
      const Experiment on = pair_on(system, {hypothesis});
      CHECK(run(on, by({}), OperationFilter::kernels).kernel == alone.kernel);
      CHECK(run(on, by({})).kernel >= beside.kernel * (1.0 - kLuck));
    }
    const Experiment state = pair_on(system, {"gpu.product_after_others=1.1"});
    CHECK(run(state, by({})).kernel > beside.kernel * 1.03);
    CHECK(run(state, by(engines())).kernel > run(off, by(engines())).kernel * 1.03);
  }
}

TEST_CASE("what channels lose to the clock of a GEMM is the library's clock_share on every GPU") {
  for (const char* system : kSystems) {
    CAPTURE(system);
    const Experiment follows = pair_on(system, {"library.clock_share=1.0"});
    const Experiment stays = pair_on(system, {"library.clock_share=0.0"});
    CHECK(run(follows, by({})).collective >= run(stays, by({})).collective * (1.0 - 1e-6));
  }
}

}  // namespace c3::pairs_on_gpus_test
