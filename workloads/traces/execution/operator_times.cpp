#include "workloads/traces/execution/operator_times.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/statistics.hpp"
#include "workloads/traces/collective_matching.hpp"

namespace c3 { inline namespace traces {
namespace {

/// [nodes] place in the list; kNoIndex for those that are not listed.
std::vector<std::uint32_t> places_of_nodes(const ExecutionTrace& execution) {
  std::vector<std::uint32_t> places(execution.nodes.size(), kNoIndex);
  std::uint32_t place = 0;
  for (const GpuOperator& found : listed_nodes(execution))
    places[found.node] = place++;
  return places;
}

/// An operator of the list that began at some date.
struct Occurrence {
  std::uint32_t place = kNoIndex;
  Picoseconds start;
};

/// Sorted by time.
std::vector<Occurrence> occurrences_in(const Trace& kineto, const KinetoJoin& join,
                                       const std::vector<std::uint32_t>& places) {
  std::vector<Occurrence> found;
  for (std::uint32_t op = 0; op < join.node_of_op.size(); ++op) {
    const std::uint32_t node = join.node_of_op[op];
    if (node != kNoIndex && places[node] != kNoIndex) found.push_back({places[node], kineto.ops[op].start});
  }
  std::ranges::stable_sort(found, {}, &Occurrence::start);
  return found;
}

struct Span {
  Picoseconds start, end;
};

/// When the host waited for the GPU, by start.
std::vector<Span> waiting_spans(const Rank& rank) {
  std::map<std::uint32_t, Span> of_call;
  for (const HostWait& wait : rank.waits) {
    const TraceEvent& call = rank.trace.calls[wait.call];
    const Picoseconds until = std::min(call.end(), rank.trace.activities[wait.activity].end());
    if (until <= call.start) continue;
    Span& span = of_call.try_emplace(wait.call, call.start, call.start).first->second;
    span.end = std::max(span.end, until);
  }
  std::vector<Span> spans;
  spans.reserve(of_call.size());
  for (const auto& [call, span] : of_call)
    spans.push_back(span);
  std::ranges::stable_sort(spans, {}, &Span::start);
  return spans;
}

/// Times of all occurrences of one operator.
struct HostTimes {
  std::vector<Picoseconds> times;  ///< from what began before to it, without waiting
  std::int64_t waits = 0;          ///< how many of them waited

