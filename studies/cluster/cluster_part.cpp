#include "studies/cluster/cluster_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "engine/intervals.hpp"
#include "studies/training/step_numbers.hpp"
#include "studies/training/step_scores.hpp"
#include "workloads/analysis/average_breakdown.hpp"
#include "workloads/analysis/shorter_steps.hpp"
#include "workloads/execute/run.hpp"

namespace c3 { inline namespace studies {
namespace {

struct Table {
  std::string_view group, label;
};
constexpr std::array kTables = {
    Table{"titan", "LLaMA 3.1 8B, FSDP and FSDP x TP, 64 and 128 H100, torchtitan"},
    Table{"vtrain256", "GPT 18.4B, TP x PP x DP on 256 A100, Megatron-DeepSpeed"},
    Table{"vtrain512", "GPT 39.1B, TP x PP x DP on 512 A100, Megatron-DeepSpeed"},
    Table{"gpt175b", "GPT-3 175B, TP 4 PP 8 VP 12 on 128 to 2,048 H100, NeMo"},
    Table{"llama8b_cp2", "LLaMA 3.1 8B, CP 2 on 8 to 128 H100, NeMo"},
    Table{"llama8b_cp2_fp8", "the same in FP8"},
    Table{"simumax", "LLaMA 3 70B, 12 layers, PP 2 on 8 B200, Megatron-LM"},
    Table{"bridge8b", "LLaMA 3 8B in FP8 and MXFP8 on 8 B200, GB200, GB300, Megatron-Bridge"},
    Table{"bridge70b", "LLaMA 3 70B in FP8, MXFP8 and NVFP4 on 64 GB200, GB300, Megatron-Bridge"},
    Table{"qwen30b", "Qwen3 30B-A3B in MXFP8 on 8 B200 to GB300, Megatron-Bridge"},
    Table{"lora_nvidia", "Llama 2 70B fine-tuned by LoRA on 8 H100 to GB300, MLPerf"},
    Table{"lora_amd", "the same on 8 MI300X to MI355X, MLPerf: the only measured steps of AMD GPUs"},
    Table{"lora_other", "layouts that a submission names after another GPU"}};

/// The figure of a set whose rows differ by nothing but replicas; nullopt: they differ by more.
std::optional<std::string_view> scaling_of(std::string_view set) {
  if (set == "gpt175b") return "scaling.weak";
  if (set == "llama8b_cp2") return "scaling.weak.llama8b_cp2";
  if (set == "llama8b_cp2_fp8") return "scaling.weak.llama8b_cp2_fp8";
  return std::nullopt;
}

StepTraffic traffic_of(std::string_view stream) {
  if (stream.starts_with("tensor") || stream == "vocabulary" || stream == "adapters")
    return StepTraffic::tensor;
  if (stream == "context") return StepTraffic::context;
  if (stream.starts_with("dispatch")) return StepTraffic::experts;
  const bool is_between = stream.starts_with("pipeline") || stream == "embedding" || stream == "opposite stage";
  return is_between ? StepTraffic::pipeline : StepTraffic::data;
}

/// Listens to kernels and collectives, and tells which of the latter no kernel hid.
class ExposedTraffic final : public Observer {
 public:
  explicit ExposedTraffic(const std::vector<std::string>& streams) {
    for (const std::string& stream : streams)
      traffic_.push_back(traffic_of(stream));
  }

  /// Exposed times of the GPU that stands for a class of ranks.
  std::array<Seconds, kStepTraffics> of(int gpu) {
    Gpu& recorded = gpus_[gpu];
    const Intervals busy = united(std::move(recorded.kernels));
    std::array<Seconds, kStepTraffics> exposed = {};
    for (std::size_t i = 0; i < kStepTraffics; ++i) {
      const Intervals moving = united(std::move(recorded.moved.at(i)));
      exposed.at(i) = Seconds{1e-12 * static_cast<double>(length(moving) - length(intersection(busy, moving)))};
    }
    return exposed;
  }

