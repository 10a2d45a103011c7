#include "workloads/traces/replay/rank_figures.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace c3 { inline namespace traces {
namespace {

constexpr std::string_view kTime = "us";
constexpr std::string_view kCount = "1";
constexpr std::string_view kBytes = "B";
constexpr std::string_view kOperator = "operator ";
constexpr std::size_t kMostOperators = 20;

using Spans = std::vector<std::pair<Picoseconds, Picoseconds>>;

/// Time in at least one of \p spans.
Picoseconds covered(Spans spans) {
  std::ranges::sort(spans);
  Picoseconds sum;
  std::optional<Picoseconds> until;
  for (const auto& [start, end] : spans) {
    const Picoseconds from = until ? std::max(start, *until) : start;
    if (end > from) sum += end - from;
    until = until ? std::max(end, *until) : end;
  }
  return sum;
}

bool communicates(const PlacedWork& work) { return work.work == WorkClass::collective; }
bool is_kernel(const PlacedWork& work) {
  return !communicates(work) && work.work != WorkClass::copy && work.work != WorkClass::memset;
}

/// Writes figures of one of several steps.
class FigureWriter {
 public:
  explicit FigureWriter(double steps) : steps_(steps) {}

  void time(std::string name, Picoseconds value) { add(std::move(name), kTime, value.microseconds()); }
  void add(std::string name, std::string_view unit, double value) {
    figures_.push_back({std::move(name), unit, value / steps_});
  }
  std::vector<Figure> take() { return std::move(figures_); }

 private:
  double steps_;
  std::vector<Figure> figures_;
};

void add_spans(const RankTimeline& timeline, FigureWriter& figures) {
  Spans compute, communication, all, without_copies;
  for (const PlacedWork& work : timeline.work) {
    all.emplace_back(work.start, work.end);
    if (communicates(work)) communication.emplace_back(work.start, work.end);
    if (is_kernel(work)) compute.emplace_back(work.start, work.end);
    if (communicates(work) || is_kernel(work)) without_copies.emplace_back(work.start, work.end);
  }
  const Picoseconds busy = covered(all), computes = covered(compute);
  figures.time("step", timeline.length);
  figures.time("GPU busy", busy);
  figures.time("idle", std::max(timeline.length - busy, Picoseconds{}));
  figures.time("compute", computes);
  if (communication.empty()) return;
  figures.time("communication", covered(communication));
  figures.time("exposed communication", covered(without_copies) - computes);
}

void add_waiting(const RankTimeline& timeline, FigureWriter& figures) {
  Picoseconds waiting, transfer;
  bool any = false;
  for (const PlacedWork& work : timeline.work) {
    if (!communicates(work)) continue;
    if (!work.waiting) return;
    any = true;
    waiting += *work.waiting;
    transfer += work.end - work.start - *work.waiting;
  }
  if (!any) return;
  figures.time("waiting for late ranks", waiting);
  figures.time("transfer", transfer);
}

void add_classes(const RankTimeline& timeline, FigureWriter& figures) {
  std::array<Picoseconds, kWorkClassNames.size()> times{};
  std::array<std::size_t, kWorkClassNames.size()> counts{};
  double bytes = 0.0;
  for (const PlacedWork& work : timeline.work) {
    times.at(static_cast<std::size_t>(work.work)) += work.end - work.start;
    ++counts.at(static_cast<std::size_t>(work.work));
    bytes += static_cast<double>(work.bytes);
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (counts.at(i) > 0) figures.time(std::string(kWorkClassNames.at(i)), times.at(i));
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (counts.at(i) > 0)
      figures.add(fmt::format("{} count", kWorkClassNames.at(i)), kCount, static_cast<double>(counts.at(i)));
  }
  figures.add("work count", kCount, static_cast<double>(timeline.work.size()));
  if (bytes > 0.0) figures.add("collective bytes", kBytes, bytes);
}

const Figure* find(const std::vector<Figure>& figures, std::string_view name) {
  const auto found = std::ranges::find(figures, name, &Figure::name);
  return found == figures.end() ? nullptr : &*found;
}

std::optional<double> value_of(const std::vector<Figure>& figures, std::string_view name) {
  const Figure* const found = find(figures, name);
  return found == nullptr ? std::nullopt : std::optional(found->value);
}

/// Puts figures of the same name side by side, in the order in which they are first met.
class SideBySide {
 public:
  void add(const std::vector<Figure>& figures, std::optional<double> SimilarityRow::*column) {
    for (const Figure& figure : figures) {
      const auto [place, is_new] = places_.try_emplace(figure.name, rows_.size());
      if (is_new)
        rows_.push_back(
            {.figure = figure.name, .unit = figure.unit, .recorded = {}, .replayed = {}, .modelled = {}});
      rows_[place->second].*column = figure.value;
    }
  }

  /// All but operators, then the longest of them.
  std::vector<SimilarityRow> take() {
    const auto is_operator = [](const SimilarityRow& row) { return row.figure.starts_with(kOperator); };
    const auto operators = std::ranges::stable_partition(rows_, std::not_fn(is_operator));
    std::ranges::stable_sort(operators, std::ranges::greater{}, [](const SimilarityRow& row) {
      return row.recorded.value_or(row.replayed.value_or(row.modelled.value_or(0.0)));
    });
    if (operators.size() > kMostOperators) rows_.resize(rows_.size() - operators.size() + kMostOperators);
    return std::move(rows_);
  }

