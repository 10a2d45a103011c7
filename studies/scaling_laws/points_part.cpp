// Models on faster and faster GPUs: projected, scheduled with operators alone, and simulated.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "studies/checked_row.hpp"
#include "studies/scaling_laws/parts.hpp"
#include "workloads/analysis/steady_state.hpp"

namespace c3::inline studies {
namespace {

constexpr std::string_view kWhat = "of a model of the study";
constexpr std::int64_t kLargest = 1 << 20;
constexpr double kPercent = 100.0;
constexpr std::array kFaster = {1, 2, 4};
constexpr LawPoint kBert{.hidden = 1024, .sequence = 512, .batch = 32, .tensor_parallel = 4};
constexpr LawPoint kLarge{.hidden = 8192, .sequence = 2048, .batch = 1, .tensor_parallel = 8};

/// Profiled once a process: the engine belongs to one.
const Baseline& bert() {
  static const Baseline kBaseline(experiment_of(kBert));
  return kBaseline;
}
const Baseline& large() {
  static const Baseline kBaseline(experiment_of(kLarge));
  return kBaseline;
}

/// Mean over rows, in percent, of the magnitude of a relative difference, and the difference itself.
struct MeanError {
  double magnitude = 0.0, difference = 0.0, most = 0.0;

  void add(double relative, std::size_t rows) {
    magnitude += kPercent * std::abs(relative) / static_cast<double>(rows);
    difference += kPercent * relative / static_cast<double>(rows);
    most = std::max(most, kPercent * std::abs(relative));
  }
};

}  // namespace

PointsPart::PointsPart(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, kWhat);
    for (const int faster : kFaster)
      rows_.push_back({.point = {.hidden = row.whole("hidden", kLargest),
                                 .sequence = row.whole("sequence", kLargest),
                                 .batch = row.whole("batch", kLargest),
                                 .tensor_parallel = row.whole("tensor_parallel", kLargest),
                                 .faster = faster},
                       .simulated = {},
                       .alone = {},
                       .projected = {},
                       .from_large = {},
                       .shares = {},
                       .off = {}});
  }
}

std::vector<double> PointsPart::values_of(const LawPoint& point) {
  const Experiment step = experiment_of(point);
  const RunResult run = run_step(step, step.strategies.front(), {});
  const ProjectedStep own = alone(step);
  const LawShares shares = shares_of(own);
  const LawDeviations off = deviations_of(point, step);
  return {run.time.value,
          own.schedule.time.value,
          bert().project(step).schedule.time.value,
          large().project(step).schedule.time.value,
          shares.compute.value,
          shares.backward.value,
          shares.serialized.value,
          shares.gradients.value,
          own.schedule.times.exposed / own.schedule.time,
          run.classes.front().times.exposed / run.time,
          off.edge,
          off.slack,
          off.buckets,
          static_cast<double>(own.operators.size())};
}

void PointsPart::take(Row& row, const std::vector<double>& values) {
  auto next = values.begin();
  for (Seconds* time : {&row.simulated, &row.alone, &row.projected, &row.from_large, &row.shares.compute,
                        &row.shares.backward, &row.shares.serialized, &row.shares.gradients})
    *time = Seconds{*next++};
  for (double* number : {&row.exposed_alone, &row.exposed_simulated, &row.off.edge, &row.off.slack,
                         &row.off.buckets, &row.operators})
    *number = *next++;
}

void PointsPart::plan(SimulationJobs& jobs) {
  for (Row& row : rows_) {
    jobs.push_back({.run = [&row] { return SimulatedTime{.values = values_of(row.point)}; },
                    .take = [&row](const SimulatedTime& found) { take(row, found.values); }});
  }
  jobs.push_back({.run =
                      [] {
                        const ProjectedStep step = alone(experiment_of(kBert));
                        return SimulatedTime{.time = step.schedule.time,
                                             .values = {static_cast<double>(step.profiled)}};
                      },
                  .take =
                      [this](const SimulatedTime& found) {
                        baseline_ = found.time.value();
                        profiled_ = found.values.front();
                      }});
}

StudySection PointsPart::projections(const PublishedFigures& published) const {
  StudySection section{.heading = "Projected steps against simulated ones: mean error",
                       .lines = {},
                       .notes = {"projected: from one profiled step, by flops, bytes and peak rates. alone: "
                                 "operators of the step itself, each timed alone, in the same schedule."}};
  MeanError from_bert, from_large, from_own, interference;
  double operators = 0.0;
  Seconds all;
  for (const Row& row : rows_) {
    from_bert.add(row.projected / row.simulated - 1.0, rows_.size());
    from_large.add(row.from_large / row.simulated - 1.0, rows_.size());
    from_own.add(row.projected / row.alone - 1.0, rows_.size());
    interference.add(row.simulated / row.alone - 1.0, rows_.size());
    operators += row.operators;
    all += row.simulated;
  }
  const auto add = [&](const char* id, const char* label, const MeanError& error) {
    StudyLine line{.figure = {.of = published.find(id), .simulated = error.magnitude}, .label = label};
    line.rows = rows_.size();
    line.beside = {{"signed", error.difference}, {"most", error.most}};
    section.lines.push_back(std::move(line));
  };
  add("projection.bert", "projected from BERT's layer", from_bert);
  add("projection.large", "projected from a layer of hidden 8192", from_large);
  add("projection.alone", "projected, against operators alone", from_own);
  add("projection.interference", "simulated, against operators alone", interference);
  const auto ratio = [&](const char* id, const char* label, double value) {
    section.lines.push_back({.figure = {.of = published.find(id), .simulated = value}, .label = label});
  };
  ratio("cost", "time of all steps over that of the profiled one [1]", all / baseline_);
  ratio("cost.operators", "operators of all steps over those profiled [1]", operators / profiled_);
  return section;
}

