// Models on faster and faster GPUs: projected, scheduled with operators alone, and simulated.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "studies/checked_row.hpp"
#include "studies/scaling_laws/parts.hpp"
#include "workloads/analysis/steady_state.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kWhat = "of a model of the study";
constexpr std::int64_t kLargest = 1 << 20;
constexpr double kPercent = 100.0;
constexpr std::array kFaster = {1, 2, 4};
constexpr std::array<std::string_view, 3> kNeeds = {"0", "1", "2"};
constexpr std::int64_t kHead = 128, kMostRanks = 128;  // two replicas are a node's 256 GPUs
/// Rules by which operators are projected, and how lines call what follows them.
struct RuleOfStep {
  const char* rule;
  const char* id;
  const char* label;
};
constexpr std::array<RuleOfStep, 3> kRules = {
    {{"gemm", "projection.products", "its products, against those alone"},
     {"bytes", "projection.vectors", "its other kernels"},
     {"collective", "projection.collectives", "its collectives"}}};
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

/// Of the operators that follow \p rule.
double sum_of(const ProjectedStep& step, std::string_view rule) {
  double sum = 0.0;
  for (const TimedOperatorOfStep& its : step.operators)
    if (its.what.rule == rule) sum += its.time.value;
  return sum;
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
    LawPoint point{.hidden = row.whole("hidden", kLargest),
                   .sequence = row.whole("sequence", kLargest),
                   .batch = row.whole("batch", kLargest),
                   .tensor_parallel = row.whole("tensor_parallel", kMostRanks)};
    if (point.hidden % kHead != 0)
      row.fail("hidden", fmt::format("must be a multiple of {}, the width of a head", kHead));
    if (point.hidden / kHead % point.tensor_parallel != 0)
      row.fail("tensor_parallel", fmt::format("must divide the {} heads", point.hidden / kHead));
    const auto need = static_cast<Need>(row.one_of("needed", kNeeds));
    for (const int faster : kFaster) {
      point.faster = faster;
      rows_.push_back({.point = point,
                       .need = need,
                       .simulated = {},
                       .alone = {},
                       .projected = {},
                       .from_large = {},
                       .shares = {},
                       .off = {},
                       .errors = {}});
    }
  }
}

