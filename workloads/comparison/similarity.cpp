#include "workloads/comparison/similarity.hpp"

#include <algorithm>
#include <optional>

#include "workloads/comparison/simulated_dates.hpp"
#include "workloads/traces/replay/record_run.hpp"
#include "workloads/traces/replay/replay_model.hpp"

namespace c3 { inline namespace traces {
namespace {

/// Of the steps of a rank, or of its GPU work where the trace has no steps.
Picoseconds length_of(const RecordedRank& rank) {
  if (!rank.steps.empty() || rank.work.empty()) return rank.length();
  const auto [first, last] = std::ranges::minmax_element(rank.work, {}, &RecordedWork::start);
  return last->start + last->duration - first->start;
}

/// When the first rank begins its first step; when the first work starts without steps.
Picoseconds begin_of(const RecordedRun& run) {
  std::optional<Picoseconds> first;
  const auto consider = [&](Picoseconds date) { first = std::min(first.value_or(date), date); };
  for (const RecordedRank& rank : run.ranks) {
    if (!rank.steps.empty()) {
      consider(rank.points[rank.steps.front().begin].date);
    } else if (!rank.work.empty()) {
      consider(std::ranges::min(rank.work, {}, &RecordedWork::start).start);
    }
  }
  return first.value_or(Picoseconds{});
}

/// A benchmark has no marks of steps: its length is to the end of a rank's work.
Picoseconds length_to_end(const std::vector<WorkDates>& dates, Picoseconds begin) {
  if (dates.empty()) return {};
  return std::ranges::max(dates, {}, &WorkDates::end).end - begin;
}

/// Whether the dates of all members of each collective are there.
bool knows_waiting(const RecordedRun& run) {
  return !run.is_of_one_rank() && std::ranges::all_of(run.collectives, [](const RecordedCollective& its) {
    return its.group_size <= std::ssize(its.members);
  });
}

}  // namespace

RecordedRun named_by_list(const std::vector<Rank>& ranks, std::span<const ListedRank> listed,
                          const OperatorList& list) {
  RecordedRun run = record_run(ranks);
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const std::vector<std::uint32_t> places =
        launching_places(*listed[i].execution, ranks[listed[i].rank], *listed[i].join);
    std::vector<RecordedWork>& work = run.ranks[listed[i].rank].work;
    for (std::size_t row = 0; row < work.size(); ++row) {
      if (places[row] == kNoIndex) continue;
      const ListedOperator& its = list.ranks[i].operators[places[row]];
      const bool has_kind = its.collective && !its.collective->kind.empty();
      run.names.push_back(has_kind ? its.collective->kind : its.name);
      work[row].name = static_cast<TextRow>(run.names.size() - 1);
    }
  }
  return run;
}

std::vector<RankSimilarity> similarities(const Compared& compared) {
  const RecordedRun& recording = compared.recording;
  const RecordedRun& run = compared.run;
  const RunDates dates = recorded_dates(recording);
  const SimulatedDates replayed = simulate(run, compared.with_recorded);
  const SimulatedDates modelled = simulate(run, compared.with_modelled);
  const AloneCollectives alone = alone_collectives(recording);
  const std::optional<Picoseconds> waiting =
      alone.count > 0 ? std::optional(alone.waiting_at_least) : std::nullopt;
  std::vector<RankSimilarity> found;
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    const auto its = std::ranges::find(recording.ranks, run.ranks[i].number, &RecordedRank::number);
    const auto row = static_cast<std::size_t>(its - recording.ranks.begin());
    const bool is_listed = !compared.listed.empty();
    const Picoseconds length = is_listed ? length_to_end(dates[row], begin_of(recording)) : length_of(*its);
    RankTimeline of_trace = timeline_of(recording, row, dates, length, knows_waiting(recording));
    if (is_listed) {
      name_streams_by_use(of_trace);
      of_trace.steps = static_cast<double>(compared.listed[i].repetitions);
    }
    found.push_back(compare(of_trace,
                            timeline_of(run, i, replayed.work, replayed.lengths[i], knows_waiting(run)),
                            timeline_of(run, i, modelled.work, modelled.lengths[i], true), waiting));
  }
  return found;
}

}}  // namespace c3::traces