namespace {

/// Pairs of points that are alike but for what \p changed changes, of which the later has a smaller share.
template <class Rows, class Less>
double falling_pairs(const Rows& rows, const Less& is_next) {
  constexpr double kRounding = 1e-9;
  double pairs = 0.0;
  for (const auto& one : rows) {
    for (const auto& other : rows) {
      if (is_next(one.point, other.point) &&
          other.shares.serialized_share() < one.shares.serialized_share() - kRounding)
        pairs += 1.0;
    }
  }
  return pairs;
}

}  // namespace

StudySection PointsPart::laws(const PublishedFigures& published) const {
  StudySection section{.heading = "Closed forms and trends",
                       .lines = {},
                       .notes = {"Greatest relative deviation; pairs of points against the trend."},
                       .value = "here",
                       .decimals = 12};
  double edge = 0.0, slack = 0.0, buckets = 0.0;
  for (const Row& row : rows_) {
    edge = std::max(edge, row.off.edge);
    slack = std::max(slack, row.off.slack);
    buckets = std::max(buckets, kPercent * row.off.buckets);
  }
  const auto hidden = [](const LawPoint& one, const LawPoint& other) {
    LawPoint alike = one;
    alike.hidden = other.hidden;
    return alike == other && one.hidden < other.hidden;
  };
  const auto compute = [](const LawPoint& one, const LawPoint& other) {
    LawPoint alike = one;
    alike.faster = other.faster;
    return alike == other && one.faster < other.faster;
  };
  const auto add = [&](const char* id, const char* label, double value) {
    StudyLine line{.figure = {.of = published.find(id), .simulated = value}, .label = label};
    line.rows = rows_.size();
    section.lines.push_back(std::move(line));
  };
  add("edge", "edge: 3 (6 H + SL) / (t p)", edge);
  add("slack", "slack: 4 T / p", slack);
  add("slack.buckets", "gradients reduced beyond products' weights [%]", buckets);
  add("trend.hidden", "share falls with hidden, pairs", falling_pairs(rows_, hidden));
  add("trend.compute", "share falls with compute, pairs", falling_pairs(rows_, compute));
  return section;
}

StudySection PointsPart::communication(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Communication of steps, by hidden and compute",
      .lines = {},
      .notes = {"serialised share of passes, operators alone, over all lengths, batches and degrees; "
                "exposed: share of the whole step, alone and simulated."},
      .value = "mean"};
  struct Range {
    double least = 1e9, most = 0.0, sum = 0.0, overlapped = 0.0, alone = 0.0, simulated = 0.0;
    std::size_t rows = 0;
  };
  std::map<std::pair<std::int64_t, int>, Range> ranges;
  for (const Row& row : rows_) {
    Range& range = ranges[{row.point.hidden, row.point.faster}];
    const double share = kPercent * row.shares.serialized_share();
    range.least = std::min(range.least, share);
    range.most = std::max(range.most, share);
    range.sum += share;
    range.overlapped += kPercent * row.shares.overlapped_share();
    range.alone += kPercent * row.exposed_alone;
    range.simulated += kPercent * row.exposed_simulated;
    ++range.rows;
  }
  const std::int64_t largest = ranges.empty() ? 0 : ranges.rbegin()->first.first;
  for (const auto& [key, range] : ranges) {
    const auto mean = [&, &of = range](double sum) { return sum / static_cast<double>(of.rows); };
    const bool is_judged = key.first == largest && key.second == kFaster.back();
    StudyLine line{
        .figure = {.of = published.find(is_judged ? "share.large" : "share"), .simulated = mean(range.sum)},
        .label = fmt::format("hidden {}, {}x compute", key.first, key.second)};
    line.rows = range.rows;
    line.beside = {{"least", range.least},
                   {"most", range.most},
                   {"gradients over backward", mean(range.overlapped)},
                   {"exposed alone", mean(range.alone)},
                   {"exposed simulated", mean(range.simulated)}};
    section.lines.push_back(std::move(line));
  }
  return section;
}

StudyReport PointsPart::sections(const PublishedFigures& published) const {
  return {projections(published), laws(published), communication(published)};
}

std::string PointsPart::rows_csv() const {
  std::string text =
      "hidden,sequence,batch,tensor_parallel,faster,simulated_ms,alone_ms,projected_ms,from_large_ms,"
      "serialized_share,"
      "overlapped_share,exposed_alone,exposed_simulated\n";
  for (const Row& row : rows_) {
    const LawPoint& at = row.point;
    text += fmt::format("{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.4f},{:.4f},{:.4f},{:.4f}\n", at.hidden,
                        at.sequence, at.batch, at.tensor_parallel, at.faster, row.simulated.value * 1e3,
                        row.alone.value * 1e3, row.projected.value * 1e3, row.from_large.value * 1e3,
                        row.shares.serialized_share(), row.shares.overlapped_share(), row.exposed_alone,
                        row.exposed_simulated);
  }
  return text;
}

}  // namespace c3::studies