  void activity_started(ActivityId id, const ActivityInfo& info, Seconds at) override {
    if (info.stream < 0 || info.gpu < 0) return;
    if (info.kind == ActivityKind::kernel || info.kind == ActivityKind::collective)
      open_.insert_or_assign(id, Open{info.gpu, info.stream, info.kind == ActivityKind::kernel, at});
  }
  void activity_finished(ActivityId id, Seconds at) override {
    const auto found = open_.find(id);
    if (found == open_.end()) return;
    const auto& [gpu, stream, is_kernel, from] = found->second;
    const Interval span{std::llround(from.value * 1e12), std::llround(at.value * 1e12)};
    Gpu& recorded = gpus_[gpu];
    const auto traffic = static_cast<std::size_t>(traffic_.at(static_cast<std::size_t>(stream)));
    (is_kernel ? recorded.kernels : recorded.moved.at(traffic)).push_back(span);
    open_.erase(found);
  }
  void resource_added(ResourceId /*id*/, const ResourceInfo& /*info*/, double /*capacity*/) override {}
  void capacity_changed(ResourceId /*id*/, Seconds /*at*/, double /*capacity*/) override {}
  void depends(ActivityId /*successor*/, ActivityId /*predecessor*/, DependencyKind /*kind*/) override {}
  void rate_changed(ActivityId /*activity*/, Seconds /*at*/, double /*rate*/) override {}
  void utilisation(ResourceId /*id*/, Seconds /*at*/, double /*used*/) override {}

 private:
  struct Open {
    int gpu, stream;
    bool is_kernel;
    Seconds from;
  };
  struct Gpu {
    std::vector<Interval> kernels;
    std::array<std::vector<Interval>, kStepTraffics> moved;
  };