  std::int64_t count() const { return std::ssize(times); }
};

std::vector<HostTimes> host_times(std::size_t places, const Rank& rank,
                                  const std::vector<Occurrence>& occurrences) {
  std::vector<HostTimes> found(places);
  const std::vector<Span> waits = waiting_spans(rank);
  auto wait = waits.begin();
  auto step = rank.steps.begin();
  std::optional<Picoseconds> before;
  for (const Occurrence& occurrence : occurrences) {
    while (step != rank.steps.end() && step->start <= occurrence.start) {
      before = before ? std::max(*before, step->start) : step->start;
      ++step;
    }
    HostTimes& operator_times = found[occurrence.place];
    const Picoseconds from = before.value_or(occurrence.start);
    Picoseconds waited;
    for (; wait != waits.end() && wait->start < occurrence.start; ++wait) {
      const Picoseconds end = std::min(wait->end, occurrence.start);
      if (end > std::max(wait->start, from)) waited += end - std::max(wait->start, from);
    }
    operator_times.times.push_back(std::max(occurrence.start - from - waited, Picoseconds{}));
    operator_times.waits += waited.count > 0 ? 1 : 0;
    before = occurrence.start;
  }
  return found;
}

/// The median of how often operators occur, at least 1.
std::int64_t median_count(const std::vector<HostTimes>& found) {
  std::vector<std::int64_t> counts;
  for (const HostTimes& operator_times : found) {
    if (operator_times.count() > 0) counts.push_back(operator_times.count());
  }
  return counts.empty() ? 1 : lower_median(std::move(counts));
}

}  // namespace

std::vector<std::uint32_t> launching_places(const ExecutionTrace& execution, const Rank& kineto,
                                            const KinetoJoin& join) {
  const std::vector<std::uint32_t> places = places_of_nodes(execution);
  // The listed operator that an operator of Kineto is, or that is around it.
  const auto place_of = [&](std::uint32_t op) {
    while (op != kNoIndex && join.node_of_op[op] == kNoIndex)
      op = kineto.join.parent_op[op];
    if (op == kNoIndex) return kNoIndex;
    std::uint32_t node = join.node_of_op[op];
    while (node != kNoIndex && places[node] == kNoIndex)
      node = execution.parents[node];
    return node == kNoIndex ? kNoIndex : places[node];
  };
  std::vector<std::uint32_t> found;
  found.reserve(kineto.trace.activities.size());
  for (const std::uint32_t op : kineto.join.op_of)
    found.push_back(op == kNoIndex ? kNoIndex : place_of(op));
  return found;
}

OperatorCoverage add_times(RankOperators& list, const ExecutionTrace& execution, const Rank& kineto,
                           const KinetoJoin& join) {
  struct Launched {
    Picoseconds time;
    std::int64_t count = 0;
  };
  const Trace& trace = kineto.trace;
  const std::vector<std::uint32_t> places = launching_places(execution, kineto, join);
  std::vector<Launched> launched(list.operators.size());
  OperatorCoverage coverage;
  std::map<std::string, NodeCount> rest;
  for (std::uint32_t i = 0; i < trace.activities.size(); ++i) {
    const Picoseconds duration = trace.activities[i].duration;
    ++coverage.activities;
    coverage.time += duration;
    if (places[i] == kNoIndex) {
      NodeCount& count = rest[trace.name_of(trace.activities[i])];
      ++count.count;
      count.time += duration;
      continue;
    }
    ++coverage.covered;
    coverage.covered_time += duration;
    launched[places[i]].time += duration;
    ++launched[places[i]].count;
  }
  const std::vector<HostTimes> found =
      host_times(list.operators.size(), kineto, occurrences_in(trace, join, places_of_nodes(execution)));
  coverage.repetitions = median_count(found);
  for (std::size_t place = 0; place < found.size(); ++place) {
    const std::int64_t count = found[place].count();
    if (count == 0) continue;
    ListedOperator& listed = list.operators[place];
    listed.gpu_time = Picoseconds{launched[place].time.count / count};
    listed.kernels = (launched[place].count + count / 2) / count;
    listed.host_time = lower_median(found[place].times);
    listed.after_wait = 2 * found[place].waits > count;
  }
  for (auto& [name, count] : rest) {
    count.name = name;
    coverage.rest.push_back(std::move(count));
  }
  std::ranges::stable_sort(coverage.rest, std::ranges::greater{}, &NodeCount::time);
  return coverage;
}

void add_starts(OperatorList& list, const std::vector<Rank>& ranks, const std::vector<std::size_t>& rank_of) {
  const std::vector<Picoseconds> shifts = align_clocks(ranks, match_collectives(ranks)).shifts;
  std::size_t steps = ranks.front().steps.size();
  for (const Rank& rank : ranks)
    steps = std::min(steps, rank.steps.size());
  if (steps == 0) return;
  std::vector<Picoseconds> late(ranks.size());  // sums over steps
  for (std::size_t step = 0; step < steps; ++step) {
    std::optional<Picoseconds> first;
    const auto start = [&](std::size_t rank) { return ranks[rank].steps[step].start + shifts[rank]; };
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      first = std::min(first.value_or(start(rank)), start(rank));
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      late[rank] += start(rank) - *first;
  }
  for (std::size_t i = 0; i < list.ranks.size(); ++i) {
    std::vector<ListedOperator>& operators = list.ranks[i].operators;
    if (operators.empty()) continue;
    const Picoseconds mean{late[rank_of[i]].count / static_cast<std::int64_t>(steps)};
    operators.front().host_time = operators.front().host_time.value_or(Picoseconds{}) + mean;
  }
}

}}  // namespace c3::traces
