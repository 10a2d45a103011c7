// Bytes and CU-seconds are the same however a job is scheduled.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/main_job.hpp"
#include "tests/support/near.hpp"

namespace c3::test::conservation_test { namespace {

/// Integrates utilisation steps by resource name, and measures work-group residency by kernel.
class Ledger final : public Observer {
 public:
  void resource_added(ResourceId id, const ResourceInfo& info, double capacity) override {
    lines_.resize(std::max<std::size_t>(lines_.size(), id + 1));
    lines_[id] = {std::string(info.name), capacity, 0.0, 0.0, 0.0};
  }
  void capacity_changed(ResourceId id, Seconds, double capacity) override { lines_[id].capacity = capacity; }
  void activity_started(ActivityId, const ActivityInfo&, Seconds) override {}
  void activity_finished(ActivityId, Seconds) override {}
  void depends(ActivityId, ActivityId, DependencyKind) override {}
  void rate_changed(ActivityId, Seconds, double) override {}
  void utilisation(ResourceId id, Seconds at, double used) override {
    Line& line = lines_[id];
    CHECK(at.value >= line.since);
    CHECK(used <= line.capacity * (1.0 + 1e-9));
    line.total += line.used * (at.value - line.since);
    line.since = at.value;
    line.used = used;
  }

  /// Sum over resources whose name contains \p part and does not contain \p without.
  double total(const std::string& part, const std::string& without = "\n") const {
    double sum = 0.0;
    for (const Line& line : lines_) {
      if (line.name.find(part) != std::string::npos && line.name.find(without) == std::string::npos)
        sum += line.total;
    }
    return sum;
  }
  double left_in_use() const {
    double sum = 0.0;
    for (const Line& line : lines_)
      sum += std::abs(line.used) / std::max(1.0, line.total);
    return sum;
  }

 private:
  struct Line {
    std::string name;
    double capacity, used, since, total;
  };
  std::vector<Line> lines_;
};

void check_conservation(Experiment job) {
  CAPTURE(job.name);
  for (Strategy& strategy : job.strategies)
    strategy.streams["fsdp"].method.algorithm.reset();
  // Caches so large that how work groups are placed makes no miss: HBM bytes are then the compulsory ones.
  job.cluster.gpu.cache.l2_size = Bytes{1e18};
  job.cluster.gpu.cache.llc_size = Bytes{1e18};
  const auto& gemm = *shape_of<GemmShape>(job.program.scripts[0].streams[0][0]);
  const auto& call = job.program.calls[0].what;
  const KernelDescription kernel = describe_gemm("k", gemm, job.cluster.gpu);
  const double gemm_bytes =
      2.0 * static_cast<double>(gemm.m + gemm.n) * static_cast<double>(gemm.k) +
      kernel.output.value * static_cast<double>(kernel.work_groups);  // more than C when K is split
  const double sent = call.bytes.value * 7.0 / 8.0;
  const double overhead = job.cluster.node.link.both_ways / job.cluster.library.link_payload;
  for (const Strategy& strategy : job.strategies) {
    CAPTURE(strategy.name);
    const bool dma = policy_of(strategy, "fsdp").backend == Backend::dma;
    Ledger ledger;
    run_strategy(job, strategy, {.observer = &ledger});
    CHECK(ledger.total("link", ".duplex") == near(dma ? sent : sent * overhead, 1e-9));
    const double collective_bytes = sent * (dma ? 2.0 : 2.0 + job.cluster.library.staging_bytes);
    const double lost = ledger.total("gpu0.hbm.lost");
    const double occupied = ledger.total("gpu0.hbm") - ledger.total("gpu0.hbm.written") - lost;
    CHECK(occupied - lost == near(gemm_bytes + collective_bytes, 1e-6));
    CHECK(lost == near(gemm_bytes * (1.0 / kernel.hbm_share - 1.0), 1e-6));
    if (dma) CHECK(ledger.total("dma") == near(sent, 1e-9));
    if (!dma) CHECK(ledger.total("dma") == 0.0);
    CHECK(ledger.left_in_use() < 1e-9);
    // CUs are busy at least as long as the tiles compute.
    const double compute = kernel.compute_time.value * static_cast<double>(kernel.work_groups);
    CHECK(ledger.total("gpu0.cus") >= compute * 0.98);
  }
}

TEST_CASE("link and HBM bytes and CU-seconds are conserved under every strategy: main job") {
  check_conservation(main_job());
}

TEST_CASE("link and HBM bytes and CU-seconds are conserved under every strategy: random jobs") {
  for (std::uint64_t number = 1; number <= 12; ++number)
    check_conservation(random_job(number));
}

TEST_CASE("two identical bandwidth-bound kernels together take as long as one after the other") {
  // HBM so slow that a GEMM waits for bytes alone; caches so large that both load the same bytes in either
  // case.
  Experiment job = main_job();
  GpuSpec& gpu = job.cluster.gpu;
  gpu.dispatch.work_group_spread = 0.0;
  gpu.library_kernels.matrix_tiles = {{.m = 256, .n = 128, .k = 64, .waves = 8}};
  gpu.cache.l2_size = gpu.cache.llc_size = Bytes{1e18};
  gpu.hbm.read = gpu.hbm.write = gpu.hbm.copy = gpu.hbm.peak = BytesPerSecond{20e9};
  kernel_work(job) = GemmShape{2048, 4864, 1024, DType::bf16};  // 304 tiles: a wave
  job.program.scripts[0].streams[1][0].work = kernel_work(job);
  const double serial = run_strategy(job, strategy_of(job, "serial")).time.value;
  const double together = run_strategy(job, strategy_of(job, "concurrent")).time.value;
  CHECK(together == near(serial, 2e-3));
}

}}  // namespace c3::test::conservation_test