  std::vector<StepTraffic> traffic_;  ///< by stream
  std::map<ActivityId, Open> open_;
  std::map<int, Gpu> gpus_;
};

/// A simulated ClusterStep, as numbers that a process can hand over.
SimulatedTime simulate(const MeasuredStep& step) {
  const Experiment experiment = step.make(std::nullopt);
  const StepFacts& facts = experiment.step.value();
  ExposedTraffic listener(experiment.program.streams);
  RunSetup setup;
  setup.observer = &listener;
  const RunResult run = run_once(experiment, experiment.strategies.front(), setup);
  const double ranks = experiment.cluster.ranks();
  const Seconds bubble = facts.pipeline ? average_breakdown(run.classes).bubble : Seconds{};
  std::vector<double> numbers = {static_cast<double>(facts.tokens) / ranks / run.time.value,
                                 facts.model_at_peak() / run.time, facts.memory.bytes.value,
                                 facts.memory.reserved.value, bubble.value};
  numbers.resize(kClusterNumbers);
  for (const SimulatedClass& rank_class : run.classes) {
    const auto exposed = listener.of(rank_class.representative());
    for (std::size_t i = 0; i < kStepTraffics; ++i)
      numbers.at(kClusterNumbers - kStepTraffics + i) +=
          exposed.at(i).value * (rank_class.multiplicity() / ranks);
  }
  return {.time = run.time, .values = std::move(numbers)};
}

/// The step under a draw, with as few layers and micro-batches as tell by how much its time differs.
SimulatedTime simulate_small(const MeasuredStep& measured, std::optional<std::uint64_t> draw) {
  const Experiment step = smallest(measured.make(draw));
  return {.time = run_once(step, step.strategies.front(), {.seed = draw.value_or(0)}).time};
}

}  // namespace

StepTime ClusterStepsPart::Row::time() const {
  const Seconds whole = here.value().time;
  std::vector<double> times;
  for (const Seconds one : drawn)
    if (small) times.push_back(whole.value * (one / *small));
  return time_with_interval(whole, times);
}

ClusterStepsPart::ClusterStepsPart(const std::vector<MeasuredStep>& steps) {
  for (const MeasuredStep& step : steps)
    rows_.push_back({.reference = step});
}

void ClusterStepsPart::plan(SimulationJobs& jobs) {
  for (Row& row : rows_) {
    jobs.push_back({[&row] { return simulate(row.reference); },
                    [&row](const SimulatedTime& found) {
                      row.why_not = found.said;
                      if (found.time) row.here = ClusterStep{*found.time, found.values};
                    }});
    jobs.push_back({[&row] { return simulate_small(row.reference, std::nullopt); },
                    [&row](const SimulatedTime& found) { row.small = found.time; }});
    for (std::uint64_t draw = 0; draw < row.reference.draws; ++draw)
      jobs.push_back({[&row, draw] { return simulate_small(row.reference, draw); },
                      [&row](const SimulatedTime& found) {
                        if (found.time) row.drawn.push_back(*found.time);
                      }});
  }
}

std::vector<SimulatedStep> ClusterStepsPart::simulated() const {
  std::vector<SimulatedStep> steps;
  for (const Row& row : rows_) {
    SimulatedStep step{.reference = row.reference};
    if (row.here) step.now = row.time();
    steps.push_back(std::move(step));
  }
  return steps;
}

StudySection ClusterStepsPart::errors(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Steps of clusters: mean absolute error",
      .lines = {},
      .notes = {"first: before anything was changed because of it (studies/cluster/first.csv)."},
      .value = "now"};
  const std::vector<SimulatedStep> steps = simulated();
  const auto add = [&](const Comparison& errors, const std::string& id, const std::string& signed_id,
                       std::string label, std::string signed_label) {
    section.lines.push_back(errors.line(published.find(id), FigureKind::predicted, std::move(label)));
    section.lines.push_back(errors.signed_line(published.find(signed_id), std::move(signed_label)));
  };
  add(errors_of(steps, [](const SimulatedStep& step) { return step.reference.is_judged; }), "steps.mean",
      "steps.signed", "all rows", "the same, mean of signed errors");
  for (const auto& [group, label] : kTables) {
    const std::string id = fmt::format("steps.{}", group);
    add(errors_of(steps, [&](const SimulatedStep& step) { return step.reference.group == group; }), id,
        id + ".signed", std::string(label), "signed");
  }
  return section;
}

StudySection ClusterStepsPart::scaling(const PublishedFigures& published) const {
  StudySection section{.heading = "Weak scaling: time on most GPUs over time on fewest",
                       .lines = {},
                       .notes = {"published: measured. Only replicas are added."},
                       .value = "here",
                       .decimals = 3};
  std::map<std::pair<std::string, std::string>, std::vector<const Row*>> releases;
  for (const Row& row : rows_)
    if (scaling_of(row.reference.set))
      releases[{row.reference.set, row.reference.row.substr(0, row.reference.row.find(' '))}].push_back(&row);
  for (const auto& [release, rows] : releases) {
    if (rows.size() < 2) continue;  // nothing to compare with
    const Row &few = *rows.front(), &many = *rows.back();
    StudyLine line{.figure = {.reference = published.find(*scaling_of(release.first))},
                   .label = fmt::format("{}, {}", release.first, release.second),
                   .rows = rows.size()};
    line.beside.emplace_back("measured", many.reference.measured / few.reference.measured);
    if (few.here && many.here) {
      const double here = many.here->time / few.here->time;
      line.figure.simulated = kPercent * (here * (few.reference.measured / many.reference.measured) - 1.0);
      line.beside.emplace_back("simulated", here);
    }
    section.lines.push_back(std::move(line));
  }
  return section;
}

StudySection ClusterStepsPart::intervals(const PublishedFigures& published) const {
  std::vector<SimulatedStep> steps = simulated();
  std::erase_if(steps, [](const SimulatedStep& step) { return !step.reference.is_judged; });
  for (SimulatedStep& step : steps)
    step.reference.set = step.reference.group;
  return intervals_section(steps, published);
}

StudySection ClusterStepsPart::rows(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Steps of clusters by row: signed error",
      .lines = {},
      .notes =
          {"bubble; tensor, pipeline, context, experts, data: exposed communication for that, in which no "
           "kernel runs, with waiting for others. Shares of the step in %, of an average GPU.",
           "p5..p95: over 10 draws of everything that is a range, in proportion to steps of fewer layers and "
           "micro-batches."},
      .value = "now"};
  for (const Row& row : rows_) {
    std::string name = row.reference.row;
    std::ranges::replace_if(
        name, [](char letter) { return letter == ' ' || letter == '.'; }, '-');
    StudyLine line{
        .figure = {.reference = published.find(fmt::format("steps.row.{}.{}", row.reference.set, name))},
        .label = fmt::format("{}, {}", row.reference.set, row.reference.row)};
    if (!row.here) {
      line.skipped = 1;
      section.notes.push_back(fmt::format("{}: {}", line.label, row.why_not));
      section.lines.push_back(std::move(line));
      continue;
    }
    const ClusterStep& here = *row.here;
    line.rows = 1;
    set_error(line, {.reference = row.reference, .now = row.time()});
    const auto share = [&](ClusterNumber number) { return kPercent * (Seconds{here[number]} / here.time); };
    line.beside.insert(line.beside.end(), {{"measured [ms]", row.reference.measured / 1.0_ms},
                                           {"here [ms]", here.time / 1.0_ms},
                                           {"tokens/s/GPU [1/s]", here[ClusterNumber::tokens_per_second]},
                                           {"MFU", kPercent * here[ClusterNumber::mfu]},
                                           {"bubble", share(ClusterNumber::bubble)},
                                           {"tensor", share(ClusterNumber::tensor)},
                                           {"pipeline", share(ClusterNumber::pipeline)},
                                           {"context", share(ClusterNumber::context)},
                                           {"experts", share(ClusterNumber::experts)},
                                           {"data", share(ClusterNumber::data)},
                                           {"reserved [GiB]", here[ClusterNumber::reserved] / kGiB}});
    if (row.reference.in_use) {
      line.beside.emplace_back("in use [GiB]", here[ClusterNumber::in_use] / kGiB);
      line.beside.emplace_back("measured [GiB]", row.reference.in_use->value / kGiB);
    }
    section.lines.push_back(std::move(line));
  }
  return section;
}

