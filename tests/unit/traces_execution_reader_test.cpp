/// PyTorch execution traces: nodes, arguments and collectives of every schema, and what is refused.

#include <doctest/doctest.h>

#include "tests/support/execution_text.hpp"
#include "workloads/traces/execution/group_ranks.hpp"
#include "workloads/traces/execution/operator_class.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3::traces_execution_reader_test {

namespace {

const std::vector<std::string> kSchemas{"1.0.1", "1.0.3-chakra.0.0.4", "1.1.1-chakra.0.0.4"};

std::string refusal(const std::string& text) {
  return refusal_of([&] { read_execution_trace("t.json", source_of(text)); });
}

ArgumentText group_text_of(const std::string& name, const std::string& description) {
  return {fmt::format(R"(["{}","{}"])", name, description), "[[],[]]", "Tuple[String,String]"};
}

/// The only collective of a trace of one node.
ExecutionCollective collective_of(const ExecutionTrace& trace) {
  REQUIRE(trace.collectives.size() == 1);
  return trace.collectives.front();
}

}  // namespace

TEST_CASE("arguments of an execution trace read as Kineto writes them") {
  const std::vector<ArgumentText> inputs{
      {R"([5,6,0,8,2,"cuda:0"])", "[2,4]", "Tensor(c10::Half)"},
      {R"([[7,8,0,3,8,"cpu"],"<None>"])", "[[3],[]]", "GenericList[Tensor(long),None]"},
      {"1", "[]", "Int"},
      {"0.5", "[]", "Double"},
      {"true", "[]", "Bool"},
      {"[4,2048]", "[[],[]]", "GenericList[Int,Int]"},
      {"[]", "[]", "GenericList[]"},
      {R"("cuda:0")", "[]", "Device"},
      {R"("<None>")", "[]", "None"},
      {R"([9,0,0,0,0,""])", "[]", "Tensor(nullptr (uninitialized))"}};
  for (const std::string& schema : kSchemas) {
    CAPTURE(schema);
    const ExecutionTrace trace = ExecutionText(schema).node(3, "aten::x", 1, inputs).read();
    CHECK(trace.schema == schema);
    CHECK(trace.process == "100");
    const ExecutionArguments& read = trace.nodes.front().inputs;
    CHECK(trace.texts.text(read.texts.dims) == "[[2, 4], [[3], []], [], [], [], [], [], [], [], []]");
    CHECK(
        trace.texts.text(read.texts.types) ==
        R"(["c10::Half", "TensorList", "Scalar", "Scalar", "Scalar", "ScalarList", "ScalarList", "", "", ""])");
    CHECK(trace.texts.text(read.texts.concrete) ==
          R"(["", "", "1", "0.5", "True", "[4, 2048]", "[]", "cuda:0", "", ""])");
    REQUIRE(read.tensors == 3);
    const ExecutionTensor& half = trace.tensors[read.first_tensor];
    CHECK(half.tensor == 5);
    CHECK(half.storage == 6);
    CHECK(half.elements == 8);
    CHECK(half.element_bytes == 2);
    CHECK(trace.texts.text(half.device) == "cuda:0");
    CHECK(trace.texts.text(half.dims) == "[2, 4]");
    CHECK(trace.texts.text(trace.tensors[read.first_tensor + 1].type) == "long int");
  }
}

TEST_CASE("nodes are sorted by id and linked to their parents") {
  for (const std::string& schema : kSchemas) {
    CAPTURE(schema);
    const ExecutionTrace trace = ExecutionText(schema)
                                     .node(4, "aten::mm", 3)
                                     .node(3, "aten::matmul", 1)
                                     .node(1, "root", 1)
                                     .node(9, "x", 7)
                                     .read();
    std::vector<std::int64_t> ids;
    for (const ExecutionNode& node : trace.nodes)
      ids.push_back(node.id);
    CHECK(ids == std::vector<std::int64_t>{1, 3, 4, 9});
    CHECK(trace.parents == std::vector<std::uint32_t>{kNoIndex, 0, 1, kNoIndex});
    CHECK(trace.missing_parents == 1);
    CHECK(trace.nodes[2].record_id == 4);
    CHECK(trace.texts.text(trace.nodes[2].schema) == "aten::mm(..)");
    CHECK(trace.nodes[2].position == 0);
  }
}

