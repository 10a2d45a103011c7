#include <doctest/doctest.h>

#include <algorithm>

#include "configs/presets/preset_store.hpp"
#include "configs/toml/config_error.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "studies/kernels/measured_models.hpp"
#include "studies/kernels/measured_rows.hpp"
#include "studies/kernels/parts.hpp"
#include "studies/kernels/unseen.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::studies_kernels_test {
namespace {

const std::string kGemmHeader = "source,dtype,m,n,k,ms\n";
const std::string kModelHeader =
    "device,model,mode,seq,batch,option,n_layer,measured_ms,measured_fw_ms,measured_bw_ms,neusight_ms,"
    "neusight_fw_ms,neusight_bw_ms,roofline_ms,roofline_fw_ms,roofline_bw_ms\n";

MeasuredRows a100_gemms(const std::string& rows, bool only_fastest) {
  const ScratchFolder folder;
  MeasuredRows table;
  table.add(
      folder.write("t.csv", kGemmHeader + rows), "a100-sxm-80gb", [](const MeasuredKernel&) { return true; },
      only_fastest);
  return table;
}

std::vector<MeasuredModel> models(const std::string& rows) {
  const ScratchFolder folder;
  return read_measured_models(folder.write("m.csv", kModelHeader + rows));
}

}  // namespace

TEST_CASE("of a shape that two libraries ran, the faster counts") {
  const std::string rows =
      "x,bfloat16,512,512,512,0.3\ny,bfloat16,512,512,512,0.2\nx,bfloat16,512,512,64,0.1\n";
  const MeasuredRows fastest = a100_gemms(rows, true);
  REQUIRE(fastest.rows().size() == 2);
  CHECK(fastest.rows()[0].sample.time.value == near(0.2e-3));
  CHECK(fastest.rows()[1].sample.time.value == near(0.1e-3));
  CHECK(a100_gemms(rows, false).rows().size() == 3);
}

TEST_CASE("rows that their GPU cannot run are counted as skipped, and so are those without prediction") {
  // A100 has no fp8. One of the other rows has a prediction, 10 % too slow.
  const MeasuredRows table =
      a100_gemms("x,bfloat16,512,512,512,1\nx,bfloat16,512,512,64,1\nx,fp8,512,512,512,1\n", true);
  REQUIRE(table.rows().size() == 2);
  const StudyLine line = table.compare({1.1_ms, std::nullopt}, any_row)
                             .line({.id = "a", .unit = "%", .source = "p"}, FigureKind::predicted, "");
  CHECK(line.rows == 1);
  CHECK(line.skipped == 2);
  CHECK(line.figure.simulated.value() == near(10.0));
  // 2 x 512^3 flop at 312 TFLOP/s: 0.86 us of the measured millisecond; the roofline is 99.914 % too fast.
  REQUIRE(line.beside.size() == 1);
  CHECK(line.beside[0].second == near(100.0 * (1.0 - 2.0 * 512 * 512 * 512 / 312e12 / 1e-3), 1e-6));
}

TEST_CASE("shipped predictions are the times of single kernels") {
  const MeasuredRows table = a100_gemms("x,bfloat16,512,512,512,1\nx,bfloat16,8,512,64,1\n", true);
  const auto small = [](const MeasuredRow& row) { return row.sample.op.as<GemmShape>()->m < 512; };
  const Predictions predictions = predict_shipped(table, small);
  CHECK(predictions[0] == std::nullopt);
  CHECK(predictions[1]->value == time_of(table.rows()[1].sample.op, load_gpu("a100-sxm-80gb")).time.value);
}

TEST_CASE("classes of vector operators are softmax, layer norm and all others") {
  const auto name = [](VectorOp op, const char* written) {
    return kernel_class_of(
        {.op = VectorShape{.chain = op}, .gpu = "", .time = 1.0_ms, .kernel_class = written});
  };
  CHECK(name(VectorOp::layernorm, "ln") == "layer norm");
  CHECK(name(VectorOp::softmax, "softmax") == "softmax");
  CHECK(name(VectorOp::pow, "pow") == "elementwise");
  CHECK(kernel_class_of({.op = GemmShape{}, .gpu = "", .time = 1.0_ms, .kernel_class = "bmm"}) == "bmm");
}

TEST_CASE("the study's fits keep what the shipped table does not have from a fit") {
  const std::vector<std::string> held = study_fit("vector").hold;
  const auto holds = [&](const char* key) { return std::ranges::find(held, key) != held.end(); };
  CHECK(holds("cast_ops"));                    // assumed
  CHECK_FALSE(holds("memory_share_default"));  // derived
}

