#include "base/percent.hpp"
#include "studies/study_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>
#include <utility>

#include "configs/presets/model_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "gpu/pim.hpp"
#include "studies/cases/found_tables.hpp"
#include "studies/checked_row.hpp"
#include "studies/jitq/step.hpp"
#include "studies/simulations.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/program_builder.hpp"
#include "workloads/training/optimizers/optimizer.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPublished = 2.4;                   // %
constexpr double kLeast = 1.0 / 64.0, kMost = 64.0;  // amplifications among which the needed one is sought
/// Internal bandwidth over that outside, of the curve.
constexpr std::array kAmplifications = {0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0};
constexpr double kShown = 4.0;  // as HBM-PIM has

std::string loss_name(double amplification) { return fmt::format("at_{}", amplification); }

/// A row of models.csv, and what was found of it: losses of throughput in percent against copies that are
/// there.
struct Steps {
  JitStep step;
  NamedNumbers found = {};

  std::string name() const {
    return fmt::format("{} {} {} {}", step.model, step.sequences, step.sequence, step.gpus);
  }
};

Seconds time_of(const Experiment& experiment) {
  return run_once(experiment, experiment.strategies.front(), {}).time;
}

Seconds time_of(JitStep step, WeightCopies copies) {
  step.copies = copies;
  return time_of(experiment_of(step));
}

/// Throughput that is lost [%] against a step that takes \p there, in which copies cost nothing.
double loss(Seconds there, Seconds with) { return kPercent * (1.0 - there / with); }

double loss_at(JitStep step, double amplification, Seconds there) {
  step.amplification = amplification;
  return loss(there, time_of(step, WeightCopies::in_memory));
}

/// Least amplification, to 1 %, with which the loss is the published one or less; NaN: none that is tried.
double needed(const JitStep& step, Seconds there) {
  if (loss_at(step, kMost, there) > kPublished) return std::numeric_limits<double>::quiet_NaN();
  if (loss_at(step, kLeast, there) <= kPublished) return kLeast;
  double low = kLeast, high = kMost;
  while (high / low > 1.01) {
    const double middle = std::sqrt(low * high);
    (loss_at(step, middle, there) <= kPublished ? high : low) = middle;
  }
  return high;
}

/// Time of one cast by units that are as fast as HBM, over that of a kernel of its bytes on the GPU.
double same_as_outside() {
  Experiment experiment = experiment_of({.model = "gpt3-1.3b", .amplification = 1.0});
  TimedKernel kernel =
      in_memory({.chain = VectorOp::quantize_mx9, .rows = 8192, .cols = 8192, .dtype = DType::fp32},
                experiment.cluster.gpu.hbm);
  const auto time_at = [&](Place place) {
    kernel.place = place;
    ProgramBuilder builder;
    builder.timed(builder.stream("compute"), "cast", kernel);
    experiment.program = builder.take();
    return time_of(experiment);
  };
  const Seconds inside = time_at(Place::pim);
  return inside / time_at(Place::gpu);
}

/// Numbers by name, in the order in which they are found.
std::vector<std::pair<std::string, double>> numbers_of(const JitStep& step) {
  constexpr double kMilliseconds = 1e3;
  const Seconds there = time_of(step, WeightCopies::there);
  JitStep one_buffer = step, four_buffers = step, mx6 = step;
  one_buffer.buffers = 1;
  four_buffers.buffers = 4;
  mx6.is_mx6 = true;
  std::vector<std::pair<std::string, double>> numbers = {
      {"step_ms", kMilliseconds * there.value},
      {"kept", loss(there, time_of(step, WeightCopies::updated))},
      {"by_gpu", loss(there, time_of(step, WeightCopies::by_gpu))},
      {"needed", needed(step, there)},
      {"one_buffer", loss_at(one_buffer, kShown, there)},
      {"four_buffers", loss_at(four_buffers, kShown, there)},
      {"mx6", loss_at(mx6, kShown, there)}};
  for (const double amplification : kAmplifications)
    numbers.emplace_back(loss_name(amplification), loss_at(step, amplification, there));
  return numbers;
}

std::vector<Steps> read_steps(const std::filesystem::path& file) {
  constexpr std::int64_t kLargest = 1 << 20;
  const HeadedTable table(file);
  const std::vector<std::string> models = preset_names(PresetKind::model);
  const std::vector<std::string_view> names(models.begin(), models.end());
  std::vector<Steps> steps;
  for (const HeadedTable::Row& table_row : table.rows()) {
    const CheckedRow row(table, table_row, "of a model of the study");
    const ModelDimensions model = load_model(models[row.one_of("model", names)]);
    if (model.experts || model.latent)
      row.fail("model", "must be a model without experts and latent attention");
    steps.push_back({.step = {.model = model.name,
                              .sequences = row.whole("sequences", kLargest),
                              .sequence = row.whole("sequence", kLargest),
                              .gpus = static_cast<int>(row.whole("gpus", 8))}});
  }
  return steps;
}

