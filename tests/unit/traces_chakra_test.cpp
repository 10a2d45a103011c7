/// Chakra traces: what counts as communication, the critical path, and what is refused.

#include <doctest/doctest.h>

#include "tests/support/chakra_text.hpp"
#include "workloads/traces/chakra/chakra_report.hpp"
#include "workloads/traces/chakra/critical_path.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3::traces_chakra_test {

namespace {

std::string refusal(const std::string& text) {
  return refusal_of([&] {
    std::vector<ChakraTrace> traces;
    traces.push_back(read_chakra("t.et", source_of(text)));
    make_report(traces);
  });
}

std::int64_t us(Picoseconds time) { return time.count / 1'000'000; }

}  // namespace

TEST_CASE("nodes are read with attributes of any kind of integer, and unknown fields are passed over") {
  for (const ChakraInteger integer :
       {ChakraInteger::int32, ChakraInteger::int64, ChakraInteger::uint32, ChakraInteger::uint64}) {
    const ChakraTrace trace =
        read_nodes({{.id = 5,
                     .type = 7,
                     .duration = 12,
                     .data = {3, 4},
                     .control = {9},
                     .attributes = {{"comm_type", 2}, {"comm_size", 4096}, {"is_cpu_op", 0}, {"tid", 20}},
                     .name = "ncclKernel",
                     .integer = integer}});
    CHECK(trace.schema == "1.0.0");
    REQUIRE(trace.nodes.size() == 1);
    const ChakraNode& node = trace.nodes.front();
    CHECK(node.id == 5);
    CHECK(us(node.duration) == 12);
    CHECK_FALSE(node.start.has_value());
    CHECK(node.comm_bytes == 4096);
    CHECK(node.thread == 20);
    CHECK(kind_of(node, "") == "all_gather");
    CHECK(std::vector(trace.data_of(node).begin(), trace.data_of(node).end()) ==
          std::vector<std::uint64_t>{3, 4});
    CHECK(std::vector(trace.control_of(node).begin(), trace.control_of(node).end()) ==
          std::vector<std::uint64_t>{9});
  }
}

TEST_CASE("metadata of before 2026 is a list of attributes in the field of the version") {
  const std::string metadata =
      message_text(field_text(1, field_text(1, std::string("schema")) + field_text(29, std::string("1.0.2"))));
  const ChakraNodeText node{.id = 1};
  CHECK(read_chakra("t.et", source_of(metadata + node.text())).schema == "1.0.2");
}

TEST_CASE("type 7 alone does not communicate: converters give it to operators of the host as well") {
  const auto communicates = [](ChakraNodeText node) {
    return read_nodes({std::move(node)}).nodes.front().is_communication();
  };
  CHECK(communicates({.id = 1, .type = 7, .attributes = {{"comm_size", 8}}}));
  CHECK(communicates({.id = 1, .type = 7, .attributes = {{"is_cpu_op", 0}}}));
  CHECK(communicates({.id = 1, .type = 5, .attributes = {{"comm_size", 8}, {"is_cpu_op", 0}}}));
  CHECK_FALSE(communicates({.id = 1, .type = 7}));
  CHECK_FALSE(communicates({.id = 1, .type = 7, .attributes = {{"is_cpu_op", 1}}}));
  CHECK_FALSE(communicates({.id = 1, .type = 4, .attributes = {{"is_cpu_op", 0}, {"comm_size", 8}}}));
}

TEST_CASE("the critical path is the longest chain of data dependencies") {
  // 1 (10, host) -> 2 (30, compute) -> 4 (5, communication); 1 -> 3 (40, compute): 50 us.
  const std::vector<ChakraNodeText> nodes{
      {.id = 1, .duration = 10, .attributes = {{"is_cpu_op", 1}}},
      {.id = 2, .duration = 30, .data = {1}, .attributes = {{"is_cpu_op", 0}}},
      {.id = 3, .duration = 40, .data = {1}, .attributes = {{"is_cpu_op", 0}}},
      {.id = 4, .type = 7, .duration = 5, .data = {2}, .attributes = {{"is_cpu_op", 0}, {"comm_size", 8}}}};
  const NodeTimes path = critical_path(read_nodes(nodes));
  CHECK(us(path.host) == 10);
  CHECK(us(path.compute) == 40);
  CHECK(us(path.communication) == 0);
}

TEST_CASE("control dependencies order nodes only in a trace without data dependencies") {
  std::vector<ChakraNodeText> nodes{{.id = 1, .duration = 10}, {.id = 2, .duration = 30, .control = {1}}};
  CHECK(us(critical_path(read_nodes(nodes)).sum()) == 40);
  // A ring of control dependencies, and ones on no node, as converters write them.
  nodes[0].control = {2, 77};
  nodes.push_back({.id = 3, .duration = 1, .data = {1}});
  const ChakraTrace trace = read_nodes(nodes);
  CHECK(us(critical_path(trace).sum()) == 30);
  CHECK(missing_dependencies(trace) == 1);
}

TEST_CASE("nodes that wait for each other are refused, with one of them") {
  CHECK(refusal(chakra_text({{.id = 3}, {.id = 1, .data = {2}}, {.id = 2, .data = {1}}})) ==
        "t.et: event 1: the nodes of this trace wait for each other in a ring");
}

TEST_CASE("a Chakra trace that ends anywhere is refused or shorter, never read past its end") {
  const std::string whole =
      chakra_text({{.id = 1, .duration = 300, .attributes = {{"is_cpu_op", 1}}},
                   {.id = 2, .type = 7, .duration = 5, .data = {1}, .attributes = {{"comm_size", 300}}}});
  std::size_t accepted = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    if (refusal(whole.substr(0, size)).empty()) ++accepted;
  }
  CHECK(accepted == 1);  // behind the first node
  CHECK(refusal(whole).empty());
}

TEST_CASE("any single damaged byte of a Chakra trace is read or refused") {
  const std::string whole =
      chakra_text({{.id = 1, .duration = 300, .attributes = {{"is_cpu_op", 1}}}, {.id = 2, .data = {1}}});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int byte : {0x00, 0x7F, 0x80, 0xFF}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(byte);
      CHECK_NOTHROW(refusal(damaged));
    }
  }
}

TEST_CASE("Chakra's JSON form") {
  const std::string text = R"({"workload_graph":[{"Id":1,"Name":"a","NodeType":4,"runtime":10,"is_cpu_op":true},
      {"id":"2","name":"b","type":"COMM_COLL_NODE","dataDeps":["1"],"durationMicros":"5","comm_size":64,"comm_type":7}],"ngpus":8})";
  const ChakraTrace trace = read_chakra_json("t.json", source_of(text));
  REQUIRE(trace.nodes.size() == 2);
  CHECK(trace.nodes[0].is_on_host);
  CHECK(trace.nodes[1].is_communication());
  CHECK(kind_of(trace.nodes[1], "") == "reduce_scatter");
  CHECK(us(critical_path(trace).sum()) == 15);
  for (std::size_t size = 0; size < text.size(); ++size)
    CHECK_THROWS_AS(read_chakra_json("t.json", source_of(text.substr(0, size))), TraceError);
}

}  // namespace c3::traces_chakra_test