std::string ClusterStepsPart::rows_csv() const {
  std::string text =
      "set,row,measured_ms,here_ms,p5_ms,p95_ms,tokens_per_s_per_gpu,mfu,reserved_gib,bubble_ms,"
      "exposed_tensor_ms,exposed_pipeline_ms,exposed_data_ms,exposed_context_ms,exposed_experts_ms\n";
  for (const Row& row : rows_) {
    text += fmt::format("{},{},{:.3f}", row.reference.set, row.reference.row, row.reference.measured / 1.0_ms);
    if (!row.here) {
      text += ",,,,,,,,,,,,\n";
      continue;
    }
    const ClusterStep& here = *row.here;
    const StepTime time = row.time();
    const auto bound = [](std::optional<Seconds> at) { return at ? fmt::format("{:.3f}", *at / 1.0_ms) : ""; };
    text += fmt::format(",{:.3f},{},{},{:.1f},{:.4f},{:.2f}", here.time / 1.0_ms, bound(time.p5),
                        bound(time.p95), here[ClusterNumber::tokens_per_second], here[ClusterNumber::mfu],
                        here[ClusterNumber::reserved] / kGiB);
    for (std::size_t i = kClusterNumbers - kStepTraffics - 1; i < kClusterNumbers; ++i)
      text += fmt::format(",{:.3f}", Seconds{here.numbers[i]} / 1.0_ms);
    text += '\n';
  }
  return text;
}

}}  // namespace c3::studies
