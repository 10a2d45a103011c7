#include "studies/cluster/cluster_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "engine/intervals.hpp"
#include "studies/comparison.hpp"
#include "studies/training/step_numbers.hpp"
#include "studies/training/step_scores.hpp"
#include "workloads/analysis/average_breakdown.hpp"
#include "workloads/analysis/shorter_steps.hpp"
#include "workloads/execute/run.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::uint64_t kDraws = 10;

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

/// Rows of the study of training are in groups of its own.
std::string_view group_of(const MeasuredStep& step) {
  if (step.set.starts_with("titan")) return "titan";
  return step.set == "vtrain18b" ? "vtrain256" : std::string_view(step.group);
}

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

  /// Of the GPU that stands for a class of ranks.
  std::array<Seconds, kStepTraffics> of(int gpu) {
    Gpu& its = gpus_[gpu];
    const Intervals busy = united(std::move(its.kernels));
    std::array<Seconds, kStepTraffics> exposed = {};
    for (std::size_t i = 0; i < kStepTraffics; ++i) {
      const Intervals moving = united(std::move(its.moved.at(i)));
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
    Gpu& its = gpus_[gpu];
    const auto traffic = static_cast<std::size_t>(traffic_.at(static_cast<std::size_t>(stream)));
    (is_kernel ? its.kernels : its.moved.at(traffic)).push_back(span);
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

/// As ClusterStep, in numbers that a process can hand over.
SimulatedTime simulate(const ExperimentFile& file) {
  const Experiment experiment = file.make(std::nullopt);
  const StepFacts& facts = experiment.step.value();
  ExposedTraffic listener(experiment.program.streams);
  RunSetup setup;
  setup.observer = &listener;
  const RunResult run = run_once(experiment, experiment.strategies.front(), setup);
  const double ranks = experiment.cluster.ranks();
  std::array<Seconds, kStepTraffics> exposed = {};
  for (const SimulatedClass& its : run.classes) {
    const auto own = listener.of(its.representative());
    for (std::size_t i = 0; i < kStepTraffics; ++i)
      exposed.at(i) += own.at(i) * (its.multiplicity() / ranks);
  }
  const Seconds bubble = facts.pipeline ? average_breakdown(run.classes).bubble : Seconds{};
  SimulatedTime found{
      .time = run.time,
      .values = {static_cast<double>(facts.tokens) / ranks / run.time.value, facts.model_at_peak() / run.time,
                 facts.memory.bytes.value, facts.memory.reserved.value, bubble.value}};
  for (const Seconds time : exposed)
    found.values.push_back(time.value);
  return found;
}

/// The step under a draw, with as few layers and micro-batches as tell by how much its time differs.
SimulatedTime simulate_small(const ExperimentFile& file, std::optional<std::uint64_t> draw) {
  const Experiment step = smallest(file.make(draw));
  return {.time = run_once(step, step.strategies.front(), {.seed = draw.value_or(0)}).time};
}

ClusterStep step_from(const SimulatedTime& found) {
  ClusterStep step{.time = found.time.value(),
                   .tokens_per_second = found.values.at(0),
                   .mfu = found.values.at(1),
                   .in_use = Bytes{found.values.at(2)},
                   .reserved = Bytes{found.values.at(3)},
                   .bubble = Seconds{found.values.at(4)}};
  for (std::size_t i = 0; i < kStepTraffics; ++i)
    step.exposed.at(i) = Seconds{found.values.at(5 + i)};
  return step;
}

double error_of(Seconds here, Seconds measured) { return kPercent * (here / measured - 1.0); }

/// Of some rows: absolute errors, with those of the first run beside, and the means of signed ones.
struct Errors {
  Comparison comparison;
  double now = 0.0, first = 0.0;
  std::size_t rows = 0, first_rows = 0;

  void add(Seconds measured, Seconds here, const std::optional<StepTime>& before) {
    std::vector<Comparison::Beside> beside;
    if (before) {
      beside.emplace_back("first", before->here);
      first += error_of(before->here, measured);
      ++first_rows;
    }
    comparison.add({measured, here, rows}, beside);
    now += error_of(here, measured);
    ++rows;
  }
  StudyLine signed_line(PublishedFigure of, std::string label) const {
    StudyLine line{.figure = {.of = std::move(of)}, .label = std::move(label), .rows = rows};
    if (rows > 0) line.figure.simulated = now / static_cast<double>(rows);
    if (first_rows > 0) line.beside.emplace_back("first", first / static_cast<double>(first_rows));
    return line;
  }
};

}  // namespace

double ClusterStepsPart::Row::error(Seconds time) const { return error_of(time, of.measured); }

StepTime ClusterStepsPart::Row::time() const {
  const Seconds whole = here.value().time;
  std::vector<double> times;
  for (const Seconds one : drawn)
    if (small) times.push_back(whole.value * (one / *small));
  return time_with_interval(whole, times);
}

ClusterStepsPart::ClusterStepsPart(std::vector<MeasuredStep> steps) {
  for (MeasuredStep& step : steps) {
    const std::filesystem::path path = experiment_of_study("training", step.frame);
    ExperimentFile file = ExperimentFile::load(path, step.sets);
    rows_.push_back({.of = std::move(step), .file = std::move(file)});
  }
}

void ClusterStepsPart::plan(SimulationJobs& jobs) {
  for (Row& row : rows_) {
    jobs.push_back({[&row] { return simulate(row.file); },
                    [&row](const SimulatedTime& found) {
                      row.why_not = found.said;
                      if (found.time) row.here = step_from(found);
                    }});
    jobs.push_back({[&row] { return simulate_small(row.file, std::nullopt); },
                    [&row](const SimulatedTime& found) { row.small = found.time; }});
    for (std::uint64_t draw = 0; draw < kDraws; ++draw)
      jobs.push_back({[&row, draw] { return simulate_small(row.file, draw); },
                      [&row](const SimulatedTime& found) {
                        if (found.time) row.drawn.push_back(*found.time);
                      }});
  }
}

StudySection ClusterStepsPart::errors(const PublishedFigures& published, const FirstTable& first) const {
  StudySection section{.heading = "Steps of clusters: mean absolute error", .lines = {}, .notes = {}};
  const auto of_group = [&](std::string_view group) {
    Errors errors;
    for (const Row& row : rows_) {
      if (group.empty() ? !row.of.is_judged : group_of(row.of) != group) continue;
      if (row.here)
        errors.add(row.of.measured, row.here->time, first.find(row.of.set, row.of.row));
      else
        errors.comparison.skip();
    }
    return errors;
  };
  const Errors all = of_group("");
  section.lines.push_back(all.comparison.line(published.find("steps.mean"), FigureKind::predicted, "all rows"));
  section.lines.push_back(all.signed_line(published.find("steps.signed"), "the same, mean of signed errors"));
  for (const auto& [group, label] : kTables) {
    const Errors errors = of_group(group);
    const std::string id = fmt::format("steps.{}", group);
    section.lines.push_back(
        errors.comparison.line(published.find(id), FigureKind::predicted, std::string(label)));
    section.lines.push_back(errors.signed_line(published.find(id + ".signed"), "signed"));
  }
  section.value = "now";
  section.notes = {"first: before anything was changed because of it (studies/cluster/first.csv)."};
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
    if (scaling_of(row.of.set))
      releases[{row.of.set, row.of.row.substr(0, row.of.row.find(' '))}].push_back(&row);
  for (const auto& [release, rows] : releases) {
    if (rows.size() < 2) continue;  // nothing to compare with
    const Row &few = *rows.front(), &many = *rows.back();
    StudyLine line{.figure = {.of = published.find(*scaling_of(release.first))},
                   .label = fmt::format("{}, {}", release.first, release.second),
                   .rows = rows.size()};
    line.beside.emplace_back("measured", many.of.measured / few.of.measured);
    if (few.here && many.here) {
      const double here = many.here->time / few.here->time;
      line.figure.simulated = kPercent * (here * (few.of.measured / many.of.measured) - 1.0);
      line.beside.emplace_back("simulated", here);
    }
    section.lines.push_back(std::move(line));
  }
  return section;
}

StudySection ClusterStepsPart::intervals(const PublishedFigures& published, const FirstTable& first) const {
  std::vector<SimulatedStep> steps;
  for (const Row& row : rows_) {
    if (!row.of.is_judged) continue;
    SimulatedStep step{.set = std::string(group_of(row.of)),
                       .group = row.of.group,
                       .row = row.of.row,
                       .measured = row.of.measured,
                       .first = first.find(row.of.set, row.of.row)};
    if (row.here) step.now = row.time();
    steps.push_back(std::move(step));
  }
  return intervals_section(steps, published);
}

StudySection ClusterStepsPart::rows(const PublishedFigures& published, const FirstTable& first) const {
  StudySection section{.heading = "Steps of clusters by row: signed error", .lines = {}, .notes = {}};
  for (const Row& row : rows_) {
    std::string name = row.of.row;
    std::ranges::replace_if(
        name, [](char letter) { return letter == ' ' || letter == '.'; }, '-');
    StudyLine line{.figure = {.of = published.find(fmt::format("steps.row.{}.{}", row.of.set, name))},
                   .label = fmt::format("{}, {}", row.of.set, row.of.row)};
    if (!row.here) {
      line.skipped = 1;
      section.notes.push_back(fmt::format("{}: {}", line.label, row.why_not));
      section.lines.push_back(std::move(line));
      continue;
    }
    const ClusterStep& here = *row.here;
    line.rows = 1;
    const StepTime simulated = row.time();
    line.figure.simulated = row.error(simulated.here);
    if (simulated.p5) {
      line.figure.p5 = row.error(*simulated.p5);
      line.figure.p95 = row.error(*simulated.p95);
    }
    if (const auto before = first.find(row.of.set, row.of.row))
      line.beside.emplace_back("first", error_of(before->here, row.of.measured));
    const auto of_step = [&](Seconds time) { return kPercent * (time / here.time); };
    const auto exposed = [&](StepTraffic traffic) {
      return of_step(here.exposed.at(static_cast<std::size_t>(traffic)));
    };
    line.beside.insert(line.beside.end(), {{"measured [ms]", row.of.measured / 1.0_ms},
                                           {"here [ms]", here.time / 1.0_ms},
                                           {"tokens/s/GPU [1/s]", here.tokens_per_second},
                                           {"MFU", kPercent * here.mfu},
                                           {"bubble", of_step(here.bubble)},
                                           {"tensor", exposed(StepTraffic::tensor)},
                                           {"pipeline", exposed(StepTraffic::pipeline)},
                                           {"context", exposed(StepTraffic::context)},
                                           {"experts", exposed(StepTraffic::experts)},
                                           {"data", exposed(StepTraffic::data)},
                                           {"reserved [GiB]", here.reserved.value / kGiB}});
    if (row.of.in_use) {
      line.beside.emplace_back("in use [GiB]", here.in_use.value / kGiB);
      line.beside.emplace_back("measured [GiB]", row.of.in_use->value / kGiB);
    }
    section.lines.push_back(std::move(line));
  }
  section.value = "now";
  section.notes.insert(
      section.notes.begin(),
      fmt::format("p5..p95: over {} draws of everything that is a range, in proportion to steps "
                  "of fewer layers and micro-batches.",
                  kDraws));
  section.notes.insert(
      section.notes.begin(),
      "bubble; tensor, pipeline, context, experts, data: exposed communication for that, in which no "
      "kernel runs, with waiting "
      "for others. Shares of the step in %, of an average GPU.");
  return section;
}

std::string ClusterStepsPart::rows_csv() const {
  std::string text =
      "set,row,measured_ms,here_ms,p5_ms,p95_ms,tokens_per_s_per_gpu,mfu,reserved_gib,bubble_ms,"
      "exposed_tensor_ms,exposed_pipeline_ms,exposed_data_ms,exposed_context_ms,exposed_experts_ms\n";
  for (const Row& row : rows_) {
    text += fmt::format("{},{},{:.3f}", row.of.set, row.of.row, row.of.measured / 1.0_ms);
    if (!row.here) {
      text += ",,,,,,,,,,,,\n";
      continue;
    }
    const ClusterStep& here = *row.here;
    const StepTime time = row.time();
    const auto bound = [](std::optional<Seconds> at) { return at ? fmt::format("{:.3f}", *at / 1.0_ms) : ""; };
    text += fmt::format(",{:.3f},{},{},{:.1f},{:.4f},{:.2f},{:.3f}", here.time / 1.0_ms, bound(time.p5),
                        bound(time.p95), here.tokens_per_second, here.mfu, here.reserved.value / kGiB,
                        here.bubble / 1.0_ms);
    for (const Seconds exposed : here.exposed)
      text += fmt::format(",{:.3f}", exposed / 1.0_ms);
    text += '\n';
  }
  return text;
}

}}  // namespace c3::studies
