#include "results/step_cells.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "results/throughput_cells.hpp"
#include "results/time_unit.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr std::size_t kShownTenants = 5;

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

/// What is there but too small for its decimals does not look like nothing.
std::string at_least(double value, int decimals) {
  const double smallest = std::pow(10.0, -decimals);
  return value > 0.0 && value < 0.5 * smallest ? fmt::format("<{:.{}f}", smallest, decimals)
                                               : fmt::format("{:.{}f}", value, decimals);
}
std::string time_text(Seconds time, const TimeUnit& unit) { return at_least(time / unit.size, unit.decimals); }

std::vector<std::string> step_row(const StrategyResult& strategy, const TimeUnit& unit) {
  const StepResult& step = *strategy.step;
  const auto [all, of_one] = throughput_texts(strategy.throughput);
  const std::optional<double> hidden = step.times.hidden_share();
  return {strategy.name,
          unit.format(strategy.time),
          all,
          of_one,
          percent(step.mfu),
          percent(step.hfu),
          time_text(step.times.communication, unit),
          time_text(step.times.exposed, unit),
          hidden ? percent(*hidden) : kAbsentCell,
          time_text(step.times.idle, unit)};
}

/// Against which peaks MFU and HFU count.
std::string peaks_text(const StepFacts& facts) {
  std::vector<std::string> peaks;
  for (const TypedFlops& typed : facts.flops)
    peaks.push_back(fmt::format("{:.1f} TFLOP/s{}", typed.peak / 1.0_TFLOPs,
                                typed.dtype ? fmt::format(" ({})", name_of(*typed.dtype)) : ""));
  if (peaks.size() < 2) return fmt::format("peak {}\n", fmt::join(peaks, ""));
  return fmt::format(
      "peaks {}, each for the products of its type;\n"
      "over {:.1f} TFLOP/s alone, as frameworks print it, MFU would be {:.2f} times as much\n",
      fmt::join(peaks, ", "), facts.peak / 1.0_TFLOPs,
      facts.model_flops() / facts.peak / facts.model_at_peak());
}

std::string step_notes(const StepResult& step, const TimeUnit& unit) {
  return fmt::format(
      "times in {} of one GPU; communication: a collective is in flight; exposed: and no kernel runs;\n"
      "hidden: the rest, as a share; idle: neither\n"
      "model flops = 3 x (2 m n k of every product of the forward pass + attention's 4 pairs x head_dim x "
      "heads,\n"
      "masked pairs not counted), 2 x where weights are frozen; MFU = model flops / (time x peak); HFU "
      "likewise\n"
      "of all products that run, recomputed ones too, the backward pass of attention counted as 5 products;\n"
      "{}",
      unit.name, peaks_text(step.facts));
}

/// Names of classes, in the order in which the strategies have them.
std::vector<std::string> class_names(const StudyResult& study) {
  std::vector<std::string> names;
  for (const StrategyResult& strategy : study.strategies) {
    if (!strategy.step) continue;
    for (const ClassTime& class_time : strategy.step->times.classes) {
      if (std::ranges::find(names, class_time.name) == names.end()) names.push_back(class_time.name);
    }
  }
  return names;
}

std::string class_cell(const StepResult& step, const std::string& name, const TimeUnit& unit) {
  const auto found = std::ranges::find(step.times.classes, name, &ClassTime::name);
  return found == step.times.classes.end() ? kAbsentCell : time_text(found->time, unit);
}

}  // namespace

std::string gigabytes(Bytes bytes) { return at_least(bytes / 1.0_GB, 3); }

StudyCells step_cells(const StudyResult& study) {
  const TimeUnit unit = time_unit(study);
  StudyCells cells{.header = {"step", "time", per_second_text(StepItem::tokens), "per GPU", "MFU", "HFU",
                              "comm.", "exposed", "hidden", "idle"},
                   .rows = {},
                   .notes = ""};
  for (const StrategyResult& strategy : study.strategies) {
    if (strategy.step) cells.rows.push_back(step_row(strategy, unit));
  }
  if (const StepResult* const step = first_step(study)) cells.notes = step_notes(*step, unit);
  const bool has_split =
      std::ranges::any_of(study.strategies, [](const auto& s) { return s.loss.has_value(); });
  if (!cells.rows.empty() && !has_split)
    cells.notes += "which shared resource costs how much of the step: --set measure.loss_split=true (slower)\n";
  return cells;
}

