#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "studies/traces/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;

/// Adds lines to a section; figures of a trace that is not there are left out.
class Lines {
 public:
  Lines(const TraceRuns& runs, const PublishedFigures& published, StudySection& section)
      : runs_(runs), published_(published), section_(section) {}

  template <class Value>
  void add(std::string_view run, const std::string& id, const std::string& label, Value value) {
    const TraceRun* const found = runs_.find(run);
    if (found == nullptr) return;
    StudyLine line{.figure = {.of = published_.find(id)}, .label = fmt::format("{}: {}", run, label)};
    line.figure.simulated = value(found->report);
    section_.lines.push_back(std::move(line));
  }

 private:
  const TraceRuns& runs_;
  const PublishedFigures& published_;
  StudySection& section_;
};

double count(std::size_t number) { return static_cast<double>(number); }

double specified(const ImportReport& report) {
  return count(report.collective_kernels - report.unspecified.size());
}

StudySection counts_section(const TraceRuns& runs, const PublishedFigures& published) {
  StudySection section{
      .heading = "Edges and collectives found",
      .lines = {},
      .notes = {"The five collectives of mi300x_ddp that are not specified were launched before the "
                "recording began; c3sim import names them."},
      .value = "here",
      .decimals = 0};
  Lines lines(runs, published, section);
  lines.add(kEventSyncRun, "edges.event_sync", "recorded edges",
            [](const ImportReport& report) { return count(report.edges.recorded); });
  lines.add(kAlexnetRun, "edges.alexnet", "recorded edges",
            [](const ImportReport& report) { return count(report.edges.recorded); });
  lines.add(kMegatronRun, "edges.issues", "issues by sequence number",
            [](const ImportReport& report) { return count(report.edges.issue); });
  lines.add(kMegatronRun, "edges.waits", "waits by sequence number",
            [](const ImportReport& report) { return count(report.edges.wait); });
  lines.add(kMegatronRun, "collectives.megatron", "collectives specified", specified);
  lines.add(kDdpRun, "collectives.ddp", "collectives specified", specified);
  lines.add(kMi300xDdpRun, "collectives.mi300x", "collectives specified", specified);
  for (const int rank : {0, 6, 3}) {
    lines.add(kMegatronRun, fmt::format("stragglers.rank{}", rank), fmt::format("rank {} arrives last", rank),
              [rank](const ImportReport& report) {
                const auto row =
                    std::ranges::find(report.stragglers, rank, [](const auto& late) { return late.rank; });
                return row == report.stragglers.end() ? 0.0 : count(row->last);
              });
  }
  return section;
}

std::optional<double> host_bound(const ImportReport& report) {
  if (report.bounds.size() < 3) return std::nullopt;
  return report.bounds[2].gpu.milliseconds();
}

StudySection times_section(const TraceRuns& runs, const PublishedFigures& published) {
  StudySection section{.heading = "Times found", .lines = {}, .notes = {}, .value = "here", .decimals = 2};
  Lines lines(runs, published, section);
  lines.add(kMegatronRun, "collectives.true_cost", "true cost of its 84 collectives",
            [](const ImportReport& report) { return report.true_cost.milliseconds(); });
  lines.add(kMegatronRun, "bounds.hosts", "step to the end of GPU work, host times x 0.02", host_bound);
  return section;
}

/// Percent by which the step is shorter.
std::optional<double> gpu_bound(const ImportReport& report) {
  if (report.bounds.size() < 2 || report.bounds[0].step.count <= 0) return std::nullopt;
  return kPercent * (1.0 - report.bounds[1].step.milliseconds() / report.bounds[0].step.milliseconds());
}

/// Of the rank with the least.
std::optional<double> shaped(const ImportReport& report) {
  std::optional<double> least;
  for (const RankSummary& rank : report.ranks) {
    if (rank.gpu_time.count <= 0) continue;
    const double share = kPercent * rank.time_with_shapes.milliseconds() / rank.gpu_time.milliseconds();
    least = std::min(least.value_or(share), share);
  }
  return least;
}

StudySection shares_section(const TraceRuns& runs, const PublishedFigures& published) {
  StudySection section{.heading = "What binds the step, and GPU time with shapes",
                       .lines = {},
                       .notes = {},
                       .value = "here",
                       .decimals = 2};
  Lines lines(runs, published, section);
  lines.add(kMegatronRun, "bounds.gpu_halved", "step shorter with GPU times halved", gpu_bound);
  lines.add(kMegatronRun, "shapes.megatron", "GPU time with shapes", shaped);
  for (const TracePair& pair : kTracePairs) {
    lines.add(pair.h100, fmt::format("shapes.pairs.{}.h100", pair.id), "GPU time with shapes", shaped);
    lines.add(pair.mi300x, fmt::format("shapes.pairs.{}.mi300x", pair.id), "GPU time with shapes", shaped);
  }
  return section;
}

}  // namespace

StudyReport import_sections(const TraceRuns& runs, const PublishedFigures& published) {
  return {counts_section(runs, published), times_section(runs, published), shares_section(runs, published)};
}

}}  // namespace c3::studies
