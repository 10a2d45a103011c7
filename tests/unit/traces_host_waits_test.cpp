#include <algorithm>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/trace_text.hpp"
#include "workloads/traces/make_report.hpp"

namespace c3::traces_host_waits_test {

namespace {

/// What the call of this name waits for, if for one kernel.
std::optional<std::string> waits_for(const TraceText& text, const std::string& call) {
  const Rank rank(text.read());
  std::optional<std::string> source;
  for (const HostWait& wait : rank.waits) {
    if (rank.trace.name_of(rank.trace.calls[wait.call]) != call) continue;
    CHECK_FALSE(source.has_value());
    source = rank.trace.name_of(rank.trace.activities[wait.activity]);
  }
  return source;
}

std::vector<Rank> one(const TraceText& text) {
  std::vector<Rank> ranks;
  ranks.emplace_back(text.read());
  return ranks;
}

}  // namespace

TEST_CASE("a synchronisation of the device waits for the last work of every stream") {
  TraceText text;
  text.launch("a", 0, 10, 50, 1, 7).launch("b", 6, 20, 90, 2, 20).call("cudaDeviceSynchronize", 12, 101, 3);
  const Rank rank(text.read());
  CHECK(rank.waits.size() == 2);
}

TEST_CASE("a synchronisation of an unknown stream waits for the work that ended last before it returned") {
  TraceText text;
  text.launch("short", 0, 10, 50, 1, 7)
      .launch("long", 6, 20, 900, 2, 20)
      .call("cudaStreamSynchronize", 12, 51, 3);
  CHECK(waits_for(text, "cudaStreamSynchronize") == "short");
}

TEST_CASE("a synchronisation record says which stream") {
  TraceText text;
  text.launch("short", 0, 10, 20, 1, 7)
      .launch("long", 6, 20, 40, 2, 20)
      .call("cudaStreamSynchronize", 12, 51, 3);
  text.event("cuda_sync", "Stream Sync", 12, 50, R"("pid":0,"tid":7)", R"("stream":7,"correlation":3)");
  CHECK(waits_for(text, "cudaStreamSynchronize") == "short");
}

TEST_CASE("a copy that is over when its call returns was waited for, another one was not") {
  TraceText text;
  text.call("cudaMemcpyAsync", 0, 100, 1)
      .event("gpu_memcpy", "there", 60, 30, R"("pid":0,"tid":7)", R"("stream":7,"device":0,"correlation":1)");
  CHECK(waits_for(text, "cudaMemcpyAsync") == "there");
  TraceText later;
  later.call("cudaMemcpyAsync", 0, 10, 1)
      .event("gpu_memcpy", "there", 8, 30, R"("pid":0,"tid":7)", R"("stream":7,"device":0,"correlation":1)");
  CHECK_FALSE(waits_for(later, "cudaMemcpyAsync").has_value());
}

TEST_CASE("a copy that ends before its call returns is no wait where the call launched it only at its end") {
  // 31 us of staging pageable memory, then a copy of 1 us: the copy did not make the call take 33 us.
  TraceText text;
  text.call("cudaMemcpyAsync", 1000, 33, 7)
      .event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 1031, 1, R"("pid":0,"tid":7)",
             R"("stream":7,"device":0,"correlation":7)");
  CHECK_FALSE(waits_for(text, "cudaMemcpyAsync").has_value());
  const std::vector<Rank> ranks = one(text);
  const ImportReport report = make_report(ranks);
  CHECK(report.errors.worst == 0.0);
  CHECK(report.unexplained.empty());
  // A nested synchronisation of the driver waits for the copy as little.
  text.call("cuStreamSynchronize", 1005, 27, 8);
  CHECK(make_report(one(text)).errors.worst == 0.0);
}

TEST_CASE("a long allocation is a wait only if it returns soon after the GPU had become idle") {
  TraceText text;
  text.launch("k", 0, 10, 300, 1).call("cudaMalloc", 10, 350, 2);
  CHECK(waits_for(text, "cudaMalloc") == "k");
  TraceText long_after;
  long_after.launch("k", 0, 10, 300, 1).call("cudaMalloc", 10, 450, 2);
  CHECK_FALSE(waits_for(long_after, "cudaMalloc").has_value());
  TraceText still_running;
  still_running.launch("k", 0, 10, 300, 1).call("cudaMalloc", 10, 200, 2);
  CHECK_FALSE(waits_for(still_running, "cudaMalloc").has_value());
}

TEST_CASE("a slow launch that returns at the end of earlier work waited for a place in the queue") {
  TraceText text;
  for (int i = 0; i < 5; ++i)
    text.launch("k" + std::to_string(i), 10 * i, 100 * i + 50, 100, i + 1);
  text.call("cudaLaunchKernelExC", 60, 95, 9).kernel("late", 560, 10, 9);
  CHECK(waits_for(text, "cudaLaunchKernelExC") == "k0");  // ends at 150; the call returns at 155
  TraceText other;
  for (int i = 0; i < 5; ++i)
    other.launch("k" + std::to_string(i), 10 * i, 100 * i + 50, 100, i + 1);
  other.call("cudaLaunchKernelExC", 60, 140, 9).kernel("late", 560, 10, 9);
  CHECK_FALSE(waits_for(other, "cudaLaunchKernelExC").has_value());  // returns at 200: nothing ended there
}

}  // namespace c3::traces_host_waits_test
