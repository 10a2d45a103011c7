#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/trace_text.hpp"
#include "workloads/traces/make_report.hpp"
#include "workloads/traces/start_lags.hpp"

namespace c3::traces_replay_test {

namespace {

std::vector<Rank> one(const TraceText& text) {
  std::vector<Rank> ranks;
  ranks.emplace_back(text.read());
  return ranks;
}

const BoundRow& bound(const ImportReport& report, const std::string& change) {
  return *std::ranges::find(report.bounds, change, &BoundRow::change);
}

}  // namespace

TEST_CASE("points take place when the latest of their causes allows it") {
  DependencyGraph graph;
  const PointId a = graph.add_point({});
  const PointId b = graph.add_point({});
  const PointId c = graph.add_point({});
  graph.add_edge(DependencyGraph::kOrigin, a, 10_us, LagKind::host);
  graph.add_edge(DependencyGraph::kOrigin, b, 4_us, LagKind::gpu);
  graph.add_edge(a, c, 1_us, LagKind::latency);
  graph.add_edge(b, c, 8_us, LagKind::gpu);
  CHECK(graph.replay()[c] == 12_us);
  LagScales half;
  half[static_cast<std::size_t>(LagKind::gpu)] = {.numerator = 1, .denominator = 2};
  CHECK(graph.replay(half)[c] == 11_us);
}

TEST_CASE("points that wait for each other are refused") {
  DependencyGraph graph;
  const PointId behind = graph.add_point({});
  const PointId a = graph.add_point({});
  const PointId b = graph.add_point({});
  graph.add_edge(a, b, 1_us, LagKind::host);
  graph.add_edge(b, a, 1_us, LagKind::host);
  graph.add_edge(a, behind, 1_us, LagKind::host);  // waits for the ring and is not in it
  try {
    graph.replay();
    FAIL("the ring was not found");
  } catch (const CycleError& error) {
    std::vector<PointId> ring = error.ring();
    std::ranges::sort(ring);
    CHECK(ring == std::vector<PointId>{a, b});
  }
}

TEST_CASE("of collectives that ranks run in two orders, the kernels of the ring are named") {
  const auto rank = [](int number, int first, int second) {
    TraceText text;
    text.op("aten::zero", 0, 1);
    const auto kernel = [&](const char* name, int start, int sequence) {
      text.call("cudaLaunchKernel", start - 10, 5, sequence)
          .kernel(name, start, 20, sequence, 20,
                  fmt::format(R"(,"Seq":{},"Collective name":"allreduce","In msg nelems":8,"dtype":"Float",)"
                              R"("Group size":2,"Process Group Name":"0")",
                              sequence));
    };
    kernel(first == 1 ? "one" : "two", 100, first);
    kernel(second == 1 ? "one" : "two", 200, second);
    return Rank(text.read(fmt::format(R"("distributedInfo":{{"rank":{},"world_size":2}},)", number)));
  };
  std::vector<Rank> ranks;
  ranks.push_back(rank(0, 1, 2));
  ranks.push_back(rank(1, 2, 1));
  const std::string refusal = refusal_of([&] { make_report(ranks); });
  CHECK(refusal.find("events of this run wait for each other in a ring: ") != std::string::npos);
  for (const char* const named :
       {"'one' (trace.json, event 2, ts 100.000)", "'two' (trace.json, event 4, ts 200.000)",
        "'two' (trace.json, event 2, ts 100.000)", "'one' (trace.json, event 4, ts 200.000)"})
    CHECK_MESSAGE(refusal.find(named) != std::string::npos, refusal);
}

TEST_CASE("the nearest cause keeps its recorded lag, others get typical ones") {
  const TypicalLags typical{10_us, 2_us, 4_us};
  const std::vector<CauseSlack> causes{{.cause = StartCause::launch, .slack = 500_us},
                                       {.cause = StartCause::stream, .slack = 7_us}};
  const StartLags found = start_lags(causes, typical);
  CHECK(found.lags == std::vector<Picoseconds>{10_us, 7_us});
  CHECK(found.unexplained == Picoseconds{});
}

TEST_CASE("a start far from all causes is unexplained and not kept as a latency") {
  const TypicalLags typical{10_us, 2_us, 4_us};
  const std::vector<CauseSlack> causes{{.cause = StartCause::launch, .slack = 500_us},
                                       {.cause = StartCause::stream, .slack = 90_us}};
  const StartLags found = start_lags(causes, typical);
  CHECK(found.lags == std::vector<Picoseconds>{10_us, 2_us});
  CHECK(found.unexplained == 88_us);
}

TEST_CASE("what the hosts launch in time is replayed as recorded, and the hosts bind the step") {
  TraceText text;
  text.step(0, 300).launch("a", 10, 20, 30, 1).launch("b", 110, 120, 30, 2).launch("c", 210, 220, 30, 3);
  const ImportReport report = make_report(one(text));
  CHECK(report.errors.step_error == 0.0);
  CHECK(report.errors.worst == 0.0);
  CHECK(bound(report, "as recorded").step == 300_us);
  CHECK(bound(report, "GPU times halved").step == 300_us);
  CHECK(bound(report, "host times x 0.02").step == 6_us);
}

TEST_CASE("a synchronisation is derived: with halved kernels the host returns earlier") {
  TraceText text;
  // The host waits from 20 to 225 for kernels of 200 us that end at 220, and then works until 300.
  text.step(0, 300).launch("a", 10, 20, 100, 1).launch("b", 15, 120, 100, 2);
  text.call("cudaDeviceSynchronize", 20, 205, 3);
  const ImportReport report = make_report(one(text));
  CHECK(report.errors.step_error == 0.0);
  CHECK(report.edges.host_waits[static_cast<std::size_t>(WaitReason::device)] == 1);
  CHECK(bound(report, "GPU times halved").step == 200_us);
}

TEST_CASE("GPU work may end before or after its step, and what is scaled tells which binds it") {
  TraceText text;
  text.step(0, 100).launch("a", 10, 20, 500, 1);
  const ImportReport report = make_report(one(text));
  CHECK(bound(report, "as recorded").step == 100_us);
  CHECK(bound(report, "as recorded").gpu == 520_us);
  CHECK(bound(report, "GPU times halved").gpu == 270_us);
}

TEST_CASE("a slow launch call puts its kernel into the queue at its end") {
  TraceText text;
  text.step(0, 12000).call("cudaLaunchKernel", 10, 10000, 1).kernel("first", 10018, 30, 1);
  CHECK(make_report(one(text)).unexplained.empty());
}

TEST_CASE("a backward thread starts when the forward thread has ended, and that one goes on behind it") {
  TraceText text;
  text.step(0, 1000, 1).op("aten::mm", 0, 100, "", 1).launch("forward", 10, 20, 30, 1, 7, 1);
  text.op("MmBackward", 150, 500, "", 2).launch("backward", 160, 170, 30, 2, 7, 2);
  text.op("Optimizer", 700, 300, "", 1).launch("update", 710, 720, 30, 3, 7, 1);
  const ImportReport report = make_report(one(text));
  CHECK(report.edges.resumes == 2);
  CHECK(report.errors.worst == 0.0);
  // Everything is a chain of host work across both threads.
  CHECK(bound(report, "host times x 0.02").step == 20_us);
}

TEST_CASE("work launched before the recording keeps its recorded start") {
  TraceText text;
  text.step(0, 300).kernel("earlier", 5, 200, 99).launch("a", 10, 207, 30, 1);
  const ImportReport report = make_report(one(text));
  CHECK(report.errors.worst == 0.0);
  CHECK(report.edges.launch == 1);
}

TEST_CASE("a trace without GPU work or steps is reported, not refused") {
  TraceText text;
  text.op("aten::add", 0, 10);
  const ImportReport report = make_report(one(text));
  CHECK(report.classes.empty());
  CHECK(report.errors.step_error == 0.0);
}

}  // namespace c3::traces_replay_test
