// Channels of memory over time beside what kernels reach, what each kernel and phase asks of the fullest
// channel, and tensors that camp.

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "results/picoseconds.hpp"
#include "results/report/heat_colour.hpp"
#include "results/report/html.hpp"
#include "results/report/lane_plot.hpp"
#include "results/report/sections.hpp"
#include "results/report/value_scale.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr std::size_t kColumns = 300, kFineColumns = 6000;
constexpr std::size_t kShownKernels = 16, kShownBuffers = 24;
constexpr double kRateHeight = 26, kCamps = 0.9;
constexpr double kLeast = 64.0 * 1024.0;  // bytes of a tensor that is listed

/// Share of each channel in use in equal parts of the axis; shape [channels][columns].
using ChannelUse = std::vector<std::vector<double>>;

ChannelUse use_of(const GpuTimeline& gpu, std::int64_t end, std::size_t columns) {
  ChannelUse use;
  for (const UseCurve& channel : gpu.channels)
    use.push_back(channel.shares(end, columns));
  return use;
}

std::string lane(const std::string& label, const std::string& plot) {
  return fmt::format(
      "<div class=\"lane use rate\"><span class=\"label\">{}</span><div class=\"plot\">{}</div></div>\n", label,
      plot);
}

/// Neighbours of one colour are one rectangle.
std::string heat_row(const std::vector<double>& shares, double y, double height) {
  constexpr double kLevels = 24.0;
  const double width = static_cast<double>(kPlotWidth) / static_cast<double>(shares.size());
  std::string row;
  const auto level = [&](std::size_t i) { return std::round(shares[i] * kLevels) / kLevels; };
  for (std::size_t i = 0; i < shares.size();) {
    std::size_t next = i + 1;
    while (next < shares.size() && level(next) == level(i))
      ++next;
    if (level(i) > 0.0)
      row += fmt::format("<path fill=\"{}\" d=\"M{} {}H{}V{}H{}Z\"/>", hex(heat_colour(level(i))),
                         short_number(static_cast<double>(i) * width), short_number(y),
                         short_number(static_cast<double>(next) * width), short_number(y + height),
                         short_number(static_cast<double>(i) * width));
    i = next;
  }
  return row;
}

std::string heat_map(const GpuTimeline& gpu, const TimeAxis& axis) {
  const auto channels = gpu.channels.size();
  const double pitch = channels > 64 ? 3.0 : 6.0;
  const double height = pitch * static_cast<double>(channels);
  const ChannelUse use = use_of(gpu, axis.end, kColumns);
  std::string svg =
      plot_begin(height, fmt::format("load of {} channels of HBM over time", channels)) +
      fmt::format("<rect class=\"heat-back\" width=\"{}\" height=\"{}\"/>", kPlotWidth, short_number(height));
  for (std::size_t i = 0; i < channels; ++i)
    svg += heat_row(use[i], pitch * static_cast<double>(i), pitch);
  return lane(fmt::format("channels <b>{}</b>", channels), svg + kPlotEnd);
}

/// While it computes: its main kernel, or all of it.
Intervals computing(const Slice& slice) {
  for (const SlicePhase& phase : slice.phases)
    if (phase.name == slice.name) return {{phase.start, phase.end}};
  return slice.busy;
}

/// Mean flop/s of all kernels of a stream in equal parts of the axis.
std::vector<double> rates_of(const Lane& stream, std::int64_t end, std::size_t columns) {
  std::vector<double> flops(columns, 0.0);
  const double width = static_cast<double>(end) / static_cast<double>(columns);
  for (const Slice& slice : stream.slices) {
    const Intervals computed = computing(slice);
    if (slice.flops <= 0.0 || length(computed) <= 0) continue;
    const double rate = slice.flops / static_cast<double>(length(computed));
    for (const Interval& part : computed) {
      auto from = static_cast<double>(part.begin);
      for (auto i = static_cast<std::size_t>(from / width); i < columns && from < static_cast<double>(part.end);
           ++i) {
        const double to = std::min(static_cast<double>(part.end), static_cast<double>(i + 1) * width);
        flops[i] += rate * std::max(0.0, to - from);
        from = std::max(from, to);
      }
    }
  }
  for (double& bucket : flops)
    bucket /= seconds(1).value * width;
  return flops;
}