 private:
  std::vector<SimilarityRow> rows_;
  std::map<std::string, std::size_t> places_;
};

SimilarityRow bound(const char* name, double us) {
  return {.figure = name, .unit = kTime, .recorded = us, .replayed = {}, .modelled = {}};
}

}  // namespace

RunDates recorded_dates(const RecordedRun& run) {
  std::vector<Picoseconds> all_there(run.collectives.size());
  for (const RecordedRank& rank : run.ranks) {
    for (const RecordedWork& work : rank.work) {
      if (work.collective != kNoIndex)
        all_there[work.collective] = std::max(all_there[work.collective], work.start);
    }
  }
  RunDates dates;
  for (const RecordedRank& rank : run.ranks) {
    std::vector<WorkDates>& rank_dates = dates.emplace_back();
    rank_dates.reserve(rank.work.size());
    for (const RecordedWork& work : rank.work) {
      const Picoseconds from = work.collective == kNoIndex ? work.start : all_there[work.collective];
      rank_dates.push_back({work.start, from + work.duration});
    }
  }
  return dates;
}

RankTimeline timeline_of(const RecordedRun& run, std::size_t rank, const RunDates& dates, Picoseconds length,
                         bool knows_waiting) {
  const RecordedRank& recorded_rank = run.ranks[rank];
  std::vector<Picoseconds> all_there(run.collectives.size());
  for (std::size_t other = 0; other < run.ranks.size(); ++other) {
    for (std::size_t i = 0; i < run.ranks[other].work.size(); ++i) {
      const std::uint32_t collective = run.ranks[other].work[i].collective;
      if (collective != kNoIndex)
        all_there[collective] = std::max(all_there[collective], dates[other][i].start);
    }
  }
  RankTimeline timeline{.rank = recorded_rank.number,
                        .steps = static_cast<double>(std::max<std::size_t>(1, recorded_rank.steps.size())),
                        .length = length,
                        .work = {}};
  for (std::size_t i = 0; i < recorded_rank.work.size(); ++i) {
    const RecordedWork& work = recorded_rank.work[i];
    PlacedWork& placed = timeline.work.emplace_back();
    placed.name = run.text(work.name);
    placed.stream = run.streams[work.stream];
    placed.work = work.work_class;
    placed.start = dates[rank][i].start;
    placed.end = dates[rank][i].end;
    if (work.collective == kNoIndex) continue;
    placed.bytes = run.collectives[work.collective].bytes;
    if (knows_waiting) placed.waiting = all_there[work.collective] - placed.start;
  }
  return timeline;
}

void name_streams_by_use(RankTimeline& timeline) {
  struct Use {
    std::size_t all = 0, collectives = 0;
    std::optional<Picoseconds> first;
  };
  std::map<std::string, Use> uses;
  for (const PlacedWork& work : timeline.work) {
    Use& use = uses[work.stream];
    ++use.all;
    if (!communicates(work)) continue;
    ++use.collectives;
    use.first = std::min(use.first.value_or(work.start), work.start);
  }
  std::vector<std::pair<Picoseconds, std::string>> communication;
  for (const auto& [stream, use] : uses) {
    if (2 * use.collectives > use.all) communication.emplace_back(*use.first, stream);
  }
  std::ranges::sort(communication);
  std::map<std::string, std::string> names;
  for (std::size_t i = 0; i < communication.size(); ++i)
    names[communication[i].second] = communication.size() == 1 ? "comm" : fmt::format("comm{}", i);
  for (PlacedWork& work : timeline.work) {
    const auto named = names.find(work.stream);
    work.stream = named == names.end() ? "compute" : named->second;
  }
}

std::vector<Figure> figures_of(const RankTimeline& timeline) {
  FigureWriter figures(timeline.steps);
  add_spans(timeline, figures);
  add_waiting(timeline, figures);
  add_classes(timeline, figures);
  std::map<std::string, Spans> streams;
  std::map<std::string, Picoseconds> operators;
  for (const PlacedWork& work : timeline.work) {
    streams[work.stream].emplace_back(work.start, work.end);
    operators[work.name] += work.end - work.start;
  }
  for (const auto& [stream, spans] : streams)
    figures.time("stream " + stream, covered(spans));
  for (const auto& [name, time] : operators)
    figures.time(std::string(kOperator) + name, time);
  return figures.take();
}

std::optional<double> SimilarityRow::ratio() const {
  if (!recorded || !modelled || !(*recorded > 0.0)) return std::nullopt;
  return *modelled / *recorded;
}

RankSimilarity compare(const RankTimeline& recorded, const RankTimeline& replayed, const RankTimeline& modelled,
                       std::optional<Picoseconds> waiting_at_least) {
  const std::vector<Figure> of_recorded = figures_of(recorded), of_modelled = figures_of(modelled);
  SideBySide rows;
  rows.add(of_recorded, &SimilarityRow::recorded);
  rows.add(figures_of(replayed), &SimilarityRow::replayed);
  rows.add(of_modelled, &SimilarityRow::modelled);
  RankSimilarity similarity{.rank = recorded.rank, .rows = rows.take()};
  if (!waiting_at_least) return similarity;
  const double least = waiting_at_least->microseconds() / recorded.steps;
  const double most =
      value_of(of_recorded, "collective").value_or(0.0) - value_of(of_modelled, "collective").value_or(0.0);
  const auto behind = std::ranges::find(similarity.rows, "exposed communication", &SimilarityRow::figure);
  similarity.rows.insert(behind == similarity.rows.end() ? behind : behind + 1,
                         {bound("waiting for late ranks, at least", least),
                          bound("waiting for late ranks, at most", std::max(least, most))});
  return similarity;
}

}}  // namespace c3::traces
