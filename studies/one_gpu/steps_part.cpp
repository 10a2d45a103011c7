// Training steps of one GPU.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "studies/checked_row.hpp"
#include "studies/one_gpu/parts.hpp"
#include "workloads/analysis/steady_state.hpp"

namespace c3 { inline namespace studies {
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
  return {"model.gated=false",         "+model.biases=true",
          R"(model.norm="layernorm")", R"(model.activation="gelu")",
          "model.tied_embedding=true", fmt::format("+model.positions={}", sequence)};
}

std::vector<std::string> sets_of(const CheckedRow& row) {
  std::vector<std::string> sets;
  const std::string system = fmt::format(R"(system="{}-8")", row.text("gpu"));
  const auto set = [&](std::string_view key, const char* column) {
    sets.push_back(fmt::format("{}={}", key, row.whole(column, kLargest)));
  };
  if (row.one_of("kind", kKinds) == 1) sets = gpt(row.whole("sequence", kLargest));
  sets.push_back(system);
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
    const bool is_compiled = row.one_of("compiled", kFlags) == 1;
    rows_.push_back({.gpu = row.text("gpu"),
                     .label = fmt::format("{}: {}, {}", row.text("gpu"), row.text("job"),
                                          is_compiled ? "compiled" : "eager"),
                     .experiment = ExperimentFile::load(frame, sets_of(row)).make(std::nullopt),
                     .measured = row.above_0("ms") * 1.0_ms,
                     .allocated = Bytes{row.above_0("allocated_gb") * 1e9},
                     .here = {}});
  }
}

void StepsPart::plan(SimulationJobs& jobs) {
  for (Row& row : rows_) {
    jobs.push_back({.run =
                        [&row] {
                          return SimulatedTime{
                              .time = run_step(row.experiment, row.experiment.strategies.front(), {}).time};
                        },
                    .take = [&row](const SimulatedTime& found) { row.here = found.time.value(); }});
  }
}

StudyReport StepsPart::sections(const PublishedFigures& published) const {
  struct Errors {
    double absolute = 0.0, all = 0.0, of_memory = 0.0;
    std::size_t rows = 0;
  };
  StudySection times{.heading = "Training steps in pure bf16: error of the time",
                     .lines = {},
                     .notes = {"Nothing was set from a step."},
                     .value = "error [%]"};
  StudySection memory{
      .heading = "The same: most memory of tensors", .lines = {}, .notes = {}, .value = "error [%]"};
  std::map<std::string, Errors> by_gpu;
  for (const Row& row : rows_) {
    const double error = kPercent * (row.here / row.measured - 1.0);
    const Bytes bytes = row.experiment.step->memory.bytes;
    const double of_memory = kPercent * (bytes / row.allocated - 1.0);
    Errors& errors = by_gpu[row.gpu];
    errors.absolute += std::abs(error);
    errors.all += error;
    errors.of_memory += std::abs(of_memory);
    ++errors.rows;
    times.lines.push_back(
        {.figure = {.of = published.find("steps.step"), .simulated = error},
         .label = row.label,
         .rows = 1,
         .beside = {{"here [ms]", row.here / 1.0_ms}, {"measured [ms]", row.measured / 1.0_ms}}});
    memory.lines.push_back(
        {.figure = {.of = published.find("memory.error"), .simulated = of_memory},
         .label = row.label,
         .rows = 1,
         .beside = {{"here [GB]", bytes.value * 1e-9}, {"measured [GB]", row.allocated.value * 1e-9}}});
  }
  for (const auto& [gpu, errors] : by_gpu) {
    const auto add = [&](StudySection& section, const char* id, const char* label, double sum) {
      section.lines.push_back(
          {.figure = {.of = published.find(id), .simulated = sum / static_cast<double>(errors.rows)},
           .label = fmt::format("{}: {}", gpu, label),
           .rows = errors.rows});
    };
    add(times, "steps.error", "mean error", errors.absolute);
    add(times, "steps.signed", "mean signed error", errors.all);
    add(memory, "memory.error", "mean error", errors.of_memory);
  }
  return {std::move(times), std::move(memory)};
}

}}  // namespace c3::studies