/// Bits of a parameter: in the copies that MX9 and MX6 make of fp32, and kept by the optimizer with its
/// masters.
Found capacity() {
  constexpr double kBits = 8.0;
  const auto bits_of = [](VectorOp op) {
    const VectorShape shape{.chain = op, .rows = 1024, .cols = 1024, .dtype = DType::fp32};
    return kBits * element_size(DType::fp32).value * tensors_of(shape).writes;
  };
  return {.nominal = {{{"mx9", bits_of(VectorOp::quantize_mx9_both)},
                       {"mx6", bits_of(VectorOp::quantize_mx6_both)},
                       {"fp16", kBits * element_size(DType::fp16).value},
                       {"kept", kBits * element_size(DType::fp32).value * (1.0 + Optimizer::adam->states)}}}};
}

/// How many losses are larger than at the amplification before.
Found rises(const std::vector<Steps>& all) {
  constexpr double kSame = 0.01;  // points
  double count = 0.0;
  for (const Steps& steps : all)
    for (std::size_t i = 1; i < kAmplifications.size(); ++i)
      if (steps.found.at(loss_name(kAmplifications.at(i))) >
          steps.found.at(loss_name(kAmplifications.at(i - 1))) + kSame)
        ++count;
  return {.nominal = {{{"value", count}}}, .rows = all.size() * (kAmplifications.size() - 1)};
}

Found found_of(const Steps& steps) {
  constexpr double kGigabytes = 1e-9;
  JitStep just_in_time = steps.step;
  just_in_time.copies = WeightCopies::in_memory;
  NamedNumbers numbers = steps.found;
  numbers.emplace("held", kGigabytes * held_bytes_of_copies(just_in_time));
  numbers.emplace("held_if_kept", kGigabytes * held_bytes_of_copies(steps.step));
  const std::string gpus = steps.step.gpus > 1 ? fmt::format(", {} GPUs", steps.step.gpus) : "";
  return {.nominal = {std::move(numbers)},
          .texts = {{"step", fmt::format("{}, {} x {} tokens{}", steps.step.model, steps.step.sequences,
                                         steps.step.sequence, gpus)}}};
}

std::string rows_csv(const std::vector<Steps>& all) {
  std::string csv =
      "model,sequences,sequence,gpus,amplification,loss_percent,kept_percent,by_gpu_percent,needed\n";
  for (const auto& [step, found] : all) {
    const double needs = found.at("needed");
    for (const double amplification : kAmplifications)
      csv += fmt::format("{},{},{},{},{},{:.4f},{:.4f},{:.4f},{}\n", step.model, step.sequences, step.sequence,
                         step.gpus, amplification, found.at(loss_name(amplification)), found.at("kept"),
                         found.at("by_gpu"), std::isnan(needs) ? "" : fmt::format("{:.4g}", needs));
  }
  return csv;
}

}  // namespace

StudyOutcome reproduce_jitq(const StudyInput& input, const PublishedFigures& published,
                            const StudyProgress& progress) {
  std::vector<Steps> all = read_steps(study_file("jitq", "models.csv"));
  FoundNumbers found = {{"capacity", capacity()}};
  SimulationJobs jobs;
  for (Steps& steps : all)
    jobs.push_back({.run =
                        [&steps] {
                          SimulatedTime simulated;
                          for (const auto& [name, number] : numbers_of(steps.step)) {
                            simulated.values.push_back(number);
                            simulated.said += name + ' ';
                          }
                          return simulated;
                        },
                    .take =
                        [&steps](const SimulatedTime& simulated) {
                          std::istringstream names(simulated.said);
                          for (const double number : simulated.values) {
                            std::string name;
                            names >> name;
                            steps.found.emplace(name, number);
                          }
                        }});
  jobs.push_back({.run = [] { return SimulatedTime{.values = {same_as_outside()}}; },
                  .take =
                      [&found](const SimulatedTime& simulated) {
                        found["same"] = {.nominal = {{{"value", simulated.values.front()}}}};
                      }});
  run_simulations(jobs, progress, input.processes);
  found["rises"] = rises(all);
  for (const Steps& steps : all)
    found.emplace(steps.name(), found_of(steps));
  return {.report = found_sections(input.card, found, published),
          .rows_csv = input.wants_rows ? rows_csv(all) : ""};
}

}}  // namespace c3::studies
