#include "workloads/traces/execution/rank_match.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "workloads/traces/execution/group_ranks.hpp"
#include "workloads/traces/file_rank.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3 { inline namespace traces {
namespace {

/// The only one of \p kinetos for which \p is_it is true.
template <class Predicate>
std::uint32_t only(const std::vector<Trace>& kinetos, Predicate is_it) {
  const auto first = std::ranges::find_if(kinetos, is_it);
  if (first == kinetos.end()) return kNoIndex;
  if (std::find_if(std::next(first), kinetos.end(), is_it) != kinetos.end()) return kNoIndex;
  return static_cast<std::uint32_t>(first - kinetos.begin());
}

std::uint32_t match_of(const ExecutionTrace& execution, const std::vector<Trace>& kinetos) {
  const bool all_have_ranks =
      std::ranges::all_of(kinetos, [](const Trace& trace) { return trace.rank.has_value(); });
  if (execution.rank && all_have_ranks)
    return only(kinetos, [&](const Trace& trace) { return trace.rank == execution.rank; });
  const std::uint32_t by_process = only(kinetos, [&](const Trace& trace) {
    return std::ranges::any_of(trace.threads, [&](const TraceThread& thread) {
      return !execution.process.empty() && thread.process == execution.process;
    });
  });
  if (by_process != kNoIndex) return by_process;
  const std::optional<int> rank = rank_of(execution);
  const auto rank_of_kineto = [](const Trace& trace) {
    return trace.rank ? trace.rank : rank_in_name(trace.file);
  };
  if (kinetos.size() == 1 && (!rank || !rank_of_kineto(kinetos.front()))) return 0;
  if (!rank) return kNoIndex;
  return only(kinetos, [&](const Trace& trace) { return rank_of_kineto(trace) == rank; });
}

}  // namespace

std::optional<int> rank_of(const ExecutionTrace& trace) {
  if (trace.rank) return trace.rank;
  if (const std::optional<int> rank = rank_in_name(trace.file)) return rank;
  return rank_in_largest_group(trace);
}

std::vector<std::uint32_t> match_ranks(const std::vector<Trace>& kinetos,
                                       const std::vector<ExecutionTrace>& executions) {
  std::vector<std::uint32_t> matches;
  for (const ExecutionTrace& execution : executions) {
    const std::uint32_t match = match_of(execution, kinetos);
    const auto twice = match == kNoIndex ? matches.end() : std::ranges::find(matches, match);
    if (twice != matches.end()) {
      const ExecutionTrace& other = executions[static_cast<std::size_t>(twice - matches.begin())];
      throw TraceSetError({.file = execution.file, .rank = kinetos[match].rank, .event = {}},
                          fmt::format("{} is the execution trace of this rank as well", other.file));
    }
    matches.push_back(match);
  }
  return matches;
}

}}  // namespace c3::traces