TEST_CASE("a collective of schema 1.0.1 has the address of its group, and may have its size") {
  const ExecutionTrace trace = ExecutionText()
                                   .node(5, "record_param_comms", 1,
                                         {tensors_text(7, 256), int_text(337), int_text(938251141), int_text(3),
                                          string_text("allreduce"), list_text({}), list_text({}), int_text(8)},
                                         {tensors_text(7, 256)})
                                   .read();
  const ExecutionCollective collective = collective_of(trace);
  const CollectiveArguments& arguments = collective.arguments;
  CHECK(trace.texts.text(arguments.name) == "allreduce");
  CHECK(trace.texts.text(arguments.dtype) == "float");
  CHECK(arguments.group == 0);
  CHECK(trace.texts.text(collective.group_address) == "938251141");
  CHECK(arguments.sequence == 337);
  CHECK(collective.group_rank == 3);
  CHECK(arguments.group_size == 8);
  CHECK(arguments.in_elements == 256);
  CHECK(arguments.out_elements == 256);
  // Which rank of the job this is, is not certain.
  CHECK_FALSE(trace.rank.has_value());
  CHECK(rank_in_largest_group(trace) == 3);

  const ExecutionTrace without_size = ExecutionText()
                                          .node(5, "record_param_comms", 1,
                                                {tensors_text(7, 256), int_text(1), int_text(99), int_text(0),
                                                 string_text("allreduce"), list_text({}), list_text({})})
                                          .read();
  CHECK_FALSE(collective_of(without_size).arguments.group_size.has_value());
}

TEST_CASE("later schemas name the group, and say which of the job's ranks are in it") {
  for (const std::string& schema : kSchemas) {
    CAPTURE(schema);
    const ArgumentText plain = int_text(7);
    const ArgumentText pair{"[7,false]", "[[],[]]", "Tuple[Int,Bool]"};
    for (const ArgumentText& sequence : {plain, pair}) {
      const ExecutionTrace trace =
          ExecutionText(schema)
              .node(5, "record_param_comms", 1,
                    {tensors_text(7, 64), sequence, group_text_of("3", "DATA_PARALLEL"), int_text(1),
                     string_text("all_to_allv"), list_text({1, 3}), list_text({2, 2}), int_text(4), int_text(2),
                     int_text(3)})
              .read();
      const ExecutionCollective collective = collective_of(trace);
      CHECK(collective.arguments.sequence == 7);
      CHECK(trace.texts.text(collective.arguments.group) == "3");
      CHECK(trace.texts.text(collective.arguments.group_description) == "DATA_PARALLEL");
      CHECK(trace.texts.text(collective.arguments.in_split) == "[1, 3]");
      CHECK(trace.texts.text(collective.arguments.out_split) == "[2, 2]");
      CHECK(collective.arguments.group_size == 3);
      // Ranks 4, 6 and 8 of the job; this is the second.
      CHECK(trace.texts.text(collective.arguments.ranks) == "[4, 6, 8]");
      CHECK(trace.rank == 6);
      CHECK_FALSE(trace.world_size.has_value());
    }
  }
}

TEST_CASE("attributes by name win over arguments by type") {
  const ExecutionTrace trace =
      ExecutionText("1.1.0-chakra.0.0.4")
          .node(5, "record_param_comms", 1,
                {tensors_text(7, 64), int_text(7), group_text_of("0", "default_pg"), int_text(1),
                 string_text("allgather"), list_text({}), list_text({}), int_text(0), int_text(1), int_text(2)},
                {}, 1,
                {{"collective_name", R"("_allgather_base")"},
                 {"dtype", R"("BFloat16")"},
                 {"in_msg_nelems", "64"},
                 {"out_msg_nelems", "128"},
                 {"pg_size", "2"}})
          .read();
  const CollectiveArguments arguments = collective_of(trace).arguments;
  CHECK(trace.texts.text(arguments.name) == "_allgather_base");
  CHECK(trace.texts.text(arguments.dtype) == "BFloat16");
  CHECK(arguments.out_elements == 128);
  CHECK(trace.rank == 1);
  CHECK(trace.world_size == 2);
}

TEST_CASE("the rank of a broadcast is that of its root, not of the trace") {
  const auto text = [](const std::string& name) {
    return ExecutionText("1.0.3-chakra.0.0.4")
        .node(5, "record_param_comms", 1,
              {tensors_text(7, 64), int_text(7), group_text_of("0", "default_pg"), int_text(1),
               string_text(name), list_text({}), list_text({}), int_text(0), int_text(1), int_text(2)});
  };
  CHECK_FALSE(text("broadcast").read().rank.has_value());
  CHECK_FALSE(text("send").read().rank.has_value());
  CHECK(text("allreduce").read().rank == 1);
}

