#include <algorithm>

#include <fmt/format.h>

#include "results/picoseconds.hpp"
#include "results/report/html.hpp"
#include "results/report/lane_plot.hpp"
#include "results/report/sections.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr double kStreamHeight = 20, kUseHeight = 26, kThinHeight = 6;  // pixels
constexpr std::size_t kUseBins = 600, kThinBins = 300;
constexpr std::size_t kShownGpus = 8;

/// One strategy on one system, and what was too short to be drawn alone.
struct Panel {
  const ReportRun& run;
  const StrategyResult& strategy;
  const StrategyTimeline& timeline;
  const TimeAxis& axis;
  std::size_t& merged;

  /// A training step may be drawn with fewer layers and micro-batches than it has.
  bool is_part() const { return strategy.step && strategy.step->is_shortened; }

  /// The lines that cross all rows.
  std::string marks(double height) const {
    const auto bound =
        fmt::format("lower bound: {} {}", axis.text(picoseconds(strategy.lower_bound)), axis.unit.name);
    return (is_part() ? "" : bound_line(axis.x(picoseconds(strategy.lower_bound)), height, bound)) +
           vertical("end", axis.x(timeline.time), height,
                    fmt::format("end: {} {}", axis.text(timeline.time), axis.unit.name));
  }
};

std::string row(std::string_view css_class, const std::string& label, const std::string& plot) {
  return fmt::format(
      "<div class=\"lane {}\"><span class=\"label\">{}</span><div class=\"plot\">{}</div></div>\n", css_class,
      label, plot);
}

/// Names are HTML above the slices, cut off where the slice ends.
std::string slice_name(const DrawnSlice& drawn, const TimeAxis& axis) {
  constexpr double kNarrowest = 30;  // units
  if (drawn.count > 1 || drawn.first->kind == "wait") return "";
  const double left = axis.x(drawn.first->running), width = axis.x(drawn.end) - left;
  if (width < kNarrowest) return "";
  return fmt::format(R"(<span class="name" style="left:{}%;width:{}%">{}</span>)",
                     short_number(100 * left / kPlotWidth), short_number(100 * width / kPlotWidth),
                     escaped(drawn.first->name));
}

/// \param what for readers of the screen; \param label HTML
std::string slices_row(const Panel& panel, const std::vector<Slice>& all, std::string_view css_class,
                       const std::string& what, const std::string& label) {
  auto svg = plot_begin(kStreamHeight, what) + grid(panel.axis, kStreamHeight);
  std::string names;
  const auto slices = drawn_slices(all, panel.axis);
  for (const auto& drawn : slices) {
    svg += slice_shapes(drawn, panel.axis, 1, kStreamHeight - 2);
    names += slice_name(drawn, panel.axis);
    if (drawn.count > 1) panel.merged += drawn.count;
  }
  svg += slice_edges(slices, panel.axis, 1, kStreamHeight - 2);
  return row(css_class, label, svg + panel.marks(kStreamHeight) + kPlotEnd + names);
}

/// A stream that repeats a trace has two rows, what was simulated above what was recorded.
std::string stream_rows(const Panel& panel, const Lane& lane, int rank) {
  const std::string what = fmt::format("stream {} of GPU {}", lane.label, rank), label = escaped(lane.label);
  if (!panel.timeline.recorded_end) return slices_row(panel, lane.slices, "stream", what, label);
  return slices_row(panel, lane.slices, "stream simulated", what + ", simulated",
                    fmt::format("<b>{}</b> simulated", label)) +
         slices_row(panel, lane.recorded, "stream recorded", what + ", recorded",
                    fmt::format("<b>{}</b> recorded", label));
}