TEST_CASE("too few rows to fit leave predictions absent") {
  const MeasuredRows table = a100_gemms("x,bfloat16,512,512,512,1\nx,bfloat16,512,512,64,1\n", true);
  Predictions predictions(2);
  predict_from_others(table, "matrix_gemm", {0}, {1}, predictions);
  predict_across_shapes(table, "matrix_gemm", {0, 1}, predictions);
  CHECK(predictions == Predictions(2));
}

TEST_CASE("measured models have our names, and no prediction where the table has none") {
  const auto found = models(
      "NVIDIA_A100-PCIE-40GB,gpt3_xl,inf,2048,8,fusion,24,9,9,0,8,8,0,,,\n"
      "Tesla_V100-PCIE-32GB,bert_large,train,512,2,,24,234,83,151,266,91,175,183,62,120\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].gpu == "a100-pcie-40gb");
  CHECK(found[0].model == "gpt3-xl-neusight");
  CHECK(found[0].fused);
  CHECK_FALSE(found[0].training);
  CHECK(found[0].sequences == 8);
  CHECK(found[0].length == 2048);
  CHECK(found[0].measured.forward.value == near(9e-3));
  CHECK(found[0].neusight->forward.value == near(8e-3));
  CHECK_FALSE(found[0].roofline);
  CHECK(found[1].training);
  CHECK(found[1].measured.backward.value == near(151e-3));
  CHECK(found[1].roofline->backward.value == near(120e-3));
}

TEST_CASE("measured models that are not known are refused at their cell") {
  const auto refusal = [](const std::string& row) { return error_of([&] { models(row); }); };
  CHECK(refusal("T4,gpt9,inf,1,1,,,1,1,0,,,,,,\n") == Part{"m.csv:2:4: model: unknown model 'gpt9'"});
  CHECK(refusal("T5,opt_13,inf,1,1,,,1,1,0,,,,,,\n") == Part{"m.csv:2:1: device: unknown GPU preset 'T5'"});
  CHECK(refusal("T4,opt_13,run,1,1,,,1,1,0,,,,,,\n") ==
        Part{"m.csv:2:11: mode: must be 'inf' or 'train', not 'run'"});
  CHECK(refusal("T4,opt_13,inf,1,1,,,1,x,0,,,,,,\n") ==
        Part{"m.csv:2:23: measured_fw_ms: 'x' is not a number"});
  CHECK(refusal("T4,opt_13,inf,1\n") == Part{"m.csv:2:15: row: has 4 cells, the header 16"});
}

TEST_CASE("steps are run as they were measured") {
  MeasuredModel row{.gpu = "t4", .model = "bert-large", .fused = true, .sequences = 2, .length = 512};
  CHECK(setup_of(row, true).head == ModelHead::classifier);
  CHECK(setup_of(row, true).attention_kernel);
  CHECK_FALSE(setup_of(row, false).attention_kernel);
  row.model = "gpt2-large";
  CHECK(setup_of(row, true).head == ModelHead::language_model);
  CHECK_FALSE(setup_of(row, true).attention_kernel);
  CHECK(setup_of(row, true).busy_experts == std::nullopt);
  row.model = "switch-xl-4";
  CHECK(setup_of(row, true).busy_experts == 1);
  row.model = "bert-large";
  row.training = true;
  CHECK(setup_of(row, true).head == ModelHead::pretraining);
}

TEST_CASE("a list of operators takes the sum of its kernels, each with the device's launch alone") {
  const GpuSpec t4 = load_gpu("t4");
  const Operator gemm = GemmShape{.m = 64, .n = 64, .k = 64, .dtype = DType::fp32};
  const Operator add = VectorShape{.chain = VectorOp::add, .rows = 64, .cols = 64};
  const KernelSlice queued{.launch = LaunchCost::device};
  const Seconds expected = 3.0 * time_of(gemm, t4, queued).time + time_of(add, t4, queued).time;
  CHECK(time_of(OperatorList{{.part = {}, .op = gemm, .count = 3}, {.part = {}, .op = add}}, t4).value ==
        near(expected.value));
  const KernelSlice called{.calls = load_host("neusight").calls};
  CHECK(expected < 3.0 * time_of(gemm, t4, called).time + time_of(add, t4, called).time);
}

}  // namespace c3::studies_kernels_test
