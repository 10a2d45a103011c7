// How much of a recorded step remains if the GPU takes no time.

#include <vector>

#include <doctest/doctest.h>

#include "tests/support/trace_text.hpp"
#include "workloads/traces/replay/host_bound.hpp"
#include "workloads/traces/replay/record_run.hpp"

namespace c3::traces_host_bound_test {

namespace {

HostBound bound_of(const std::vector<TraceText>& texts) {
  std::vector<Rank> ranks;
  for (std::size_t rank = 0; rank < texts.size(); ++rank)
    ranks.emplace_back(texts[rank].read(
        fmt::format(R"("distributedInfo":{{"rank":{},"world_size":{}}},)", rank, texts.size())));
  return host_bound(record_run(ranks));
}

/// A step of one kernel that is launched at \p launch and takes \p length [us], for which the host waits.
TraceText one_kernel(double launch, double length) {
  TraceText text;
  text.step(0, launch + 11 + length).launch("a", launch, launch + 10, length, 1);
  return text.call("cudaDeviceSynchronize", launch + 6, length + 5, 2);
}

}  // namespace

TEST_CASE("a step that waits for a long kernel is not the host's") {
  // Launched at 0, the kernel starts at 10 us and takes 1000, the host returns 1 us later: 1011. Without its
  // time: 11.
  const HostBound bound = bound_of({one_kernel(0, 1000)});
  CHECK(bound.recorded == 1010_us);
  CHECK(bound.by_hosts == 10_us);
  CHECK(bound.share() == doctest::Approx(10.0 / 1010.0));
}

TEST_CASE("a step of a slow host is the host's") {
  // 500 us pass before the launch, the kernel starts 10 later and takes 20.
  const HostBound bound = bound_of({one_kernel(500, 20)});
  CHECK(bound.recorded == 530_us);
  CHECK(bound.by_hosts == 510_us);
}

TEST_CASE("a rank that waits in a collective for a slow host is bound by that host") {
  const auto rank = [](double launch, double start, double length) {
    TraceText text;
    text.step(0, 541).call("cudaLaunchKernel", launch, 5, 1);
    text.kernel("ncclDevKernel_AllReduce_Sum_f16_RING_LL", start, length, 1, 20);
    return text.call("cudaDeviceSynchronize", launch + 6, 535 - launch, 2);
  };
  // The late rank launches at 500; its kernel starts at 510, and both end at 540, 30 us later.
  const HostBound bound = bound_of({rank(0, 10, 530), rank(500, 510, 30)});
  CHECK(bound.recorded == 540_us);
  CHECK(bound.by_hosts == 510_us);
}

}  // namespace c3::traces_host_bound_test