TEST_CASE("a wait finds the latest collective of its sequence number") {
  const auto issue = [](int sequence) {
    return std::vector<ArgumentText>{tensors_text(7, 64),      int_text(sequence), int_text(99),  int_text(0),
                                     string_text("allreduce"), list_text({}),      list_text({}), int_text(2)};
  };
  const auto wait = [](int sequence) {
    return std::vector<ArgumentText>{int_text(sequence), int_text(0),   int_text(0), string_text("wait"),
                                     list_text({}),      list_text({}), int_text(1)};
  };
  const ExecutionTrace trace = ExecutionText()
                                   .node(5, "record_param_comms", 1, issue(7))
                                   .node(6, "record_param_comms", 1, issue(8))
                                   .node(7, "record_param_comms", 1, wait(7))
                                   .node(8, "record_param_comms", 1, issue(7))
                                   .node(9, "record_param_comms", 1, wait(7))
                                   .node(10, "record_param_comms", 1, wait(5))
                                   .read();
  REQUIRE(trace.collectives.size() == 6);
  CHECK(trace.collectives[2].is_wait);
  CHECK(trace.collectives[2].partner == 0);
  CHECK(trace.collectives[0].partner == 2);
  CHECK(trace.collectives[1].partner == kNoIndex);
  CHECK(trace.collectives[4].partner == 3);
  CHECK(trace.collectives[5].partner == kNoIndex);
  CHECK_FALSE(trace.collectives[2].arguments.group_size.has_value());
}

TEST_CASE("the process groups of a job are read where a trace lists them") {
  const ExecutionTrace trace =
      ExecutionText("1.1.0-chakra.0.0.4")
          .node(4, "## process_group:init ##", 1,
                {string_text(
                    R"([{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"ranks\": [], \"group_size\": 2}, )"
                    R"({\"pg_name\": \"5\", \"ranks\": [1, 3], \"group_size\": 2}])")})
          .read();
  REQUIRE(trace.groups.size() == 2);
  CHECK(trace.groups[0].description == "default_pg");
  CHECK(trace.groups[0].size == 2);
  CHECK(trace.groups[1].ranks == std::vector<std::int64_t>{1, 3});
}

TEST_CASE("ranks of a listed group need no even distances") {
  // Group 5 has ranks 1, 4 and 6 of the job; first rank and stride would say 1, 4, 7.
  const ExecutionTrace trace =
      ExecutionText("1.1.0-chakra.0.0.4")
          .node(4, "## process_group:init ##", 1,
                {string_text(R"([{\"pg_name\": \"5\", \"ranks\": [1, 4, 6], \"group_size\": 3}])")})
          .node(5, "record_param_comms", 1,
                {tensors_text(7, 64), int_text(7), group_text_of("5", "TP"), int_text(2),
                 string_text("allreduce"), list_text({}), list_text({}), int_text(1), int_text(3), int_text(3)})
          .read();
  CHECK(trace.texts.text(collective_of(trace).arguments.ranks) == "[1, 4, 6]");
  CHECK(trace.rank == 6);
}

TEST_CASE("GPU work that a linker appended is told from operators") {
  const ExecutionTrace trace =
      ExecutionText()
          .node(3, "aten::mm", 1, {tensor_text(7, 64)})
          .raw(
              R"({"id":9,"name":"ampere_gemm","parent":3,"cat":"kernel","ph":"X","ts":5,"dur":2.5,"args":{"stream":7}})")
          .read();
  REQUIRE(trace.gpu_work.size() == 1);
  CHECK(trace.gpu_work.front().stream == 7);
  CHECK(trace.gpu_work.front().duration.count == 2'500'000);
  const std::vector<GpuOperator> operators = gpu_operators(trace);
  REQUIRE(operators.size() == 1);
  CHECK(operators.front().node == 0);
}

TEST_CASE("GPU operators are the innermost ones with a class, on a GPU") {
  ExecutionText text;
  text.node(3, "aten::linear", 1, {tensor_text(7, 64)}).node(4, "aten::addmm", 3, {tensor_text(7, 64)});
  text.node(5, "aten::view", 1, {tensor_text(7, 64)});
  text.node(6, "aten::add", 1, {{R"([1,2,0,8,4,"cpu"])", "[8]", "Tensor(float)"}});
  text.node(7, "autograd::engine::evaluate_function: MmBackward0", 1)
      .node(8, "aten::mm", 7, {tensor_text(9, 8)});
  text.node(9, "FusedLayerNormAffineFunction", 1, {tensor_text(9, 8)});
  const ExecutionTrace trace = text.read();
  std::vector<std::string> names;
  std::vector<WorkClass> classes;
  for (const GpuOperator& found : gpu_operators(trace)) {
    names.push_back(trace.name_of(trace.nodes[found.node]));
    classes.push_back(found.work);
  }
  CHECK(names == std::vector<std::string>{"aten::addmm", "aten::mm", "FusedLayerNormAffineFunction"});
  CHECK(classes == std::vector<WorkClass>{WorkClass::gemm, WorkClass::gemm, WorkClass::vector});
}

