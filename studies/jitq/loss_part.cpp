// What steps lose when the copies of weights are made just in time, by the amplification of units in memory.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "configs/presets/preset_store.hpp"
#include "gpu/pim.hpp"
#include "studies/checked_row.hpp"
#include "studies/jitq/parts.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/program_builder.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0, kMilliseconds = 1e3, kGigabytes = 1e-9;
constexpr double kPublished = 2.4;                   // %
constexpr double kLeast = 1.0 / 64.0, kMost = 64.0;  // amplifications among which the needed one is sought
constexpr std::size_t kShown = 4;                    // of kAmplifications: four, as HBM-PIM has
constexpr std::int64_t kLargest = 1 << 20;

Seconds time_of(const Experiment& experiment) {
  return run_once(experiment, experiment.strategies.front(), {}).time;
}

Seconds time_of(JitStep step, WeightCopies copies) {
  step.copies = copies;
  return time_of(experiment_of(step));
}

/// Of a step with \p there, in which copies cost nothing, the throughput that is lost [%].
double loss(Seconds there, Seconds with) { return kPercent * (1.0 - there / with); }

double loss_at(JitStep step, double amplification, Seconds there) {
  step.amplification = amplification;
  return loss(there, time_of(step, WeightCopies::in_memory));
}

/// Least amplification, to 1 %, with which the loss is the published one or less; 0: none that is tried.
double needed(const JitStep& step, Seconds there) {
  if (loss_at(step, kMost, there) > kPublished) return 0.0;
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

}  // namespace

std::string LossPart::Row::label() const {
  const std::string where = step.gpus > 1 ? fmt::format(", {} GPUs", step.gpus) : "";
  return fmt::format("{}, {} x {} tokens{}", step.model, step.sequences, step.sequence, where);
}

LossPart::LossPart(const std::filesystem::path& file) {
  const HeadedTable table(file);
  const std::vector<std::string> models = preset_names(PresetKind::model);
  const std::vector<std::string_view> names(models.begin(), models.end());
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, "of a model of the study");
    const ModelDimensions model = load_model(models[row.one_of("model", names)]);
    if (model.experts || model.latent)
      row.fail("model", "must be a model without experts and latent attention");
    rows_.push_back({.step = {.model = model.name,
                              .sequences = row.whole("sequences", kLargest),
                              .sequence = row.whole("sequence", kLargest),
                              .gpus = static_cast<int>(row.whole("gpus", 8))},
                     .losses = {}});
  }
}

std::vector<double> LossPart::values_of(const JitStep& step) {
  const Seconds there = time_of(step, WeightCopies::there);
  std::vector<double> values = {there.value, loss(there, time_of(step, WeightCopies::updated)),
                                loss(there, time_of(step, WeightCopies::by_gpu)), needed(step, there)};
  JitStep other = step;
  for (const int buffers : {1, 4}) {
    other.buffers = buffers;
    values.push_back(loss_at(other, kAmplifications[kShown], there));
  }
  other = step;
  other.is_mx6 = true;
  values.push_back(loss_at(other, kAmplifications[kShown], there));
  for (const double amplification : kAmplifications)
    values.push_back(loss_at(step, amplification, there));
  return values;
}

void LossPart::take(Row& row, const std::vector<double>& values) {
  auto next = values.begin();
  row.there = kMilliseconds * *next++;
  row.updated = *next++;
  row.by_gpu = *next++;
  if (*next > 0.0) row.needed = *next;
  ++next;
  for (double* found : {&row.one_buffer, &row.four_buffers, &row.mx6})
    *found = *next++;
  row.losses.assign(next, values.end());
}

void LossPart::plan(SimulationJobs& jobs) {
  for (Row& row : rows_)
    jobs.push_back({.run = [&row] { return SimulatedTime{.values = values_of(row.step)}; },
                    .take = [&row](const SimulatedTime& found) { take(row, found.values); }});
  jobs.push_back({.run = [] { return SimulatedTime{.values = {same_as_outside()}}; },
                  .take = [this](const SimulatedTime& found) { same_ = found.values.front(); }});
}

