// The closed form of a fused GEMM, and that T3's mechanisms never break it, on T3's own GPU.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/t3/sublayer_results.hpp"
#include "tests/support/near.hpp"

namespace c3::fused_kernel_test {

namespace {

Experiment t3_experiment(const std::vector<std::string>& sets) {
  return ExperimentFile::load(study_file("t3", "one.toml"), sets).make(std::nullopt);
}

/// No cost of mixing, updates as writes, waves in lock step, caches that hold everything.
const std::vector<std::string> kPlain = {"gpu.hbm_copy=850 GB/s",     "gpu.near_memory_update=1.0",
                                         "gpu.work_group_spread=0.0", "measure.seeds=1",
                                         "gpu.l2_size=4 GB",          "gpu.cohorts_per_placement=1",
                                         "gpu.staging_window=1 GB",   "gpu.tracker_entries=100000"};

}  // namespace

TEST_CASE("a fused GEMM that is longer than its communication takes G + (N-1) chunk / HBM rate, to 1 %") {
  const Experiment base = t3_experiment(kPlain);
  const SublayerList list = read_sublayers(study_file("t3", "sublayers.csv"));
  int checked = 0;
  for (const Sublayer& sublayer : list.sublayers) {
    const Experiment experiment = experiment_of(base, sublayer);
    const SublayerTimes times = time_sublayer(experiment);
    if (times.gemm < 1.2 * times.reduce) continue;  // else the link is what it waits for
    const double chunk = sublayer.partial_sums().value / sublayer.tp;
    const double stores = (sublayer.tp - 1) * chunk / 850e9;
    CAPTURE(sublayer.id());
    CHECK(times.fused_gemm.value == near(times.gemm.value + stores, 0.01));
    ++checked;
  }
  CHECK(checked >= 8);
}

TEST_CASE("byte counters of every main sub-layer: (2N-1)/(N-2) fewer reads, 2N-2 of 2N writes") {
  const Experiment base = t3_experiment({"measure.seeds=1"});
  for (const Sublayer& sublayer : read_sublayers(study_file("t3", "sublayers.csv")).sublayers) {
    if (sublayer.group != "main" || sublayer.name == "FC-1") continue;
    const auto [sequential, fused] = count_traffic(experiment_of(base, sublayer));
    const double n = sublayer.tp;
    const double chunk = sublayer.partial_sums().value / n;
    CAPTURE(sublayer.id());
    CHECK(sequential.reduce_read.value == near((2 * n - 1) * chunk, 1e-6));
    CHECK(fused.reduce_read.value == near((n - 2) * chunk, 1e-6));
    CHECK(sequential.stored().value == near(2 * n * chunk, 1e-6));
    CHECK(fused.stored().value == near((2 * n - 2) * chunk, 1e-6));
    CHECK(sequential.gather_read.value == near((n - 1) * chunk, 1e-6));
    CHECK(sequential.gather_written.value == near((n - 1) * chunk, 1e-6));
  }
}

TEST_CASE("eight GPUs of T3 and one that stands for all agree within 0.2 %") {
  Experiment experiment = t3_experiment({"measure.seeds=1"});
  const SublayerTimes folded = time_sublayer(experiment);
  experiment.measure.fold = Fold::none;
  const SublayerTimes whole = time_sublayer(experiment);
  CHECK(whole.t3.value == near(folded.t3.value, 0.002));
  CHECK(whole.t3_mca.value == near(folded.t3_mca.value, 0.002));
}

}  // namespace c3::fused_kernel_test