std::string engines_row(const Panel& panel, const GpuTimeline& gpu) {
  if (gpu.engines.empty()) return "";
  constexpr double kPitch = kThinHeight + 2;
  const double height = kPitch * static_cast<double>(gpu.engines.size());
  auto svg = plot_begin(height, fmt::format("copy engines of GPU {}", gpu.rank)) + grid(panel.axis, height);
  double y = 1;
  for (const auto& lane : gpu.engines) {
    const auto slices = drawn_slices(lane.slices, panel.axis);
    for (const auto& drawn : slices) {
      svg += slice_shapes(drawn, panel.axis, y, kThinHeight);
      if (drawn.count > 1) panel.merged += drawn.count;
    }
    svg += slice_edges(slices, panel.axis, y, kThinHeight);
    y += kPitch;
  }
  return row("engines", fmt::format("{} engines", gpu.engines.size()), svg + panel.marks(height) + kPlotEnd);
}

std::string use_title(const UseCurve& curve, const StrategyTimeline& timeline) {
  return fmt::format("{}: {:.1f}% in use in the mean, {:.1f}% at most", curve.name(),
                     100 * curve.mean(timeline.time), 100 * curve.peak());
}

std::string use_row(const Panel& panel, const UseCurve& curve) {
  if (curve.members() == 0) return "";
  const auto title = use_title(curve, panel.timeline);
  const auto label =
      fmt::format("{}<b>{:.0f}%</b>", escaped(curve.name()), 100 * curve.mean(panel.timeline.time));
  return row("use", label,
             plot_begin(kUseHeight, title) + grid(panel.axis, kUseHeight) +
                 step_area("used", curve.shares(panel.axis.end, kUseBins), kUseHeight, kUseHeight - 2, title) +
                 panel.marks(kUseHeight) + kPlotEnd);
}

std::string links_row(const Panel& panel, const GpuTimeline& gpu) {
  if (gpu.each_link.size() < 2) return "";
  constexpr double kPitch = kThinHeight + 2;
  const double height = kPitch * static_cast<double>(gpu.each_link.size());
  auto svg = plot_begin(height, fmt::format("links of GPU {}", gpu.rank)) + grid(panel.axis, height);
  double bottom = kThinHeight + 1;
  for (const auto& link : gpu.each_link) {
    svg += step_area("used", link.shares(panel.axis.end, kThinBins), bottom, kThinHeight,
                     use_title(link, panel.timeline));
    bottom += kPitch;
  }
  return row("links", fmt::format("{} links", gpu.each_link.size()), svg + panel.marks(height) + kPlotEnd);
}

std::string gpu_rows(const Panel& panel, const GpuTimeline& gpu) {
  std::string rows;
  for (const auto& lane : gpu.streams)
    rows += stream_rows(panel, lane, gpu.rank);
  return rows + use_row(panel, gpu.cus) + use_row(panel, gpu.hbm) + use_row(panel, gpu.links) +
         engines_row(panel, gpu);
}

/// The first GPU in full; of the others, folded away, what is not one lane a link.
std::string all_gpus(const Panel& panel) {
  const auto& gpus = panel.timeline.gpus;
  const auto heading = [&](const GpuTimeline& gpu) {
    return gpus.size() > 1 ? fmt::format("<p class=\"rank\">GPU {}</p>\n", gpu.rank) : std::string();
  };
  auto html = heading(gpus.front()) + gpu_rows(panel, gpus.front()) + links_row(panel, gpus.front()) +
              row("axis", panel.axis.unit.name, R"(<div class="ticks">)" + tick_labels(panel.axis) + "</div>");
  if (gpus.size() == 1) return html;
  std::string others;
  const auto shown = std::min(gpus.size(), kShownGpus);
  for (std::size_t i = 1; i < shown; ++i)
    others += heading(gpus[i]) + gpu_rows(panel, gpus[i]);
  if (gpus.size() > shown)
    others += fmt::format("<p class=\"note\">{} more GPUs are in the file.</p>\n", gpus.size() - shown);
  return html +
         fmt::format("<details><summary>the other {} GPUs</summary>\n{}</details>\n", gpus.size() - 1, others);
}

