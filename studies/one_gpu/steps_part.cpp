// Training steps of one GPU.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "studies/checked_row.hpp"
#include "studies/one_gpu/parts.hpp"
#include "workloads/analysis/steady_state.hpp"

namespace c3::inline studies {
namespace {

using namespace literals;

constexpr std::string_view kWhat = "of a measured training step";
constexpr std::array<std::string_view, 2> kFlags = {"0", "1"};
constexpr std::array<std::string_view, 2> kKinds = {"llama", "gpt"};
constexpr std::array<std::string_view, 2> kRecompute = {"none", "full"};
constexpr std::int64_t kLargest = std::int64_t{1} << 24U;
constexpr double kPercent = 100.0;

/// What makes a GPT of the frame's Llama.
std::vector<std::string> gpt(std::int64_t sequence) {
  return {"model.gated=false",          "+model.biases=true",        R"(model.norm="layernorm")",
          R"(model.activation="gelu")", "model.tied_embedding=true", fmt::format("+model.positions={}", sequence)};
}

std::vector<std::string> sets_of(const CheckedRow& row) {
  std::vector<std::string> sets;
  const auto set = [&](std::string_view key, const char* column) {
    sets.push_back(fmt::format("{}={}", key, row.whole(column, kLargest)));
  };
  if (row.one_of("kind", kKinds) == 1) sets = gpt(row.whole("sequence", kLargest));
  set("model.hidden", "hidden");
  set("model.ffn", "ffn");
  set("model.heads", "heads");
  set("model.kv_heads", "kv_heads");
  set("model.layers", "layers");
  set("model.vocabulary", "vocabulary");
  set("training.sequence", "sequence");
  set("training.micro_batch", "micro_batch");
  set("training.micro_batches", "micro_batches");
  sets.push_back(fmt::format(R"(training.recompute="{}")", kRecompute.at(row.one_of("recompute", kRecompute))));
  if (row.one_of("compiled", kFlags) == 1) sets.emplace_back(R"(training.framework="pytorch-compiled")");
  return sets;
}

}  // namespace

StepsPart::StepsPart(const std::filesystem::path& file) {
  const std::filesystem::path frame = study_file("one_gpu", "step.toml");
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, kWhat);
    rows_.push_back({.label = fmt::format("{}, {}", row.text("job"), row.one_of("compiled", kFlags) == 1 ? "compiled" : "eager"),
                     .experiment = ExperimentFile::load(frame, sets_of(row)).make(std::nullopt),
                     .measured = row.above_0("ms") * 1.0_ms,
                     .allocated = Bytes{row.above_0("allocated_gb") * 1e9},
                     .here = {}});
  }
}

void StepsPart::plan(SimulationJobs& jobs) {
  for (Row& row : rows_) {
    jobs.push_back({.run = [&row] { return SimulatedTime{.time = run_step(row.experiment, row.experiment.strategies.front(), {}).time}; },
                    .take = [&row](const SimulatedTime& found) { row.here = found.time.value(); }});
  }
}

StudyReport StepsPart::sections(const PublishedFigures& published) const {
  StudySection times{.heading = "Training steps in pure bf16: error of the time", .lines = {}, .notes = {}, .value = "error [%]"};
  StudySection memory{.heading = "The same: most memory of tensors", .lines = {}, .notes = {}, .value = "error [%]"};
  double sum = 0.0, all = 0.0, bytes = 0.0;
  for (const Row& row : rows_) {
    const double error = kPercent * (row.here / row.measured - 1.0);
    sum += std::abs(error);
    all += error;
    times.lines.push_back({.figure = {.of = published.find("steps.step"), .simulated = error},
                           .label = row.label,
                           .rows = 1,
                           .beside = {{"here [ms]", row.here / 1.0_ms}, {"measured [ms]", row.measured / 1.0_ms}}});
    const Bytes here = row.experiment.step->memory.bytes;
    const double of_memory = kPercent * (here / row.allocated - 1.0);
    bytes += std::abs(of_memory);
    memory.lines.push_back({.figure = {.of = published.find("memory.error"), .simulated = of_memory},
                            .label = row.label,
                            .rows = 1,
                            .beside = {{"here [GB]", here.value * 1e-9}, {"measured [GB]", row.allocated.value * 1e-9}}});
  }
  const auto mean = [&](double of) { return of / static_cast<double>(rows_.size()); };
  const auto add = [&](StudySection& section, const char* id, const char* label, double value) {
    section.lines.push_back({.figure = {.of = published.find(id), .simulated = value}, .label = label, .rows = rows_.size()});
  };
  add(times, "steps.error", "mean error", mean(sum));
  add(times, "steps.signed", "mean signed error", mean(all));
  add(memory, "memory.error", "mean error", mean(bytes));
  times.notes = {"Nothing was set from a step."};
  return {std::move(times), std::move(memory)};
}

}  // namespace c3::studies
