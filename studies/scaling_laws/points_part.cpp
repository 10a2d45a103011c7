// Models on faster and faster GPUs: projected, scheduled with operators alone, and simulated.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/percent.hpp"
#include "studies/checked_row.hpp"
#include "studies/scaling_laws/parts.hpp"
#include "workloads/analysis/projection.hpp"
#include "workloads/analysis/steady_state.hpp"

namespace c3 { inline namespace studies {
namespace {

using Row = PointsPart::Row;
using Rows = std::vector<Row>;
using enum LawNumber;

constexpr std::string_view kWhat = "of a model of the study";
constexpr std::int64_t kLargest = 1 << 20;
constexpr std::array kFaster = {1, 2, 4};
constexpr std::array<std::string_view, 3> kNeeds = {"0", "1", "2"};
constexpr std::int64_t kHead = 128, kMostRanks = 128;  // two replicas are a node's 256 GPUs
/// The rules by which operators are projected.
constexpr std::array kRules = {"gemm", "bytes", "collective"};
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

template <class Is>
double sum_of(const ProjectedStep& step, Is is) {
  double sum = 0.0;
  for (const TimedOperatorOfStep& timed : step.operators)
    if (is(timed.what)) sum += timed.time.value;
  return sum;
}

// Gradients are summed over the replicas, all else over ranks that share weights.
bool is_gradients(const ProfiledOperator& op) { return op.is_collective() && op.name.starts_with("bucket"); }
bool is_serialized(const ProfiledOperator& op) { return op.is_collective() && !is_gradients(op); }
bool is_of_passes(const ProfiledOperator& op) { return !op.is_collective() && op.range != "optimizer"; }
bool is_backward(const ProfiledOperator& op) { return is_of_passes(op) && op.range.starts_with("backward"); }

/// Numbers in the order of LawNumber.
std::vector<double> numbers_of(const LawPoint& point) {
  const Experiment step = experiment_of(point);
  const RunResult run = run_step(step, step.strategies.front(), {});
  const ProjectedStep own = alone(step), from_bert = bert().project(step);
  const LawDeviations off = deviations_of(point, step);
  const double serial = sum_of(own, is_serialized);
  std::vector<double> numbers = {run.time.value,
                                 own.schedule.time.value,
                                 from_bert.schedule.time.value,
                                 large().project(step).schedule.time.value,
                                 serial / (sum_of(own, is_of_passes) + serial),
                                 sum_of(own, is_gradients) / sum_of(own, is_backward),
                                 own.schedule.times.exposed / own.schedule.time,
                                 run.classes.front().times.exposed / run.time,
                                 off.edge,
                                 off.slack,
                                 off.buckets,
                                 static_cast<double>(own.operators.size())};
  for (const std::string_view rule : kRules) {
    const auto follows = [rule](const ProfiledOperator& op) { return op.rule == rule; };
    numbers.push_back(sum_of(from_bert, follows) / sum_of(own, follows) - 1.0);
  }
  return numbers;
}

template <class Number>
double sum_over(const Rows& rows, Number number) {
  double sum = 0.0;
  for (const Row& row : rows)
    sum += number(row);
  return sum;
}
template <class Number>
double most_over(const Rows& rows, Number number) {
  double most = 0.0;
  for (const Row& row : rows)
    most = std::max(most, number(row));
  return most;
}

StudyLine line_of(const Rows& rows, PublishedFigure reference, const char* label, double value) {
  return {
      .figure = {.reference = std::move(reference), .simulated = value}, .label = label, .rows = rows.size()};
}

/// Mean over rows, in percent, of the magnitude of the relative \p difference, and the difference itself.
template <class Difference>
StudyLine error_line(const Rows& rows, PublishedFigure figure, const char* label, Difference difference) {
  const auto count = static_cast<double>(rows.size());
  const auto magnitude = [&](const Row& row) { return kPercent * std::abs(difference(row)); };
  StudyLine line = line_of(rows, std::move(figure), label,
                           sum_over(rows, [&](const Row& row) { return magnitude(row) / count; }));
  line.beside = {{"signed", sum_over(rows, [&](const Row& row) { return kPercent * difference(row) / count; })},
                 {"most", most_over(rows, magnitude)}};
  return line;
}

/// Pairs of rows of which \p is_next says that the second follows the first, and has a smaller share.
template <class Next>
double falling_pairs(const Rows& rows, Next is_next) {
  constexpr double kRounding = 1e-9;
  return sum_over(rows, [&](const Row& one) {
    return sum_over(rows, [&](const Row& other) {
      return is_next(one, other) && other[serialized] < one[serialized] - kRounding ? 1.0 : 0.0;
    });
  });
}

/// \p rows' communication, in percent.
StudyLine share_line(const Rows& rows, PublishedFigure reference, const std::string& label) {
  const auto mean = [&](LawNumber number) {
    return sum_over(rows, [number](const Row& row) { return kPercent * row[number]; }) /
           static_cast<double>(rows.size());
  };
  const auto [least, most] = std::ranges::minmax(rows, {}, [](const Row& row) { return row[serialized]; });
  StudyLine line = line_of(rows, std::move(reference), label.c_str(), mean(serialized));
  line.beside = {{"least", kPercent * least[serialized]},
                 {"most", kPercent * most[serialized]},
                 {"gradients over backward", mean(overlapped)},
                 {"exposed alone", mean(exposed_alone)},
                 {"exposed simulated", mean(exposed_simulated)}};
  return line;
}

}  // namespace

PointsPart::PointsPart(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& table_row : table.rows()) {
    const CheckedRow row(table, table_row, kWhat);
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
      rows_.push_back({.point = point, .need = need});
    }
  }
}

