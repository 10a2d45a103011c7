#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/trace_text.hpp"
#include "workloads/traces/rank_record.hpp"

namespace c3::traces_cross_stream_test {

namespace {

constexpr const char* kNccl = "ncclDevKernel_AllReduce_Sum_f16_RING_LL";

struct NamedEdge {
  std::string source;
  std::string destination;
  EdgeProvenance provenance;
  friend bool operator==(const NamedEdge&, const NamedEdge&) = default;
};

std::vector<NamedEdge> edges_of(const TraceText& text) {
  const Rank rank(text.read());
  std::vector<NamedEdge> edges;
  for (const CrossStreamEdge& edge : rank.edges)
    edges.push_back({rank.trace.name_of(rank.trace.activities[edge.source]),
                     rank.trace.name_of(rank.trace.activities[edge.destination]), edge.provenance});
  return edges;
}

/// c10d's operator of files of 2024, with or without tensors: an issue or a wait.
std::string issue(int sequence) {
  return fmt::format(
      R"("Input type":["TensorList","Scalar","Scalar","Scalar","","ScalarList","ScalarList","Scalar"],)"
      R"("Concrete Inputs":["","{}","93825114103440","0","","[]","[]","8"],"Input Dims":[[[4, 8]]])",
      sequence);
}
std::string wait(int sequence) {
  return fmt::format(R"("Input type":["Scalar","Scalar","Scalar","","ScalarList","ScalarList","Scalar"],)"
                     R"("Concrete Inputs":["{}","0","0","","[]","[]","1"])",
                     sequence);
}

}  // namespace

TEST_CASE("a recorded wait leads from the last work before the record to the next work after the wait") {
  TraceText text;
  text.launch("a1", 0, 10, 50, 1, 7).launch("a2", 6, 61, 50, 2, 7).call("cudaEventRecord", 15, 1, 3);
  text.launch("a3", 20, 112, 50, 4, 7).call("cudaStreamWaitEvent", 30, 1, 5).launch("b", 40, 115, 5, 6, 20);
  text.event("cuda_sync", "Stream Wait Event", 31, 1, R"("pid":0,"tid":20)",
             R"("stream":20,"wait_on_stream":7,"wait_on_cuda_event_record_corr_id":3,"correlation":5)");
  CHECK(edges_of(text) == std::vector<NamedEdge>{{"a2", "b", EdgeProvenance::recorded}});
}

TEST_CASE("a recorded wait is of the stream whose track it is on, where it does not say") {
  TraceText text;
  text.launch("a", 0, 10, 50, 1, 7).call("cudaEventRecord", 15, 1, 3).call("cudaStreamWaitEvent", 30, 1, 5);
  text.launch("b", 40, 61, 5, 6, 20);
  text.event("cuda_sync", "Stream Wait Event", 31, 1, R"("pid":0,"tid":20)",
             R"("wait_on_stream":7,"wait_on_cuda_event_record_corr_id":3,"correlation":5)");
  CHECK(edges_of(text) == std::vector<NamedEdge>{{"a", "b", EdgeProvenance::recorded}});
}

TEST_CASE("where synchronisation is recorded and no stream waited, none is taken to have waited") {
  TraceText text;
  text.launch(kNccl, 0, 10, 50, 1, 20).launch("a", 20, 61, 5, 2, 7);  // as if behind it
  CHECK(edges_of(text).size() == 1);
  text.call("cudaDeviceSynchronize", 30, 40, 3);
  text.event("cuda_sync", "Context Sync", 30, 40, R"("pid":0,"tid":0)", R"("correlation":3)");
  CHECK(edges_of(text).empty());
}

TEST_CASE("a stream does not need an edge to itself") {
  TraceText text;
  text.launch("a", 0, 10, 50, 1, 7).call("cudaEventRecord", 15, 1, 3).call("cudaStreamWaitEvent", 30, 1, 5);
  text.launch("b", 40, 65, 5, 6, 7);
  text.event("cuda_sync", "Stream Wait Event", 31, 1, R"("pid":0,"tid":7)",
             R"("stream":7,"wait_on_stream":7,"wait_on_cuda_event_record_corr_id":3,"correlation":5)");
  CHECK(edges_of(text).empty());
}

TEST_CASE("a recorded wait for an event before which nothing was launched has no effect") {
  TraceText text;
  text.call("cudaEventRecord", 0, 1, 3).launch("a", 5, 12, 50, 1, 7).call("cudaStreamWaitEvent", 30, 1, 5);
  text.launch("b", 40, 70, 5, 6, 20);
  text.event("cuda_sync", "Stream Wait Event", 31, 1, R"("pid":0,"tid":20)",
             R"("stream":20,"wait_on_stream":7,"wait_on_cuda_event_record_corr_id":3,"correlation":5)");
  CHECK(edges_of(text).empty());
}

TEST_CASE("sequence numbers lead from compute to the collective and from it to what waits for it") {
  TraceText text;
  text.launch("before", 0, 10, 50, 1, 7);
  text.op("record_param_comms", 10, 20, issue(337)).launch(kNccl, 15, 65, 100, 2, 20);
  text.launch("beside", 40, 62, 30, 3, 7);
  text.op("record_param_comms", 50, 5, wait(337)).launch("after", 60, 170, 30, 4, 7);
  CHECK(edges_of(text) == std::vector<NamedEdge>{{"before", kNccl, EdgeProvenance::issue},
                                                 {kNccl, "after", EdgeProvenance::wait}});
}

TEST_CASE("a wait for a collective that launched nothing adds no edge") {
  TraceText text;
  text.launch("a", 0, 10, 5, 1, 7).op("record_param_comms", 20, 5, issue(5));
  text.op("record_param_comms", 30, 5, wait(5)).launch("b", 40, 50, 5, 2, 7);
  CHECK(edges_of(text).empty());
}

TEST_CASE("a wait call without metadata: the next launch waits for the latest collective that had ended") {
  TraceText text;
  text.launch(kNccl, 0, 10, 100, 1, 20).call("cudaStreamWaitEvent", 20, 1, 2).launch("after", 30, 115, 5, 3, 7);
  text.launch("free", 40, 121, 5, 4, 7);
  CHECK(edges_of(text) == std::vector<NamedEdge>{{kNccl, "after", EdgeProvenance::inferred}});
}

TEST_CASE("an inferred source that ends after the destination has started is refuted") {
  TraceText text;
  text.launch(kNccl, 0, 10, 100, 1, 20).call("cudaStreamWaitEvent", 20, 1, 2).launch("after", 30, 60, 5, 3, 7);
  CHECK(edges_of(text).empty());
}

TEST_CASE("without any wait call, work that starts right behind a collective waits for it") {
  TraceText text;
  text.launch("before", 0, 10, 20, 1, 7).launch(kNccl, 5, 35, 100, 2, 20);
  text.launch("behind", 40, 150, 5, 3, 7).launch("later", 45, 300, 5, 4, 7);
  CHECK(edges_of(text) == std::vector<NamedEdge>{{"before", kNccl, EdgeProvenance::inferred},
                                                 {kNccl, "behind", EdgeProvenance::inferred}});
}

}  // namespace c3::traces_cross_stream_test