std::vector<double> PointsPart::values_of(const LawPoint& point) {
  const Experiment step = experiment_of(point);
  const RunResult run = run_step(step, step.strategies.front(), {});
  const ProjectedStep own = alone(step);
  const LawShares shares = shares_of(own);
  const LawDeviations off = deviations_of(point, step);
  const ProjectedStep projected = bert().project(step);
  std::vector<double> values = {run.time.value,
                                own.schedule.time.value,
                                projected.schedule.time.value,
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
  for (const RuleOfStep& each : kRules)
    values.push_back(sum_of(projected, each.rule) / sum_of(own, each.rule) - 1.0);
  return values;
}

void PointsPart::take(Row& row, const std::vector<double>& values) {
  auto next = values.begin();
  for (Seconds* time : {&row.simulated, &row.alone, &row.projected, &row.from_large, &row.shares.compute,
                        &row.shares.backward, &row.shares.serialized, &row.shares.gradients})
    *time = Seconds{*next++};
  for (double* number : {&row.exposed_alone, &row.exposed_simulated, &row.off.edge, &row.off.slack,
                         &row.off.buckets, &row.operators})
    *number = *next++;
  row.errors.assign(next, values.end());
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
  for (std::size_t rule = 0; rule < kRules.size(); ++rule) {
    MeanError of_rule;
    for (const Row& row : rows_)
      of_rule.add(row.errors.at(rule), rows_.size());
    add(kRules.at(rule).id, kRules.at(rule).label, of_rule);
  }
  add("projection.interference", "simulated, against operators alone", interference);
  const auto ratio = [&](const char* id, const char* label, double value) {
    section.lines.push_back({.figure = {.of = published.find(id), .simulated = value}, .label = label});
  };
  ratio("cost", "time of all steps over that of the profiled one [1]", all / baseline_);
  ratio("cost.operators", "operators of all steps over those profiled [1]", operators / profiled_);
  return section;
}

namespace {

/// Pairs of rows of which \p is_next says that the second follows the first, and has a smaller share.
template <class Rows, class Next>
double falling_pairs(const Rows& rows, const Next& is_next) {
  constexpr double kRounding = 1e-9;
  double pairs = 0.0;
  for (const auto& one : rows) {
    for (const auto& other : rows) {
      if (is_next(one, other) && other.shares.serialized_share() < one.shares.serialized_share() - kRounding)
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
  const auto hidden = [](const Row& one, const Row& other) {
    LawPoint alike = one.point;
    alike.hidden = other.point.hidden;
    alike.tensor_parallel = other.point.tensor_parallel;
    const bool are_needed = one.need == Need::required && other.need == Need::required;
    return are_needed && alike == other.point && one.point.hidden < other.point.hidden;
  };
  const auto compute = [](const Row& one, const Row& other) {
    LawPoint alike = one.point;
    alike.faster = other.point.faster;
    return alike == other.point && one.point.faster < other.point.faster;
  };
  const auto add = [&](const char* id, const char* label, double value) {
    StudyLine line{.figure = {.of = published.find(id), .simulated = value}, .label = label};
    line.rows = rows_.size();
    section.lines.push_back(std::move(line));
  };
  add("edge", "edge: 3 (6 H + SL) / (t p)", edge);
  add("slack", "slack: 4 T / p", slack);
  add("slack.buckets", "gradients reduced beyond products' weights [%]", buckets);
  add("trend.hidden", "share falls with hidden, at the degree that memory requires, pairs",
      falling_pairs(rows_, hidden));
  add("trend.compute", "share falls with compute, pairs", falling_pairs(rows_, compute));
  return section;
}

/// Of several points, in percent.
struct PointsPart::Range {
  double least = 100.0, most = 0.0, sum = 0.0, overlapped = 0.0, alone = 0.0, simulated = 0.0;
  std::size_t rows = 0;

  void add(const Row& row) {
    const double share = kPercent * row.shares.serialized_share();
    least = std::min(least, share);
    most = std::max(most, share);
    sum += share;
    overlapped += kPercent * row.shares.overlapped_share();
    alone += kPercent * row.exposed_alone;
    simulated += kPercent * row.exposed_simulated;
    ++rows;
  }
  double mean(double of) const { return of / static_cast<double>(rows); }
};

StudySection PointsPart::communication(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Communication of steps, by hidden and compute",
      .lines = {},
      .notes = {"serialised share of passes, operators alone, over all lengths, batches and degrees; "
                "exposed: share of the whole step, alone and simulated."},
      .value = "mean"};
  std::int64_t largest = 0;
  for (const Row& row : rows_)
    largest = std::max(largest, row.point.hidden);
  std::map<std::pair<std::int64_t, int>, Range> ranges;
  Range judged;
  for (const Row& row : rows_) {
    Range& range = ranges[{row.point.hidden, row.point.faster}];
    range.add(row);
    if (row.point.hidden == largest && row.need != Need::none && row.point.faster == kFaster.back())
      judged.add(row);
  }
  const auto add = [&](const char* id, std::string label, const Range& of) {
    if (of.rows == 0) return;
    StudyLine line{.figure = {.of = published.find(id), .simulated = of.mean(of.sum)},
                   .label = std::move(label)};
    line.rows = of.rows;
    line.beside = {{"least", of.least},
                   {"most", of.most},
                   {"gradients over backward", of.mean(of.overlapped)},
                   {"exposed alone", of.mean(of.alone)},
                   {"exposed simulated", of.mean(of.simulated)}};
    section.lines.push_back(std::move(line));
  };
  for (const auto& [key, range] : ranges)
    add("share", fmt::format("hidden {}, {}x compute", key.first, key.second), range);
  add("share.large",
      fmt::format("hidden {}, {}x compute, degree that memory requires", largest, kFaster.back()), judged);
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

}}  // namespace c3::studies
