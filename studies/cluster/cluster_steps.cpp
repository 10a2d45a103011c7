#include "studies/cluster/cluster_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "studies/checked_row.hpp"
#include "studies/training/step_numbers.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::int64_t kLargest = 100'000'000;

/// Absent: a row that this study does not simulate.
using RowReader = std::optional<MeasuredStep> (*)(const CheckedRow& row);

struct StepTable {
  std::string_view path;
  RowReader read;
};

/// Words of GPT-2, padded as Megatron-LM does it: to a multiple of 128 on each tensor-parallel rank.
std::int64_t padded_words(std::int64_t share) {
  constexpr std::int64_t kWords = 50'257;
  const std::int64_t multiple = 128 * share;
  return (kWords + multiple - 1) / multiple * multiple;
}

std::optional<MeasuredStep> vtrain_row(const CheckedRow& row) {
  const auto whole = [&](std::string_view column) { return row.whole(column, kLargest); };
  const std::int64_t stages = whole("pipeline parallelism"), share = whole("tensor parallelism");
  if (stages == 1) return std::nullopt;  // read_measured_steps has them
  const std::int64_t hidden = whole("hidden size"), heads = whole("attention heads");
  const std::int64_t sequences = whole("micro batch"), replicas = whole("data parallelism");
  const std::int64_t gpus = share * stages * replicas;
  if (gpus % 8 != 0)
    row.fail("data parallelism", fmt::format("{} ranks are no whole number of nodes of eight", gpus));
  MeasuredStep step{
      .set = fmt::format("vtrain{}", gpus),
      .group = fmt::format("vtrain{}", gpus),
      .row = fmt::format("tp{} pp{} dp{} mb{}", share, stages, replicas, sequences),
      .measured = row.above_0("iteration time (ms)") * 1.0_ms,
      .frame = "gpt_18b_a100.toml",
      .sets = {fmt::format("nodes={}", gpus / 8), fmt::format("model.hidden={}", hidden),
               fmt::format("model.ffn={}", 4 * hidden), fmt::format("model.heads={}", heads),
               fmt::format("model.kv_heads={}", heads), fmt::format("model.layers={}", whole("# layers")),
               fmt::format("model.vocabulary={}", padded_words(share)),
               fmt::format("training.tensor_parallel={}", share), fmt::format("+training.pipeline={}", stages),
               fmt::format("training.micro_batch={}", sequences),
               fmt::format("training.global_batch={}", whole("global batch"))}};
  // DeepSpeed's pipelines partition messages over tensor-parallel ranks unless told otherwise (pipe_partitioned
  // and grad_partitioned; deepspeedai/DeepSpeed PR 4322, before which nothing else was possible).
  if (share > 1) step.sets.emplace_back("+training.scatter_gather=true");
  return step;
}

std::optional<MeasuredStep> simumax_row(const CheckedRow& row) {
  const std::int64_t stages = row.whole("pp", kLargest), share = row.whole("tp", kLargest);
  const std::int64_t micro_batches = row.whole("micro_batches", kLargest);
  const bool has_pipeline = stages > 1;  // rows on one node without one are judged in the study of training
  return MeasuredStep{.set = has_pipeline ? "simumax" : "simumax_tp",
                      .group = has_pipeline ? "simumax" : "simumax_tp",
                      .row = fmt::format("tp{} pp{} m{}", share, stages, micro_batches),
                      .measured = row.above_0("step_ms") * 1.0_ms,
                      .in_use = Bytes{row.above_0("peak_alloc_gib") * kGiB},
                      .frame = "llama3_70b_b200.toml",
                      .sets = {fmt::format("model.layers={}", row.whole("layers", kLargest)),
                               fmt::format("training.sequence={}", row.whole("seq", kLargest)),
                               fmt::format("training.micro_batch={}", row.whole("mbs", kLargest)),
                               fmt::format("training.micro_batches={}", micro_batches),
                               fmt::format("training.tensor_parallel={}", share),
                               fmt::format("training.sequence_parallel={}", share > 1),
                               fmt::format("+training.pipeline={}", stages)},
                      .is_judged = has_pipeline};
}

/// The number behind \p name and an equals sign in a recipe's name, such as "(TP=4,PP=8, MBS=1)".
std::optional<std::int64_t> number_in(std::string_view recipe, std::string_view name) {
  const std::string wanted = fmt::format("{}=", name);
  for (std::size_t at = recipe.find(wanted); at != std::string_view::npos; at = recipe.find(wanted, at + 1)) {
    if (at > 0 && recipe[at - 1] != '(' && recipe[at - 1] != ',' && recipe[at - 1] != ' ') continue;
    const std::string_view rest = recipe.substr(at + wanted.size());
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error == std::errc{}) return number;
  }
  return std::nullopt;
}