TEST_CASE("an operator of the backward pass that clears its output is one, and so is the clearing") {
  ExecutionText text;
  text.node(3, "aten::nll_loss_backward", 1, {tensor_text(7, 64)})
      .node(4, "aten::zero_", 3, {tensor_text(8, 64)});
  text.node(5, "aten::softmax", 1, {tensor_text(7, 64)}).node(6, "aten::_softmax", 5, {tensor_text(7, 64)});
  const ExecutionTrace trace = text.read();
  std::vector<std::int64_t> ids;
  for (const GpuOperator& found : gpu_operators(trace))
    ids.push_back(trace.nodes[found.node].id);
  CHECK(ids == std::vector<std::int64_t>{3, 4, 6});
}

TEST_CASE("a compiled kernel without arguments stands for itself only where nothing around it has any") {
  ExecutionText text;
  text.node(3, "Torch-Compiled Region", 1).node(4, "triton_poi_fused_add_0", 3);
  text.node(5, "GeLUFunction", 1, {tensor_text(7, 64)}).node(6, "triton_poi_fused_tanh_0", 5);
  const ExecutionTrace trace = text.read();
  const std::vector<GpuOperator> operators = gpu_operators(trace);
  REQUIRE(operators.size() == 2);
  CHECK(trace.nodes[operators[0].node].id == 4);
  CHECK(trace.nodes[operators[1].node].id == 5);
}

TEST_CASE("classes of operators") {
  CHECK(operator_class("aten::_scaled_mm") == WorkClass::gemm);
  CHECK(operator_class("aten::cudnn_convolution") == WorkClass::convolution);
  CHECK(operator_class("aten::_scaled_dot_product_flash_attention") == WorkClass::attention);
  CHECK(operator_class("aten::native_layer_norm") == WorkClass::vector);
  CHECK(operator_class("aten::copy_") == WorkClass::copy);
  CHECK(operator_class("triton_poi_fused_add_0") == WorkClass::vector);
  CHECK(operator_class("vendor::secret") == WorkClass::other);
  for (const std::string_view name : {"aten::transpose", "aten::empty", "AddmmBackward0", "c10d::allreduce_",
                                      "nccl:all_reduce", "ProfilerStep#3", "Optimizer.step#SGD.step"}) {
    CAPTURE(name);
    CHECK_FALSE(operator_class(name).has_value());
  }
}

TEST_CASE("what is not an execution trace is refused, with the node") {
  const std::string good = R"({"id":3,"name":"x","parent":1})";
  CHECK(refusal(R"({"traceEvents":[]})") == "t.json: it has no \"nodes\": it is not a PyTorch execution trace");
  CHECK(refusal("{\"nodes\":[" + good + "," + good + "]}") == "t.json: event 1: event 0 has the id 3 as well");
  CHECK(refusal(R"({"nodes":[{"id":-3}]})") == "t.json: event 0: it has no id that is an integer from 0");
  CHECK(refusal(R"({"nodes":[{"id":3,"parent":4},{"id":4,"parent":5},{"id":5,"parent":3}]})") ==
        "t.json: event 2: this node and its parents form a ring");
  CHECK(refusal(R"({"nodes":[{"id":3,"cat":"kernel","dur":"x"}]})") ==
        "t.json: event 0: dur: \"x\" is not a number of microseconds from 0 to 106 days");
  CHECK(refusal("{\"nodes\":" + std::string(1'000'000, '[')) ==
        "t.json: event 0: it is nested deeper than 100 levels");
}

TEST_CASE("an execution trace of thousands of threads is refused") {
  ExecutionText text;
  for (int i = 0; i <= 4096; ++i)
    text.node(i + 1, "x", 0, {}, {}, i);
  CHECK(refusal(text.text()) == "t.json: event 4096: more than 4096 threads in one trace");
}

TEST_CASE("an execution trace that ends anywhere is refused, never read past its end") {
  for (const std::string& schema : kSchemas) {
    const std::string whole =
        ExecutionText(schema)
            .node(3, "aten::mm", 1, {tensor_text(7, 64), list_text({1, 2}), string_text("x")})
            .node(5, "record_param_comms", 1, {tensors_text(7, 64), int_text(1)}, {}, 1, {{"pg_size", "2"}})
            .text();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(size);
      CHECK_FALSE(refusal(whole.substr(0, size)).empty());
    }
    CHECK(refusal(whole).empty());
  }
}

}  // namespace c3::traces_execution_reader_test