std::string rate_row(const Lane& stream, const TimeAxis& axis) {
  std::vector<double> rates = rates_of(stream, axis.end, kColumns);
  const double most = *std::ranges::max_element(rates);
  if (most <= 0.0) return "";
  for (double& rate : rates)
    rate /= most;
  const std::string title =
      fmt::format("arithmetic of stream {}, at most {}", stream.label, with_prefix(most, "FLOP/s"));
  return lane(fmt::format("{}<b>{}</b>", escaped(stream.label), escaped(with_prefix(most, "FLOP/s"))),
              plot_begin(kRateHeight, title) + grid(axis, kRateHeight) +
                  step_area("compute", rates, kRateHeight, kRateHeight - 2, title) + kPlotEnd);
}

/// Phases of the stream's calls, in turns of two shades; kernels without are left blank.
std::string phase_row(const Lane& stream, const TimeAxis& axis) {
  constexpr double kPhaseHeight = 10;
  std::string shapes;
  bool is_even = false;
  for (const Slice& slice : stream.slices)
    for (const SlicePhase& phase : slice.phases)
      shapes += rectangle((is_even = !is_even) ? "compute" : "used", axis.x(phase.start), 0,
                          axis.x(phase.end) - axis.x(phase.start), kPhaseHeight,
                          fmt::format("{}: {}, {} {}", slice.name, phase.name,
                                      axis.text(phase.end - phase.start), axis.unit.name));
  if (shapes.empty()) return "";
  return lane("phases",
              plot_begin(kPhaseHeight, "phases of calls of stream " + stream.label) + shapes + kPlotEnd);
}

/// A kernel, a phase of one or a collective, and what it finds at memory.
struct Camper {
  std::string name, phase;
  std::int64_t start, end;
};

std::vector<Camper> campers_of(const GpuTimeline& gpu) {
  std::map<std::pair<std::string, std::string>, Camper> longest;
  const auto add = [&](Camper camper) {
    const auto key = std::pair(camper.name, camper.phase);
    const auto [found, is_new] = longest.try_emplace(key, camper);
    if (!is_new && camper.end - camper.start > found->second.end - found->second.start)
      found->second = std::move(camper);
  };
  for (const Lane& stream : gpu.streams) {
    for (const Slice& slice : stream.slices) {
      if (slice.kind != "kernel" && slice.kind != "collective") continue;
      if (slice.phases.empty()) add({slice.name, "", slice.running, slice.end});
      for (const SlicePhase& phase : slice.phases)
        add({slice.name, phase.name == slice.name ? "main kernel" : phase.name, phase.start, phase.end});
    }
  }
  std::vector<Camper> campers;
  for (auto& [_, camper] : longest)
    campers.push_back(std::move(camper));
  std::ranges::stable_sort(campers, std::greater(),
                           [](const Camper& camper) { return camper.end - camper.start; });
  if (campers.size() > kShownKernels) campers.resize(kShownKernels);
  std::ranges::stable_sort(campers, {}, &Camper::start);
  return campers;
}

/// Mean share of each channel in use between two dates.
std::vector<double> means(const ChannelUse& use, std::int64_t end, const Camper& camper) {
  const double width = static_cast<double>(end) / kFineColumns;
  const auto first = static_cast<std::size_t>(static_cast<double>(camper.start) / width);
  const auto last = std::clamp(static_cast<std::size_t>(static_cast<double>(camper.end) / width), first + 1,
                               std::max(first + 1, kFineColumns));
  std::vector<double> means;
  for (const std::vector<double>& channel : use) {
    double sum = 0.0;
    for (std::size_t i = first; i < std::min(last, channel.size()); ++i)
      sum += channel[i];
    means.push_back(sum / static_cast<double>(last - first));
  }
  return means;
}

std::string percent(double share) { return fmt::format("{:.1f}%", 100.0 * share); }

std::string kernels_table(const GpuTimeline& gpu, std::int64_t time, const TimeAxis& axis) {
  const ChannelUse use = use_of(gpu, time, kFineColumns);
  std::vector<std::vector<std::string>> rows;
  for (const Camper& camper : campers_of(gpu)) {
    const std::vector<double> shares = means(use, time, camper);
    const double mean = std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
    const double most = *std::ranges::max_element(shares);
    rows.push_back({escaped(camper.phase.empty() ? camper.name : camper.name + ": " + camper.phase),
                    axis.text(camper.end - camper.start), percent(mean), percent(most),
                    most > 0.0 ? percent(mean / most) : ""});
  }
  return table_html(
      "camping",
      {"kernel", fmt::format("time [{}]", axis.unit.name), "HBM in use", "fullest channel", "evenness"}, rows);
}