std::string caption(const ReportScope& scope, const Panel& panel) {
  const auto& s = panel.strategy;
  auto text = scope.compares() ? fmt::format("<b>{}</b> ", escaped(panel.run.label)) : std::string();
  text += fmt::format("<b>{} {}</b>", panel.axis.text(panel.timeline.time), panel.axis.unit.name);
  if (panel.is_part())
    text +=
        fmt::format(" <span>of {} {} drawn</span>", scope.axis.text(picoseconds(s.time)), scope.axis.unit.name);
  if (panel.timeline.recorded_end)
    text += fmt::format(" <span>recorded {} {}</span>", panel.axis.text(*panel.timeline.recorded_end),
                        panel.axis.unit.name);
  if (s.speedup) text += fmt::format(" <span>speedup {:.3f}</span>", *s.speedup);
  if (s.share_of_ideal) text += fmt::format(" <span>{:.1f}% of ideal</span>", 100 * *s.share_of_ideal);
  if (s.best_cus) {
    text += fmt::format(" <span>{} of {:.0f} CUs reserved</span>", *s.best_cus,
                        panel.timeline.gpus.front().cus.capacity());
  }
  return "<figcaption>" + text + "</figcaption>\n";
}

std::string figure(const ReportScope& scope, const ReportRun& run, std::size_t index, std::size_t& merged) {
  const Panel panel{run, run.study.strategies[index], run.timelines[index], scope.timelines, merged};
  return fmt::format("<figure data-system=\"{}\">\n{}<p class=\"reading\">{}</p>\n<div>\n{}</div></figure>\n",
                     escaped(run.label), caption(scope, panel), escaped(reading(run, index, scope.timelines)),
                     all_gpus(panel));
}

std::string absent_figure(const ReportRun& run) {
  return fmt::format(
      "<figure><figcaption><b>{}</b> <span>does not have this strategy</span></figcaption></figure>\n",
      escaped(run.label));
}

std::string strategy_block(const ReportScope& scope, const std::string& name, std::size_t& merged) {
  std::string figures;
  for (const auto& run : scope.runs) {
    const auto index = run.index_of(name);
    figures += index ? figure(scope, run, *index, merged) : absent_figure(run);
  }
  return fmt::format(
      "<article data-strategy=\"{0}\">\n<h3>{0}</h3>\n<div class=\"figures\">\n{1}</div>\n</article>\n",
      escaped(name), figures);
}

/// Whether any run repeats a trace, whose recorded times are drawn as well.
bool repeats_trace(const ReportScope& scope) {
  return std::ranges::any_of(scope.runs, [](const ReportRun& run) {
    return std::ranges::any_of(
        run.timelines, [](const StrategyTimeline& timeline) { return timeline.recorded_end.has_value(); });
  });
}

}  // namespace

std::string timeline_section(const ReportScope& scope) {
  std::string blocks;
  std::size_t merged = 0;
  for (const auto& name : scope.strategies)
    blocks += strategy_block(scope, name, merged);
  const auto note =
      merged > 0
          ? fmt::format("{} slices shorter than 1/{} of the axis are drawn together with their neighbours. ",
                        merged, kPlotWidth)
          : std::string();
  const bool repeats = repeats_trace(scope);
  return fmt::format(
      "<section id=\"timeline\"{} data-axis-ps=\"{}\">\n<h2>Timeline</h2>\n"
      R"(<p class="legend"><span><i class="compute"></i>kernel</span> <span><i )"
      R"(class="comm"></i>collective, copy</span> )"
      R"(<span><i class="waiting"></i>released, not yet running</span> <span><i class="used"></i>share in )"
      "use, 0 to 100%, "
      R"(and its mean</span> <span><i class="bound"></i>lower bound</span> <span><i )"
      "class=\"end\"></i>end</span></p>\n"
      R"(<p class="note">One time axis for all. Of each strategy, the run whose time is the median. {}{}Pointing )"
      "at a shape "
      "shows what it is.</p>\n{}</section>\n",
      repeats ? " class=\"repeats\"" : "", scope.timelines.end,
      repeats ? "Below each stream is what the trace recorded on it. " : "", note, blocks);
}

}}  // namespace c3::results