std::optional<MeasuredStep> dgxc_row(const CheckedRow& row) {
  const std::string recipe = row.text("workload");
  const auto share = number_in(recipe, "TP"), stages = number_in(recipe, "PP"),
             chunks = number_in(recipe, "VP");
  const auto sequences = number_in(recipe, "MBS"), length = number_in(recipe, "SEQ");
  if (!share || !stages || !chunks || !sequences || !length || number_in(recipe, "CP").value_or(1) > 1)
    return std::nullopt;
  const std::int64_t gpus = row.whole("gpus", kLargest);
  return MeasuredStep{
      .set = "gpt175b",
      .group = "gpt175b",
      .row = fmt::format("{} {} GPUs", row.text("release"), gpus),
      .measured = row.above_0("value") * Seconds{1.0},
      .frame = "gpt3_175b_h100.toml",
      .sets = {fmt::format("nodes={}", gpus / 8), fmt::format("training.sequence={}", *length),
               fmt::format("training.micro_batch={}", *sequences),
               fmt::format("training.global_batch={}", static_cast<std::int64_t>(row.above_0("gbs"))),
               fmt::format("training.tensor_parallel={}", *share),
               fmt::format("model.vocabulary={}", padded_words(*share)),
               fmt::format("training.pipeline={}", *stages),
               fmt::format("training.virtual_stages={}", *chunks)}};
}

/// LLaMA 3.1 8B, whose ranks share sequences.
std::optional<MeasuredStep> dgxc_context_row(const CheckedRow& row) {
  const std::string recipe = row.text("workload");
  const auto context = number_in(recipe, "CP"), sequences = number_in(recipe, "MBS");
  if (!context || !sequences || number_in(recipe, "TP") != 1 || number_in(recipe, "PP") != 1)
    return std::nullopt;
  const std::int64_t gpus = row.whole("gpus", kLargest);
  const bool is_fp8 = recipe.find("FP8") != std::string::npos;
  MeasuredStep step{
      .set = is_fp8 ? "llama8b_cp2_fp8" : "llama8b_cp2",
      .group = is_fp8 ? "llama8b_cp2_fp8" : "llama8b_cp2",
      .row = fmt::format("{} {} GPUs", row.text("release"), gpus),
      .measured = row.above_0("value") * Seconds{1.0},
      .frame = "llama3_8b_cp2_h100.toml",
      .sets = {fmt::format("nodes={}", gpus / 8), fmt::format("training.micro_batch={}", *sequences),
               fmt::format("training.global_batch={}", static_cast<std::int64_t>(row.above_0("gbs"))),
               fmt::format("training.context_parallel={}", *context)}};
  if (is_fp8) step.sets.emplace_back(R"(+training.precision="fp8_delayed")");
  return step;
}

/// Those by torchao's tensorwise scales; read_measured_steps has the others.
std::optional<MeasuredStep> titan_fp8_row(const CheckedRow& row) {
  const bool is_sharded_only = row.whole("tp", kLargest) == 1;
  if (row.cell("fp8") != "tensorwise" && !(is_sharded_only && row.cell("fp8") == "1")) return std::nullopt;
  const std::int64_t sequence = row.whole("seq", kLargest), sequences = row.whole("local_batch", kLargest);
  const auto tokens = static_cast<double>(sequence * sequences * row.whole("fsdp", kLargest));
  const auto gpus = static_cast<double>(row.whole("gpus", kLargest));
  const bool is_async = row.cell("async_tp") == "1";
  MeasuredStep step{
      .set = is_sharded_only ? "titan128" : "titan_tp",
      .group = "titan",
      .measured = Seconds{tokens / gpus / row.above_0("tps_gpu")},
      .frame = is_sharded_only ? "llama3_8b_fsdp128.toml" : "llama3_8b_fsdp8_tp8.toml",
      .sets = {fmt::format("training.sequence={}", sequence), fmt::format("training.micro_batch={}", sequences),
               R"(training.framework="pytorch-compiled")", R"(+training.precision="fp8_tensorwise")",
               "+training.quantized_parameters=true"}};
  step.row = fmt::format("{} fp8_tensorwise", is_sharded_only ? "compiled" : is_async ? "async" : "plain");
  if (is_async) step.sets.emplace_back(R"(+training.tensor_overlap="user_buffers")");
  return step;
}

constexpr std::array kTables = {StepTable{kStepTables[0], titan_fp8_row}, StepTable{kStepTables[3], vtrain_row},
                                StepTable{kStepTables[2], simumax_row}, StepTable{kClusterTable, dgxc_row},
                                StepTable{kClusterTable, dgxc_context_row}};

bool is_of_cluster(const MeasuredStep& step) {
  constexpr std::array<std::string_view, 3> kSets = {"titan128", "titan_tp", "vtrain18b"};
  return std::ranges::find(kSets, step.set) != kSets.end();
}

}  // namespace

std::vector<MeasuredStep> read_cluster_steps(const std::filesystem::path& data,
                                             std::vector<std::string>& broken) {
  std::vector<MeasuredStep> steps;
  std::ranges::copy_if(read_measured_steps(data, broken), std::back_inserter(steps), is_of_cluster);
  for (const StepTable& its : kTables) {
    read_rows(data / its.path, "of every step", broken, [&](const CheckedRow& row) {
      if (auto step = its.read(row)) steps.push_back(std::move(*step));
    });
  }
  return steps;
}

}}  // namespace c3::studies
