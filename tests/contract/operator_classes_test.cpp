// What a class of operators states in its one entry is heard wherever somebody asks: when a kernel is timed, a
// step is projected, keys are said to be unused, coefficients are fitted, a trace is retimed and addresses are
// planned. Two classes that nobody has heard of take part.

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "configs/jobs/unused_keys.hpp"
#include "configs/presets/preset_store.hpp"
#include "gpu/calibration/kernel_fit.hpp"
#include "gpu/kernels/describe.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/new_classes.hpp"
#include "workloads/analysis/projection.hpp"
#include "workloads/execute/address_plan.hpp"
#include "workloads/program/written_streams.hpp"
#include "workloads/traces/retiming/derivation.hpp"

namespace c3::operator_classes_test {

using namespace test;

namespace {

using Words = std::vector<std::pair<ShapeKey, std::string>>;

using enum ShapeKey;

/// Operators of every class, by their words: at least one of each word that picks another kernel.
const std::vector<Words>& samples() {
  static const std::vector<Words> kSamples = {
      {{op, "gemm"}, {dtype, "bf16"}, {m, "4096"}, {n, "4096"}, {k, "2048"}},
      {{op, "gemm"}, {dtype, "fp16"}, {m, "4096"}, {n, "4096"}, {k, "2048"}, {traffic, "streamed"}},
      {{op, "gemm"}, {dtype, "fp32"}, {m, "2048"}, {n, "2048"}, {k, "1024"}},
      {{op, "gemm"}, {dtype, "fp8"}, {m, "4096"}, {n, "4096"}, {k, "4096"}, {scales, "block"}},
      {{op, "gemm"}, {dtype, "fp4"}, {m, "4096"}, {n, "4096"}, {k, "4096"}, {scales, "nv"}},
      {{op, "attention"}, {dtype, "bf16"}, {heads, "32"}, {seq, "2048"}, {head_dim, "128"}},
      {{op, "attention"}, {dtype, "fp32"}, {heads, "16"}, {seq, "1024"}, {head_dim, "64"}},
      {{op, "relu"}, {dtype, "bf16"}, {rows, "8192"}, {cols, "8192"}},
      {{op, "rmsnorm"}, {dtype, "bf16"}, {rows, "65536"}, {cols, "1024"}},
      {{op, "layernorm_eager"}, {dtype, "bf16"}, {rows, "8192"}, {cols, "8192"}, {pass, "backward"}},
      {{op, "absmax"}, {dtype, "bf16"}, {rows, "8192"}, {cols, "8192"}},
      {{op, "convolution"},
       {dtype, "fp16"},
       {b, "32"},
       {channels, "256"},
       {filters, "256"},
       {height, "28"},
       {filter_h, "3"},
       {pad_h, "1"}},
      {{op, "convolution"},
       {dtype, "fp32"},
       {b, "32"},
       {channels, "64"},
       {filters, "64"},
       {height, "28"},
       {filter_h, "3"},
       {pad_h, "1"}},
      {{op, "embedding_bag"}, {dtype, "fp32"}, {b, "8192"}, {rows, "1000000"}, {cols, "64"}, {lookups, "20"}},
      {{op, "max_pool"}, {dtype, "fp16"}, {b, "64"}, {channels, "64"}, {height, "112"}, {filter_h, "3"}},
      {{op, "batch_norm"}, {dtype, "fp16"}, {b, "64"}, {channels, "256"}, {height, "56"}},
      {{op, "gated_delta"},
       {dtype, "bf16"},
       {stage, "states"},
       {b, "4"},
       {heads, "32"},
       {kv_heads, "16"},
       {seq, "8192"},
       {head_dim, "128"}},
      {{op, "mamba2"},
       {dtype, "fp16"},
       {stage, "output"},
       {b, "4"},
       {heads, "64"},
       {kv_heads, "8"},
       {seq, "8192"},
       {head_dim, "128"},
       {value_dim, "64"}},
      {{op, "causal_conv"}, {dtype, "bf16"}, {seq, "65536"}, {channels, "8192"}},
      {{op, "attention"},
       {dtype, "bf16"},
       {heads, "64"},
       {kv_heads, "1"},
       {seq, "4096"},
       {head_dim, "576"},
       {value_dim, "512"},
       {causal, "1"},
       {selected, "1024"}},
      {{op, "index_logits"}, {dtype, "bf16"}, {heads, "64"}, {seq, "4096"}, {head_dim, "128"}},
      {{op, "index_target"},
       {dtype, "bf16"},
       {heads, "64"},
       {seq, "4096"},
       {head_dim, "576"},
       {selected, "1024"}},
      {{op, "index_gradient"},
       {dtype, "bf16"},
       {heads, "64"},
       {seq, "4096"},
       {head_dim, "128"},
       {selected, "1024"}},
      {{op, "index_select"}, {seq, "16384"}, {selected, "2048"}},
      {{op, "transpose"}, {dtype, "bf16"}, {rows, "8192"}, {cols, "8192"}},
      {{op, "syrk"}, {dtype, "bf16"}, {rows, "4096"}, {cols, "2048"}},
  };
  return kSamples;
}

Operator operator_from(const Words& words) {
  ShapeWords given;
  for (const auto& [key, word] : words)
    given[key] = word;
  return operator_of(given, with_new_classes());
}

std::string text_of(const Operator& op) { return name_of(op) + " " + op.of_class().shape_text(op); }

/// Sample operators with those of \p gpu's types alone.
std::vector<Operator> operators_on(const GpuSpec& gpu) {
  std::vector<Operator> found;
  for (const Words& words : samples()) {
    const Operator op = operator_from(words);
    try {
      describe("each", op, gpu);
      found.push_back(op);
    } catch (const InfeasibleError&) {
      continue;  // the GPU has no such type
    }
  }
  return found;
}

/// One kernel on one GPU that has links to nobody.
Experiment step_of(const Operator& op, const GpuSpec& gpu) {
  Experiment experiment;
  experiment.cluster = mi300x_like_cluster(2);
  experiment.cluster.gpu = gpu;
  experiment.program = program_of({{"compute", {{"kernel", op}}}}, experiment.cluster.ranks());
  return experiment;
}

double projected(const Operator& op, const GpuSpec& from, const GpuSpec& to) {
  return Baseline(step_of(op, from)).project(step_of(op, to)).operators.at(0).time.value;
}

/// Everything that `c3sim kernel` prints of \p op.
std::array<double, 5> printed(const Operator& op, GpuSpec gpu) {
  const KernelDescription kernel = describe("each", op, gpu);
  gpu.governor.state = ClockState::sustained;
  const KernelTime hot = time_of(op, gpu, {.launch = LaunchCost::device});
  gpu.governor.state = ClockState::burst;
  const KernelTime burst = time_of(op, gpu, {.launch = LaunchCost::device});
  return {hot.time.value, burst.time.value, burst.hbm_read.value, kernel.peak.value,
          roofline(kernel, gpu).value};
}

/// \p node's number, times \p factor, as it is written; nothing where it has none.
std::optional<std::string> scaled_text(const Node& node, double factor) {
  if (const Table* table = node.table()) {
    for (const char* key : {"value", "nominal"})
      if (const Node* value = table->find(key)) return scaled_text(*value, factor);
    return std::nullopt;
  }
  if (const auto* number = std::get_if<double>(&node.value)) return fmt::format("{:.10g}", factor * *number);
  if (const auto* whole = std::get_if<std::int64_t>(&node.value))
    return fmt::format("{}", std::llround(factor * static_cast<double>(*whole)));
  if (node.text() == nullptr) return std::nullopt;
  char* rest = nullptr;
  const double number = std::strtod(node.text()->c_str(), &rest);
  if (rest == node.text()->c_str()) return std::nullopt;
  return fmt::format("\"{:.10g}{}\"", factor * number, rest);
}

/// "gpu.bf16_peak=\"500 TFLOP/s\"", .. : every number of \p table times \p factor, one by one.
void add_sets(std::vector<std::string>& sets, const std::string& path, const Table& table, double factor) {
  for (const Member& member : table.members()) {
    const std::string key = path + "." + member.key;
    const bool is_inner = member.value.table() != nullptr && !is_sourced_value(member.value);
    if (is_inner) {
      add_sets(sets, key, *member.value.table(), factor);
    } else if (const auto text = scaled_text(member.value, factor)) {
      sets.push_back(key + "=" + *text);
    }
  }
}

}  // namespace

TEST_CASE("every class has a sample here") {
  std::set<std::string_view> seen;
  for (const Words& words : samples())
    seen.insert(operator_from(words).of_class().name);
  for (const OperatorClass* operator_class : with_new_classes())
    CHECK_MESSAGE(seen.contains(operator_class->name), "add an operator of class ", operator_class->name);
}

TEST_CASE("classes that multiply are projected by flops and their type's peak, all others by bytes and HBM") {
  const GpuSpec gpu = load_gpu("h100-sxm");
  GpuSpec wider = gpu;
  wider.hbm.peak = 2.0 * wider.hbm.peak;
  GpuSpec faster = gpu;
  for (MatrixRate& rate : faster.compute.matrix)
    rate.peak = 2.0 * rate.peak;
  for (const Operator& op : operators_on(gpu)) {
    CAPTURE(text_of(op));
    const double before = projected(op, gpu, gpu);
    const bool multiplies = op.of_class().has_product();
    CHECK(projected(op, gpu, wider) == near(multiplies ? before : 0.5 * before));
    CHECK(projected(op, gpu, faster) == near(multiplies ? 0.5 * before : before));
    const Experiment step = step_of(op, gpu);
    const auto found = profile(step.program, step.program.scripts.front(), step.cluster);
    const KernelDescription kernel = describe("kernel", op, gpu);
    CHECK(found.at(0).work == near(multiplies ? kernel.useful_flops.value : kernel.compulsory.value));
    CHECK(found.at(0).is_product() == multiplies);
  }
}

TEST_CASE("no key that changes what is printed of a kernel is said to be unused") {
  // Each number of each preset, a third more on one and a third less on the next, beside an operator of every
  // class.
  const PresetSnapshot presets;
  int changes = 0, notes = 0;
  double factor = 4.0 / 3.0;
  for (const std::string name : {"h100-sxm", "b200-sxm", "mi300x", "mi100", "l40s"}) {
    std::vector<std::string> sets;
    add_sets(sets, "gpu", *load_preset(PresetKind::gpu, name, {}, "gpu").table(), factor);
    factor = 2.0 - factor;
    ClusterSpec alone;
    alone.gpu = load_gpu(name);
    const std::vector<Operator> operators = operators_on(alone.gpu);
    std::vector<std::array<double, 5>> before;
    for (const Operator& op : operators)
      before.push_back(printed(op, alone.gpu));
    for (const std::string& set : sets) {
      CAPTURE(name);
      CAPTURE(set);
      std::optional<GpuSpec> changed;
      try {
        changed = load_gpu(name, {&set, 1});
      } catch (const ConfigError&) {
        continue;  // out of its range
      }
      for (std::size_t i = 0; i < operators.size(); ++i) {
        CAPTURE(text_of(operators[i]));
        bool changes_it = true;  // also where it makes it impossible
        try {
          changes_it = printed(operators[i], *changed) != before[i];
        } catch (const InfeasibleError&) {
        }
        if (!changes_it && i > 0) continue;
        RunUse use;
        use.add(operators[i], *changed);
        use.alone = true;
        ClusterSpec cluster;
        cluster.gpu = *changed;
        const auto unused = unused_keys(overridden_keys({&set, 1}), cluster, use);
        notes += static_cast<int>(unused.size());
        if (!changes_it) continue;
        ++changes;
        if (!unused.empty()) CAPTURE(unused.front());
        CHECK(unused.empty());
      }
    }
  }
  MESSAGE(changes, " changes, ", notes, " notes");
  CHECK(changes > 1000);
  CHECK(notes > 100);
}

TEST_CASE("a rate that no operator of a run takes is said to be unused, whatever their class") {
  const auto notes_on = [](const Words& words, const std::string& set) {
    ClusterSpec alone;
    alone.gpu = load_gpu("h100-sxm", {&set, 1});
    RunUse use;
    use.add(operator_from(words), alone.gpu);
    use.alone = true;
    return unused_keys(overridden_keys({&set, 1}), alone, use);
  };
  const std::string set = R"(gpu.fp8_peak="1000 TFLOP/s")";
  int with_note = 0;
  for (const Words& words : samples()) {
    const Operator op = operator_from(words);
    if (op.of_class().uses == nullptr || op.of_class().fields(op).empty()) continue;
    const bool is_fp8 = words.at(1).second == "fp8" || words.at(1).second == "fp4";
    if (is_fp8) continue;
    CAPTURE(text_of(op));
    CHECK(notes_on(words, set) ==
          std::vector<std::string>{"gpu.fp8_peak: not used here: no fp8 matrix product runs"});
    ++with_note;
  }
  CHECK(with_note > 10);
}

TEST_CASE("a calibration tells operators of every class apart, and finds the factor of their times") {
  const GpuSpec gpu = load_gpu("h100-sxm");
  std::map<std::uint64_t, std::string> keys;
  for (const Operator& op : operators_on(gpu)) {
    CAPTURE(text_of(op));
    CHECK(keys.emplace(operator_key(op), text_of(op)).second);
    CHECK(operator_key(op) == operator_key(Operator{op}));
    CHECK(shape_key(op) != shape_key(part_of(operators_on(gpu).front(), 2)));
    if (op.of_class().coefficients == nullptr) continue;
    const std::string_view kernel_class = op.of_class().coefficients(op);
    GpuSpec slower = gpu;
    KernelCoefficients coefficients = gpu.kernels;
    const CoefficientTable scale{.kernel_class = std::string(kernel_class), .values = {{"scale", 1.25}}};
    apply(scale, gpu.family.name, gpu.hbm.technology, coefficients);
    set_coefficients(slower, coefficients);
    const KernelSample sample{.op = op, .gpu = 0, .time = time_of(op, slower).time};
    CHECK(
        fit_scale({&sample, 1}, {&gpu, 1}, {.kernel_class = std::string(kernel_class), .values = {}}).factor ==
        near(1.25, 0.02));
  }
}

TEST_CASE("operators that a class holds out together differ in their keys only where its numbers do") {
  const auto convolution = [](const std::string& images, const std::string& made, const std::string& pass_of) {
    return operator_from({{op, "convolution"},
                          {dtype, "fp16"},
                          {b, images},
                          {channels, "64"},
                          {filters, made},
                          {height, "56"},
                          {filter_h, "3"},
                          {pass, pass_of}});
  };
  const Operator layer = convolution("64", "64", "forward");
  CHECK(shape_key(layer) == shape_key(convolution("32", "64", "weight")));
  CHECK(operator_key(layer) != operator_key(convolution("32", "64", "weight")));
  CHECK(shape_key(layer) != shape_key(convolution("64", "128", "forward")));
  const Operator turn = operator_from({{op, "transpose"}, {dtype, "bf16"}, {rows, "64"}, {cols, "32"}});
  const Operator other = operator_from({{op, "transpose"}, {dtype, "bf16"}, {rows, "32"}, {cols, "64"}});
  CHECK(shape_key(turn) != shape_key(other));  // its class says nothing: only equal ones are alike
}

TEST_CASE("a kernel that c3sim wrote into a trace is of its operator's class when it is read back") {
  const std::map<std::string_view, traces::WorkClass> expected = {
      {"gemm", traces::WorkClass::gemm},          {"attention", traces::WorkClass::attention},
      {"vector", traces::WorkClass::vector},      {"convolution", traces::WorkClass::convolution},
      {"embedding", traces::WorkClass::vector},   {"pool", traces::WorkClass::vector},
      {"batch_norm", traces::WorkClass::vector},  {"transpose", traces::WorkClass::vector},
      {"syrk", traces::WorkClass::gemm},          {"scan", traces::WorkClass::gemm},
      {"causal_conv", traces::WorkClass::vector}, {"index", traces::WorkClass::gemm},
      {"index_select", traces::WorkClass::vector}};
  for (const OperatorClass* operator_class : with_new_classes()) {
    CAPTURE(operator_class->name);
    CHECK(traces::work_class(*operator_class) == expected.at(operator_class->name));
  }
}

TEST_CASE("an address plan places what the class of an operator says that it touches, and nothing else") {
  GpuSpec gpu = load_gpu("mi300x");
  gpu.hbm.channels = {.count = 128, .row_cycle = {}, .mapping = ChannelMapping::consecutive};
  int placed = 0;
  for (const Operator& op : operators_on(gpu)) {
    CAPTURE(text_of(op));
    const Experiment step = step_of(op, gpu);
    const AddressPlan plan(step.cluster.gpu, step.program);
    const auto phases = plan.phases_of(step.program.scripts.front().streams[0][0]);
    if (op.of_class().touches == nullptr) {
      CHECK(phases.empty());
      continue;
    }
    const std::vector<TouchedPhase> stated = op.of_class().touches(op, gpu);
    REQUIRE(phases.size() == stated.size());
    for (std::size_t i = 0; i < phases.size(); ++i) {
      REQUIRE(phases[i].operands.size() == stated[i].operands.size());
      for (std::size_t j = 0; j < phases[i].operands.size(); ++j)
        CHECK(phases[i].operands[j].name == "kernel " + stated[i].operands[j].name);
    }
    placed += static_cast<int>(stated.size());
  }
  CHECK(placed >= 5);
}

}  // namespace c3::operator_classes_test