void PointsPart::plan(SimulationJobs& jobs) {
  for (Row& row : rows_) {
    jobs.push_back(
        {.run = [&row] { return SimulatedTime{.values = numbers_of(row.point)}; },
         .take = [&row](const SimulatedTime& found) { std::ranges::copy(found.values, row.numbers.begin()); }});
  }
  jobs.push_back(
      {.run =
           [] {
             const ProjectedStep step = alone(experiment_of(kBert));
             return SimulatedTime{.values = {step.schedule.time.value, static_cast<double>(step.profiled)}};
           },
       .take =
           [this](const SimulatedTime& found) {
             baseline_ = found.values.at(0);
             profiled_ = found.values.at(1);
           }});
}

StudySection PointsPart::projections(const PublishedFigures& published) const {
  const auto error = [&](const char* id, const char* label, auto difference) {
    return error_line(rows_, published.find(id), label, difference);
  };
  const auto ratio = [](LawNumber over, LawNumber under) {
    return [=](const Row& row) { return row[over] / row[under] - 1.0; };
  };
  const auto number = [](LawNumber law_number) {
    return [law_number](const Row& row) { return row[law_number]; };
  };
  StudySection section{
      .heading = "Projected steps against simulated ones: mean error",
      .lines = {error("projection.bert", "projected from BERT's layer", ratio(projected, simulated)),
                error("projection.large", "projected from a layer of hidden 8192",
                      ratio(from_large, simulated)),
                error("projection.alone", "projected, against operators alone", ratio(projected, by_operators)),
                error("projection.products", "its products, against those alone", number(products)),
                error("projection.vectors", "its other kernels", number(vectors)),
                error("projection.collectives", "its collectives", number(collectives)),
                error("projection.interference", "simulated, against operators alone",
                      ratio(simulated, by_operators))},
      .notes = {
          "projected: from one profiled step, by flops, bytes and peak rates. alone: operators of the step "
          "itself, each timed alone, in the same schedule."}};
  const auto cost = [&](const char* id, const char* label, double value) {
    section.lines.push_back({.figure = {.reference = published.find(id), .simulated = value}, .label = label});
  };
  cost("cost", "time of all steps over that of the profiled one [1]",
       sum_over(rows_, number(simulated)) / baseline_);
  cost("cost.operators", "operators of all steps over those profiled [1]",
       sum_over(rows_, number(operators)) / profiled_);
  return section;
}

StudySection PointsPart::laws(const PublishedFigures& published) const {
  StudySection section{.heading = "Closed forms and trends",
                       .lines = {},
                       .notes = {"Greatest relative deviation; pairs of points against the trend."},
                       .value = "here",
                       .decimals = 12};
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
  const auto most = [&](LawNumber number, double scale) {
    return most_over(rows_, [=](const Row& row) { return scale * row[number]; });
  };
  const auto add = [&](const char* id, const char* label, double value) {
    section.lines.push_back(line_of(rows_, published.find(id), label, value));
  };
  add("edge", "edge: 3 (6 H + SL) / (t p)", most(edge, 1.0));
  add("slack", "slack: 4 T / p", most(slack, 1.0));
  add("slack.buckets", "gradients reduced beyond products' weights [%]", most(buckets, kPercent));
  add("trend.hidden", "share falls with hidden, at the degree that memory requires, pairs",
      falling_pairs(rows_, hidden));
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
  const auto hidden_of = [](const Row& row) { return row.point.hidden; };
  const std::int64_t largest = rows_.empty() ? 0 : std::ranges::max(rows_, {}, hidden_of).point.hidden;
  std::map<std::pair<std::int64_t, int>, Rows> groups;
  Rows judged;
  for (const Row& row : rows_) {
    groups[{row.point.hidden, row.point.faster}].push_back(row);
    if (row.point.hidden == largest && row.need != Need::none && row.point.faster == kFaster.back())
      judged.push_back(row);
  }
  for (const auto& [key, rows] : groups)
    section.lines.push_back(share_line(rows, published.find("share"),
                                       fmt::format("hidden {}, {}x compute", key.first, key.second)));
  if (!judged.empty())
    section.lines.push_back(share_line(
        judged, published.find("share.large"),
        fmt::format("hidden {}, {}x compute, degree that memory requires", largest, kFaster.back())));
  return section;
}

StudyReport PointsPart::sections(const PublishedFigures& published) const {
  return {projections(published), laws(published), communication(published)};
}

std::string PointsPart::rows_csv() const {
  std::string text =
      "hidden,sequence,batch,tensor_parallel,faster,simulated_ms,alone_ms,projected_ms,from_large_ms,"
      "serialized_share,overlapped_share,exposed_alone,exposed_simulated\n";
  for (const Row& row : rows_) {
    const LawPoint& at = row.point;
    text += fmt::format("{},{},{},{},{}", at.hidden, at.sequence, at.batch, at.tensor_parallel, at.faster);
    for (const LawNumber time : {simulated, by_operators, projected, from_large})
      text += fmt::format(",{:.6g}", row[time] * 1e3);
    for (const LawNumber share : {serialized, overlapped, exposed_alone, exposed_simulated})
      text += fmt::format(",{:.4f}", row[share]);
    text += '\n';
  }
  return text;
}

}}  // namespace c3::studies