bool is_listed(const BufferReach& buffer) { return buffer.bytes.value >= kLeast; }

std::string buffers_table(const RecordedBuffers& recorded) {
  const auto own =
      std::ranges::find(kReachMappings, recorded.mapping, [](auto mapping) { return name_of(mapping); });
  const auto index = static_cast<std::size_t>(own - kReachMappings.begin());
  const std::size_t by = own == kReachMappings.end() ? 0 : index;
  std::vector<const BufferReach*> worst;
  for (const BufferReach& buffer : recorded.buffers) {
    const auto camps = [](const std::optional<double>& reach) { return reach.value_or(1.0) < kCamps; };
    if (is_listed(buffer) && std::ranges::any_of(buffer.reach, camps)) worst.push_back(&buffer);
  }
  std::ranges::stable_sort(worst, {},
                           [&](const BufferReach* buffer) { return buffer->reach.at(by).value_or(1.0); });
  const std::size_t all = worst.size();
  if (worst.size() > kShownBuffers) worst.resize(kShownBuffers);
  std::vector<std::string> header = {"tensor", "size"};
  for (const ChannelMapping mapping : kReachMappings)
    header.push_back(std::string(name_of(mapping)) +
                     (name_of(mapping) == recorded.mapping ? " (this run)" : ""));
  std::vector<std::vector<std::string>> rows;
  for (const BufferReach* const buffer : worst) {
    std::vector<std::string> row = {escaped(buffer->name + (buffer->phase.empty() ? "" : ", " + buffer->phase) +
                                            (buffer->is_written ? ", written" : "")),
                                    escaped(with_prefix(buffer->bytes.value, "B"))};
    for (const std::optional<double>& reach : buffer->reach)
      row.push_back(reach ? percent(*reach) : "");
    rows.push_back(std::move(row));
  }
  const std::string note = fmt::format(
      "<p class=\"note\">{} of {} tensors (those below 64 KiB left out) reach less than {:.0f}% of the "
      "bandwidth with at "
      "least one of these mappings when one stream alone goes through them{}. A random mapping spreads all of "
      "them.</p>\n",
      all, std::ranges::count_if(recorded.buffers, is_listed), 100 * kCamps,
      all > worst.size() ? fmt::format("; the first {} are shown", worst.size()) : "");
  return note + (rows.empty() ? "" : table_html("camping", header, rows));
}

std::string strategy_channels(const ReportRun& run, std::size_t index, const ReportScope& scope) {
  const StrategyTimeline& timeline = run.timelines[index];
  const GpuTimeline& gpu = timeline.gpus.front();
  if (gpu.channels.empty()) return "";
  const TimeAxis& axis = scope.timelines;
  std::string rates;
  for (const Lane& stream : gpu.streams)
    rates += rate_row(stream, axis) + phase_row(stream, axis);
  const std::string& strategy = run.study.strategies[index].name;
  return fmt::format(
      "<article data-channels=\"{0}\">\n<h3>{0}{1}</h3>\n{2}{3}<div class=\"lane axis\"><span "
      "class=\"label\">{4}</span>"
      "<div class=\"plot\"><div class=\"ticks\">{5}</div></div></div>\n{6}{7}</article>\n",
      escaped(strategy), scope.compares() ? " on " + escaped(run.label) : "", rates, heat_map(gpu, axis),
      axis.unit.name, tick_labels(axis), kernels_table(gpu, timeline.time, axis),
      buffers_table(run.buffers[index]));
}

}  // namespace

std::string channels_section(const ReportScope& scope) {
  std::string articles;
  for (const ReportRun& run : scope.runs)
    for (std::size_t i = 0; i < run.timelines.size(); ++i)
      articles += strategy_channels(run, i, scope);
  if (articles.empty()) return "";
  return fmt::format(
             "<section id=\"channels\">\n<h2>Channels of memory</h2>\n<p "
             "class=\"legend\"><span>idle</span><span "
             "class=\"ramp\" style=\"background:{}\"></span><span>full</span> <span><i "
             "class=\"compute\"></i>FLOP/s of "
             "a stream's kernels, and the most</span></p>\n<p class=\"note\">GPU 0. A row for each channel of "
             "HBM, the first "
             "on top. In the table each kernel and phase at its longest: evenness is the channels' mean load "
             "over the fullest's, "
             "1 over the number of channels where all bytes are in one; others run beside it.</p>\n",
             heat_gradient()) +
         articles + "</section>\n";
}

}}  // namespace c3::results