StudyCells class_cells(const StudyResult& study) {
  const TimeUnit unit = time_unit(study);
  StudyCells cells{
      .header = {"class of operators"},
      .rows = {},
      .notes = fmt::format("times in {} of one GPU: from release to end, added up over operations; "
                           "collectives run beside kernels\n",
                           unit.name)};
  for (const std::string& name : class_names(study))
    cells.rows.push_back({is_collective_class(name) ? name + " (collective)" : name});
  for (const StrategyResult& strategy : study.strategies) {
    if (!strategy.step) continue;
    cells.header.push_back(strategy.name);
    const std::vector<std::string> names = class_names(study);
    for (std::size_t i = 0; i < names.size(); ++i)
      cells.rows[i].push_back(class_cell(*strategy.step, names[i], unit));
  }
  return cells;
}

StudyCells bubble_cells(const StudyResult& study) {
  const TimeUnit unit = time_unit(study);
  StudyCells cells{
      .header = {"pipeline", "schedule", "stages", "time", "bubble", "share", "of the schedule alone"},
      .rows = {},
      .notes = fmt::format("times in {}; bubble: a GPU has neither a kernel nor a collective but messages, "
                           "averaged over all GPUs;\n"
                           "of the schedule alone: all chunks alike, a backward pass as long as two forward "
                           "passes, messages in no time\n",
                           unit.name)};
  for (const StrategyResult& strategy : study.strategies) {
    if (!strategy.step || !strategy.step->bubble || !strategy.step->facts.pipeline) continue;
    const PipelineFacts& pipeline = *strategy.step->facts.pipeline;
    const Seconds bubble = *strategy.step->bubble;
    cells.rows.push_back({strategy.name, pipeline.schedule, fmt::format("{}", pipeline.stages),
                          unit.format(strategy.time), time_text(bubble, unit), percent(bubble / strategy.time),
                          percent(pipeline.bubble_share)});
  }
  return cells;
}

StudyCells memory_cells(const StepFacts& step) {
  const MemoryPeak& peak = step.memory;
  StudyCells cells{
      .header = {"peak memory", "GB", "share"},
      .rows = {},
      .notes = fmt::format(
          "of each GPU, at '{}'; shares of the limit\n"
          "needed: pages with a tensor on them, which the allocator cannot free: the limit must hold "
          "them\n"
          "reserved: what the allocator takes where there is room; limit: HBM less what the framework "
          "takes\n",
          peak.moment)};
  if (step.is_tight() && step.fits()) {
    if (peak.reserved <= step.memory_size) cells.notes += "on another stage ";
    cells.notes +=
        "reserved exceeds the limit: the allocator has to free its cache and ask again, for which the GPU "
        "waits;\n"
        "that time is not included\n";
  }
  const auto add = [&](std::string_view name, Bytes bytes) {
    cells.rows.push_back({std::string(name), gigabytes(bytes), percent(bytes / step.memory_size)});
  };
  for (const MemoryClass memory_class : kMemoryClasses)
    add(name_of(memory_class), peak.of(memory_class));
  add("all tensors", peak.bytes);
  add("needed", peak.held);
  add("reserved", peak.reserved);
  add("limit", step.memory_size);
  return cells;
}

StudyCells tenant_cells(const StepFacts& step) {
  StudyCells cells{.header = {"largest at the peak", "class", "GB", "share"}, .rows = {}, .notes = ""};
  for (std::size_t i = 0; i < std::min(kShownTenants, step.memory.tenants.size()); ++i) {
    const MemoryTenant& tenant = step.memory.tenants[i];
    cells.rows.push_back({tenant.name, std::string(name_of(tenant.memory_class)), gigabytes(tenant.bytes),
                          percent(tenant.bytes / step.memory_size)});
  }
  return cells;
}

const StepResult* first_step(const StudyResult& study) {
  const auto found = std::ranges::find_if(
      study.strategies, [](const StrategyResult& strategy) { return strategy.step.has_value(); });
  return found == study.strategies.end() ? nullptr : &*found->step;
}

}}  // namespace c3::results
