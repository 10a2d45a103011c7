// Steps on several GPUs, recomputed ones, and those whose optimizer runs near memory.

#include <fmt/format.h>

#include <utility>

#include "studies/bert/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;
constexpr const char* kOverlap = "framework.overlaps_gradients=true";

std::vector<std::string> data_parallel(bool overlaps) {
  std::vector<std::string> sets = {"node.gpus=4"};
  if (overlaps)
    sets.insert(sets.end(), {kOverlap, R"(framework.bucket="25 MiB")", R"(framework.first_bucket="1 MiB")"});
  return sets;
}

std::vector<std::string> tensor_parallel(int ranks) {
  return {fmt::format("node.gpus={}", ranks), fmt::format("+training.tensor_parallel={}", ranks)};
}

}  // namespace

ScalePart::ScalePart() {
  add_gpu({"mi100", 1, 32, true});
  add_gpu({"a100", 1, 32, true});
  for (const BertCell& cell : {BertCell{"mi100", 1, 32, false}, BertCell{"mi100", 1, 32, true},
                               BertCell{"mi100", 1, 4, true}, BertCell{"mi100", 2, 4, true}}) {
    const std::size_t base = add("", "", experiment_of(cell), runs_.size());
    add("near_memory", cell.label(),
        experiment_of(cell, {R"(+training.optimizer_place="pim")", "+gpu.pim_units=4"}), base);
  }
}

std::size_t ScalePart::add(std::string id, std::string label, Experiment step, std::size_t base) {
  runs_.push_back(
      {.id = std::move(id), .label = std::move(label), .step = std::move(step), .base = base, .times = {}});
  return runs_.size() - 1;
}

void ScalePart::add_gpu(const BertCell& cell) {
  const std::string gpu = cell.gpu == "mi100" ? "MI100" : "A100";
  const std::size_t base = add("", "", experiment_of(cell), runs_.size());
  add("scale.data", gpu + ": 4 GPUs, nothing overlaps", experiment_of(cell, data_parallel(false)), base);
  add("scale.data_overlap", gpu + ": 4 GPUs, gradients reduced beside the backward pass",
      experiment_of(cell, data_parallel(true)), base);
  add("scale.checkpoint", gpu + ": layers computed again",
      experiment_of(cell, {R"(+training.recompute="full")"}), base);
  add("scale.tensor2", gpu + ": tensor parallel over 2", experiment_of(cell, tensor_parallel(2)), runs_.size());
  if (cell.gpu == "a100")
    add("scale.tensor8", gpu + ": tensor parallel over 8", experiment_of(cell, tensor_parallel(8)),
        runs_.size());
}

void ScalePart::plan(SimulationJobs& jobs) {
  for (Run& run : runs_)
    jobs.push_back(whole_step(run.step, run.times));
}

// Of tensor parallelism the share of communication, of near memory what is saved, of others what is added.
StudyReport ScalePart::sections(const PublishedFigures& published) const {
  StudySection scale{
      .heading = "Phase 1, 32 sequences, mixed: whole steps, simulated",
      .lines = {},
      .notes = {"Data parallel and recomputed: longer than on one GPU by. Tensor parallel: share of "
                "the step in which ranks communicate. Published: recalled, for an MI100."}};
  StudySection near{
      .heading = "LAMB in memory at four times HBM's bandwidth: steps shorter by", .lines = {}, .notes = {}};
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const Run& run = runs_[i];
    if (run.id.empty()) continue;
    const double longer = kPercent * (run.times.time / runs_[run.base].times.time - 1.0);
    StudyLine line{.figure = {.of = published.find(run.id)}, .label = run.label};
    line.beside = {{"step [ms]", run.times.time.value * 1e3}};
    if (run.id == "near_memory") {
      line.figure.simulated = -longer;
      near.lines.push_back(std::move(line));
      continue;
    }
    line.figure.simulated = run.base == i ? kPercent * (run.times.communication / run.times.time) : longer;
    line.beside.emplace_back("exposed", kPercent * (run.times.exposed / run.times.time));
    scale.lines.push_back(std::move(line));
  }
  return {std::move(scale), std::move(near)};
}

}}  // namespace c3::studies
