#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "configs/presets/gpu_match.hpp"
#include "configs/presets/preset_store.hpp"
#include "studies/traces/parts.hpp"
#include "workloads/traces/retiming/retimed_kernels.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;
constexpr std::array kJudged{WorkClass::gemm, WorkClass::attention, WorkClass::vector};

double in_us(Seconds time) { return time.value * 1e6; }

std::optional<std::string> recorded_gpu(const TraceRun& run) {
  const RankSummary& rank = run.report.ranks.front();
  return gpu_preset_like(rank.gpu, rank.units, rank.memory_bytes);
}

Retiming retimed(const TraceRun& run, const std::string& gpu, const std::string& recorded,
                 FoundInCaches found = FoundInCaches::operands) {
  const GpuSpec asked = load_gpu(gpu);
  const GpuSpec there = load_gpu(recorded);
  return retime(run.ranks, asked, &there, found);
}

const RetimedClass* class_of(const Retiming& retiming, WorkClass work) {
  const auto found = std::ranges::find(retiming.classes, work, &RetimedClass::work);
  return found == retiming.classes.end() ? nullptr : &*found;
}

/// Kernels recorded on one GPU, predicted for another, beside the recording there.
StudyLine pair_line(const PublishedFigures& published, const std::string& id, const std::string& label,
                    const RetimedClass& from, const RetimedClass& there) {
  StudyLine line{.figure = {.of = published.find(id)}, .label = label, .rows = there.count};
  line.figure.simulated = kPercent * (from.modelled() / there.recorded - 1.0);
  line.beside = {
      {"scaled", kPercent * (from.scaled / there.recorded - 1.0)},
      {"shapes of the other GPU's trace", kPercent * (there.predicted_there / there.recorded_covered - 1.0)},
      {"recorded there [us]", in_us(there.recorded)},
      {"predicted [us]", in_us(from.modelled())},
      {"recorded on h100-sxm [us]", in_us(from.recorded)}};
  return line;
}

StudySection pair_section(const TraceRuns& runs, const PublishedFigures& published, const TracePair& pair) {
  StudySection section{
      .heading =
          fmt::format("{} recorded on H100, on MI300X: GPU time over what was recorded there", pair.label),
      .lines = {},
      .notes =
          {"here: by the kernel model alone; scaled: recorded on H100 x (model on MI300X / model on H100)."},
      .value = "here",
      .decimals = 1};
  const TraceRun* const h100 = runs.find(pair.h100);
  const TraceRun* const mi300x = runs.find(pair.mi300x);
  if (h100 == nullptr || mi300x == nullptr) return section;
  const Retiming from = retimed(*h100, "mi300x", "h100-sxm");
  const Retiming there = retimed(*mi300x, "mi300x", "mi300x");
  section.lines.push_back(
      pair_line(published, fmt::format("retiming.{}.gpu_time", pair.id), "all GPU work", from.all, there.all));
  for (const WorkClass work : kJudged) {
    const RetimedClass* const here = class_of(from, work);
    const RetimedClass* const recorded = class_of(there, work);
    if (here == nullptr || recorded == nullptr) continue;
    section.lines.push_back(pair_line(published, fmt::format("retiming.{}.{}", pair.id, name_of(work)),
                                      std::string(name_of(work)), *here, *recorded));
  }
  return section;
}

/// Kernels by the model on the GPU that they were recorded on.
void add_own(const TraceRun& run, const PublishedFigures& published, StudySection& section) {
  const std::optional<std::string> gpu = recorded_gpu(run);
  if (!gpu) return;
  const Retiming own = retimed(run, *gpu, *gpu);
  const Retiming cold = retimed(run, *gpu, *gpu, FoundInCaches::nothing);
  for (const WorkClass work : kJudged) {
    const RetimedClass* const of = class_of(own, work);
    if (of == nullptr || of->covered == 0) continue;
    StudyLine line{.figure = {.of = published.find(fmt::format("own.{}.{}", run.name, name_of(work)))},
                   .label = fmt::format("{} on {}, {}", run.name, *gpu, name_of(work)),
                   .rows = of->covered,
                   .skipped = of->count - of->covered};
    line.figure.simulated = kPercent * (of->predicted / of->recorded_covered - 1.0);
    line.beside = {
        {"with empty caches", kPercent * (class_of(cold, work)->predicted / of->recorded_covered - 1.0)},
        {"median error of a kernel", kPercent * of->median_error},
        {"of its time modelled", kPercent * (of->recorded_covered / of->recorded)},
        {"recorded [us]", in_us(of->recorded_covered)}};
    section.lines.push_back(std::move(line));
  }
}

StudySection own_section(const TraceRuns& runs, const PublishedFigures& published) {
  StudySection section{
      .heading = "Kernels with a prediction, on the GPU of the recording: their time over the recorded",
      .lines = {},
      .notes = {"skipped: kernels without shapes or without a rule; c3sim import --gpu lists them.",
                "here: vector kernels find in the caches what fits of their tensors; with empty caches: "
                "nothing. Traces do not say which."},
      .value = "here",
      .decimals = 1};
  std::vector<std::string_view> names{kMegatronRun, kDlrmRun, kMi300xDdpRun,
                                      "h100_facebook_timesformer-base-finetuned-k400__1016002"};
  for (const TracePair& pair : kTracePairs)
    names.insert(names.end(), {pair.h100, pair.mi300x});
  for (const std::string_view name : names) {
    if (const TraceRun* const run = runs.find(name)) add_own(*run, published, section);
  }
  return section;
}

}  // namespace

StudyReport retiming_sections(const TraceRuns& runs, const PublishedFigures& published) {
  StudyReport report;
  for (const TracePair& pair : kTracePairs)
    report.push_back(pair_section(runs, published, pair));
  report.push_back(own_section(runs, published));
  return report;
}

}}  // namespace c3::studies
