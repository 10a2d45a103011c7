#include "studies/training/measured_steps.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "studies/checked_row.hpp"
#include "studies/training/step_numbers.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::int64_t kLargest = 100'000'000;

/// In GiB; absent in an empty cell.
std::optional<Bytes> memory_of(const CheckedRow& row, std::string_view column) {
  if (row.cell(column).empty()) return std::nullopt;
  return Bytes{row.above_0(column) * kGiB};
}

/// Absent: a row that the study does not simulate.
using RowReader = std::optional<MeasuredStep> (*)(const CheckedRow& row);

std::optional<MeasuredStep> titan_row(const CheckedRow& row) {
  if (row.cell("fp8") != "0") return std::nullopt;
  const std::int64_t sequence = row.whole("seq", kLargest), sequences = row.whole("local_batch", kLargest);
  const std::int64_t gpus = row.whole("gpus", kLargest), replicas = row.whole("fsdp", kLargest);
  const double tokens = static_cast<double>(sequence * sequences * replicas);
  const bool is_compiled = row.cell("compile") == "1", is_async = row.cell("async_tp") == "1";
  MeasuredStep step{
      .measured = Seconds{tokens / static_cast<double>(gpus) / row.above_0("tps_gpu")},
      .sets = {fmt::format("training.sequence={}", sequence), fmt::format("training.micro_batch={}", sequences),
               fmt::format(R"(training.framework="pytorch-{}")", is_compiled ? "compiled" : "eager")}};
  step.reserved = memory_of(row, "mem_gib");
  if (row.whole("tp", kLargest) == 1) {
    step.set = step.group = "titan128";
    step.row = is_compiled ? "compiled" : "eager";
    step.frame = "llama3_8b_fsdp128.toml";
    return step;
  }
  step.set = step.group = "titan_tp";
  step.row = is_async ? "async" : "plain";
  step.frame = "llama3_8b_fsdp8_tp8.toml";
  if (is_async) step.sets.emplace_back(R"(+training.tensor_overlap="user_buffers")");
  return step;
}

std::optional<MeasuredStep> mpt_row(const CheckedRow& row) {
  const std::string model = row.text("model");
  const bool is_small = model == "125m";
  if (!is_small && model != "1b") row.fail("model", "must be 125m or 1b");
  const std::int64_t sequence = row.whole("seq", kLargest), sequences = row.whole("micro_batch", kLargest);
  const std::int64_t micro_batches = row.whole("grad_accum", kLargest), gpus = row.whole("gpus", kLargest);
  const double tokens = static_cast<double>(sequence * sequences * micro_batches * gpus);
  MeasuredStep step{
      .set = "mpt",
      .group = "mpt",
      .row = fmt::format("{} s{} mb{}", model, sequence, sequences),
      .measured = Seconds{tokens / row.above_0("tokens_s")},
      .frame = "mpt_a100.toml",
      .sets = {fmt::format("model.positions={}", sequence), fmt::format("training.sequence={}", sequence),
               fmt::format("training.micro_batch={}", sequences),
               fmt::format("training.micro_batches={}", micro_batches)}};
  if (is_small) {
    for (const char* set :
         {"model.hidden=768", "model.ffn=3072", "model.heads=12", "model.kv_heads=12", "model.layers=12"})
      step.sets.emplace_back(set);
  }
  if (in_lower_case(row.cell("act_ckpt")) == "true") step.sets.emplace_back(R"(training.recompute="full")");
  return step;
}

std::optional<MeasuredStep> simumax_row(const CheckedRow& row) {
  if (row.whole("pp", kLargest) > 1) return std::nullopt;
  const std::int64_t share = row.whole("tp", kLargest), micro_batches = row.whole("micro_batches", kLargest);
  return MeasuredStep{.set = "simumax",
                      .group = fmt::format("simumax.tp{}", share),
                      .row = fmt::format("tp{} m{}", share, micro_batches),
                      .measured = row.above_0("step_ms") * 1.0_ms,
                      .in_use = memory_of(row, "peak_alloc_gib"),
                      .frame = "llama3_70b_b200.toml",
                      .sets = {fmt::format("model.layers={}", row.whole("layers", kLargest)),
                               fmt::format("training.sequence={}", row.whole("seq", kLargest)),
                               fmt::format("training.micro_batch={}", row.whole("mbs", kLargest)),
                               fmt::format("training.micro_batches={}", micro_batches),
                               fmt::format("training.tensor_parallel={}", share)}};
}

std::optional<MeasuredStep> vtrain_row(const CheckedRow& row) {
  if (row.whole("pipeline parallelism", kLargest) > 1) return std::nullopt;
  const std::int64_t share = row.whole("tensor parallelism", kLargest);
  const std::int64_t sequences = row.whole("micro batch", kLargest);
  return MeasuredStep{.set = "vtrain18b",
                      .group = "vtrain18b",
                      .row = fmt::format("tp{} mb{}", share, sequences),
                      .measured = row.above_0("iteration time (ms)") * 1.0_ms,
                      .frame = "gpt_18b_a100.toml",
                      .sets = {fmt::format("training.tensor_parallel={}", share),
                               fmt::format("training.micro_batch={}", sequences),
                               fmt::format("training.global_batch={}", row.whole("global batch", kLargest))}};
}

constexpr std::array<RowReader, kStepTables.size()> kReaders = {titan_row, mpt_row, simumax_row, vtrain_row};

}  // namespace

std::vector<MeasuredStep> read_measured_steps(const std::filesystem::path& data,
                                              std::vector<std::string>& broken) {
  std::vector<MeasuredStep> steps;
  for (std::size_t i = 0; i < kStepTables.size(); ++i) {
    const HeadedTable table(data / kStepTables[i]);
    broken.insert(broken.end(), table.broken().begin(), table.broken().end());
    for (const HeadedTable::Row& cells : table.rows()) {
      try {
        if (auto step = kReaders[i](CheckedRow(table, cells, "of every step")))
          steps.push_back(std::move(*step));
      } catch (const ConfigError& error) {
        broken.emplace_back(error.what());
      }
    }
  }
  return steps;
}

}}  // namespace c3::studies
