#include "workloads/traces/make_report.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "workloads/traces/collective_summary.hpp"
#include "workloads/traces/rank_set.hpp"
#include "workloads/traces/rank_summary.hpp"
#include "workloads/traces/replayed_dates.hpp"

namespace c3 { inline namespace traces {
namespace {

LagScales scales(std::initializer_list<LagKind> kinds, Ratio ratio) {
  LagScales all;
  for (const LagKind kind : kinds)
    all[static_cast<std::size_t>(kind)] = ratio;
  return all;
}

BoundRow bound(const std::string& change, const RunGraph& run, const std::vector<Picoseconds>& dates) {
  BoundRow row{.change = change, .step = {}, .gpu = {}};
  for (const RankPoints& rank : run.ranks) {
    row.step = std::max(row.step, step_length(rank, dates));
    row.gpu = std::max(row.gpu, gpu_length(rank, dates));
  }
  return row;
}

void add_bounds(const std::vector<Rank>& ranks, const RunGraph& run, ImportReport& report) {
  constexpr Ratio kHalf{.numerator = 1, .denominator = 2};
  constexpr Ratio kFiftieth{.numerator = 1, .denominator = 50};
  constexpr Ratio kNothing{.numerator = 0, .denominator = 1};
  const auto add = [&](const std::string& change, const LagScales& by) {
    report.bounds.push_back(bound(change, run, replayed_dates(ranks, run, by)));
  };
  add("as recorded", {});
  add("GPU times halved", scales({LagKind::gpu, LagKind::collective}, kHalf));
  add("host times x 0.02", scales({LagKind::host}, kFiftieth));
  if (report.collective_kernels > 0 && ranks.size() > 1)
    add("transfers of collectives take no time", scales({LagKind::collective}, kNothing));
}

void add_edges(const std::vector<Rank>& ranks, const RunGraph& run, EdgeCounts& counts) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Rank& rank = ranks[i];
    for (std::uint32_t activity = 0; activity < rank.trace.activities.size(); ++activity) {
      if (rank.join.launch_of[activity] == kNoIndex) continue;
      ++counts.launch;
      if (rank.order.predecessor(activity) != kNoIndex) ++counts.stream;
    }
    const auto edges_found = [&](EdgeProvenance provenance) {
      return static_cast<std::size_t>(std::ranges::count(rank.edges, provenance, &CrossStreamEdge::provenance));
    };
    counts.recorded += edges_found(EdgeProvenance::recorded);
    counts.issue += edges_found(EdgeProvenance::issue);
    counts.wait += edges_found(EdgeProvenance::wait);
    counts.inferred += edges_found(EdgeProvenance::inferred);
    for (const HostWait& wait : rank.waits)
      ++counts.host_waits[static_cast<std::size_t>(wait.reason)];
    counts.resumes += run.ranks[i].resumes;
  }
}

std::vector<UnexplainedLag> unexplained_lags(const std::vector<Rank>& ranks, const RunGraph& run) {
  std::map<std::string, UnexplainedLag> by_kernel;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (std::size_t activity = 0; activity < run.ranks[i].unexplained.size(); ++activity) {
      const Picoseconds lag = run.ranks[i].unexplained[activity];
      if (lag.count == 0) continue;
      UnexplainedLag& sum = by_kernel[ranks[i].trace.name_of(ranks[i].trace.activities[activity])];
      ++sum.count;
      sum.total += lag;
      sum.worst = std::max(sum.worst, lag);
    }
  }
  std::vector<UnexplainedLag> lags;
  for (auto& [kernel, sum] : by_kernel) {
    sum.kernel = kernel;
    lags.push_back(sum);
  }
  std::ranges::stable_sort(lags, std::ranges::greater{}, &UnexplainedLag::total);
  return lags;
}

}  // namespace

ImportReport make_report(const std::vector<Rank>& ranks) {
  ImportReport report;
  const std::vector<CollectiveInstance> instances = match_collectives(ranks);
  const Clocks clocks = align_clocks(ranks, instances);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    RankSummary& summary = report.ranks.emplace_back(summary_of(ranks[i]));
    summary.clock_offset = clocks.offsets[i];
    summary.clock_corrected = clocks.corrected[i];
  }
  report.missing_ranks = missing_ranks(ranks);
  report.classes = classes_of(ranks);
  report.end_spread_median = clocks.spread_median;
  report.end_spread_worst = clocks.spread_worst;
  add_collectives(ranks, instances, clocks.shifts, report);

  const RunGraph run = run_graph(ranks, instances, clocks.shifts);
  report.errors = start_errors(ranks, run, replayed_dates(ranks, run));
  add_edges(ranks, run, report.edges);
  report.unexplained = unexplained_lags(ranks, run);
  add_bounds(ranks, run, report);
  const RunGraph without = run_graph(ranks, instances, clocks.shifts, {.cross_stream = false});
  report.errors_without_cross_stream = start_errors(ranks, without, replayed_dates(ranks, without));
  return report;
}

}}  // namespace c3::traces
