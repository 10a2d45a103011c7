#include "app/import/operator_list_output.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/usage_error.hpp"
#include "files/temporary_file.hpp"
#include "workloads/traces/execution/operator_list_changes.hpp"
#include "workloads/traces/execution/operator_list_file.hpp"

namespace c3 { inline namespace app {
namespace {

std::string coverage_note(int rank, const OperatorCoverage& coverage) {
  const auto percent = [](auto part, auto whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  std::string note =
      fmt::format("rank {}: listed operators launched {:.2f} % of the GPU work by count, {:.2f} % by time",
                  rank, percent(coverage.covered, coverage.activities),
                  percent(coverage.covered_time.count, coverage.time.count));
  constexpr std::size_t kMost = 3;
  for (std::size_t i = 0; i < std::min(kMost, coverage.rest.size()); ++i) {
    const NodeCount& rest = coverage.rest[i];
    note += fmt::format("{} {} of {} ({:.3f} ms)", i == 0 ? "; the rest is" : ",", rest.count,
                        rest.name.substr(0, 60), rest.time.milliseconds());
  }
  if (coverage.rest.size() > kMost) note += fmt::format(" and {} other names", coverage.rest.size() - kMost);
  return note;
}

/// With the times of the Kineto traces.
MadeList from_joined(const TraceFiles& files) {
  MadeList made;
  std::vector<std::size_t> rank_of;
  for (const JoinedRank& joined : files.joined) {
    rank_of.push_back(joined.rank);
    const Rank& kineto = files.ranks[joined.rank];
    RankOperators& rank = made.list.ranks.emplace_back(list_operators(joined.execution, kineto.number()));
    made.coverage.push_back({rank.rank, add_times(rank, joined.execution, kineto, joined.join)});
  }
  add_starts(made.list, files.ranks, rank_of);
  return made;
}

MadeList from_lists(const std::vector<OperatorListFile>& lists) {
  MadeList made{.list = lists.front().list, .coverage = {}};
  for (std::size_t i = 1; i < lists.size(); ++i)
    made.list = concatenated(std::move(made.list), lists[i].list);
  return made;
}

MadeList list_of(const TraceFiles& files) {
  if (!files.lists.empty()) return from_lists(files.lists);
  if (!files.joined.empty()) return from_joined(files);
  MadeList made;
  for (const ExecutionTrace& trace : files.executions)
    made.list.ranks.push_back(list_operators(trace, trace.rank.value_or(0)));
  if (made.list.ranks.empty())
    throw UsageError(
        "--operators and --benchmark require PyTorch execution traces or operator lists; there are none");
  return made;
}

/// Before a list becomes longer than memory is.
void refuse_too_long(const OperatorList& list, const OperatorListOptions& options) {
  const double operators = operators_of(list, options.ranks, options.repeat);
  if (operators > kMostListed)
    throw UsageError(fmt::format(
        "--scale-to and --repeat make a list of {:.0f} million operators; at most {:.0f} are written",
        operators * 1e-6, kMostListed * 1e-6));
}

OperatorList changed(OperatorList list, const OperatorListOptions& options) {
  for (const std::string& name : options.drop) {
    const auto* const work = std::ranges::find(kWorkClassNames, name);
    list = dropped(std::move(list), static_cast<WorkClass>(work - kWorkClassNames.begin()));
  }
  refuse_too_long(list, options);
  if (options.ranks > 0) list = scaled(list, options.ranks);
  if (options.repeat > 1) list = repeated(list, options.repeat);
  return options.obfuscate ? obfuscated(std::move(list)) : list;
}

}  // namespace

MadeList make_operator_list(const TraceFiles& files, const OperatorListOptions& options) {
  MadeList made = list_of(files);
  made.list = changed(std::move(made.list), options);
  return made;
}

std::vector<std::string> coverage_notes(const MadeList& made) {
  std::vector<std::string> notes;
  notes.reserve(made.coverage.size());
  for (const RankCoverage& rank_coverage : made.coverage)
    notes.push_back(coverage_note(rank_coverage.rank, rank_coverage.coverage));
  return notes;
}

void write_operator_list(const std::string& file, const OperatorList& list) {
  TemporaryFile written(file);
  written.append(operator_list_text(list));
  written.rename_to_target();
}

}}  // namespace c3::app