StudySection LossPart::mechanism(const PublishedFigures& published) const {
  constexpr double kSame = 0.01;  // points
  double rises = 0.0;
  for (const Row& row : rows_)
    for (std::size_t i = 1; i < row.losses.size(); ++i)
      if (row.losses[i] > row.losses[i - 1] + kSame) ++rises;
  StudySection section{.heading = "Units in memory", .lines = {}, .notes = {}, .decimals = 3};
  section.lines.push_back({.figure = {.of = published.find("mechanism.same"), .simulated = same_},
                           .label = "time at amplification 1, over that of the same bytes at HBM"});
  section.lines.push_back({.figure = {.of = published.find("mechanism.rises"), .simulated = rises},
                           .label = "losses that grow with the amplification",
                           .rows = rows_.size() * (kAmplifications.size() - 1)});
  return section;
}

StudySection LossPart::losses(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Throughput lost by copies made just in time, against copies that cost nothing",
      .lines = {},
      .notes =
          {"Here: in memory at amplification 4. kept: copies made again by the GPU after each update. by GPU: "
           "made by it just in time."},
      .decimals = 2};
  for (const Row& row : rows_) {
    StudyLine line{.figure = {.of = published.find("loss"), .simulated = row.losses[kShown]},
                   .label = row.label()};
    for (const std::size_t i : {1UL, 2UL, 3UL, 5UL, 6UL})
      line.beside.emplace_back(fmt::format("at {}", kAmplifications[i]), row.losses[i]);
    line.beside.emplace_back("kept", row.updated);
    line.beside.emplace_back("by GPU", row.by_gpu);
    section.lines.push_back(std::move(line));
  }
  return section;
}

StudySection LossPart::needs(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Amplification that the published 2.4 % requires",
      .lines = {},
      .notes = {fmt::format("Sought from {} to {}: none there without a number.", kLeast, kMost)},
      .decimals = 2};
  for (const Row& row : rows_) {
    StudyLine line{.figure = {.of = published.find("needed"), .simulated = row.needed}, .label = row.label()};
    line.beside = {{"step [ms]", row.there}};
    section.lines.push_back(std::move(line));
  }
  return section;
}

StudySection LossPart::windows(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Loss at amplification 4 with one staging buffer",
      .lines = {},
      .notes = {"held: copies in buffers, and all that would be kept, along rows and columns."},
      .decimals = 2};
  for (const Row& row : rows_) {
    StudyLine line{.figure = {.of = published.find("window"), .simulated = row.one_buffer},
                   .label = row.label()};
    JitStep kept = row.step, just_in_time = row.step;
    just_in_time.copies = WeightCopies::in_memory;
    line.beside = {{"2 buffers", row.losses[kShown]},
                   {"4 buffers", row.four_buffers},
                   {"MX6", row.mx6},
                   {"held [GB]", kGigabytes * held_bytes_of_copies(just_in_time)},
                   {"of [GB]", kGigabytes * held_bytes_of_copies(kept)}};
    section.lines.push_back(std::move(line));
  }
  return section;
}

StudyReport LossPart::sections(const PublishedFigures& published) const {
  return {mechanism(published), losses(published), needs(published), windows(published)};
}

std::string LossPart::rows_csv() const {
  std::string csv =
      "model,sequences,sequence,gpus,amplification,loss_percent,kept_percent,by_gpu_percent,needed\n";
  for (const Row& row : rows_) {
    const std::string needs = row.needed ? fmt::format("{:.4g}", *row.needed) : "";
    for (std::size_t i = 0; i < row.losses.size(); ++i)
      csv += fmt::format("{},{},{},{},{},{:.4f},{:.4f},{:.4f},{}\n", row.step.model, row.step.sequences,
                         row.step.sequence, row.step.gpus, kAmplifications[i], row.losses[i], row.updated,
                         row.by_gpu, needs);
  }
  return csv;
}

}}  // namespace c3::studies
