#include "app/explain/explain_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/json.hpp"
#include "results/picoseconds.hpp"
#include "results/report/html.hpp"
#include "results/report/plot.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::size_t kMostRanks = 32;
constexpr double kLaneHeight = 18, kThinHeight = 9;  // pixels: of kernels, of communication

Json lane_json(const ScheduleLane& lane) {
  Json slices = Json::array();
  for (const ScheduledSlice& slice : lane.slices)
    slices.push_back({{"name", slice.name}, {"begin", slice.begin.value}, {"end", slice.end.value}});
  return {{"name", lane.name}, {"has_kernels", lane.has_kernels ? 1 : 0}, {"slices", std::move(slices)}};
}

ScheduleLane lane_of(const Json& json) {
  ScheduleLane lane{
      .name = json["name"].text(), .has_kernels = json["has_kernels"].integer() != 0, .slices = {}};
  for (const Json& slice : json["slices"].elements())
    lane.slices.push_back(
        {slice["name"].text(), Seconds{slice["begin"].number()}, Seconds{slice["end"].number()}});
  return lane;
}

/// CSS class of a slice of kernels, by its pass.
std::string_view pass_colour(const ScheduledSlice& slice) {
  const auto has = [&](std::string_view word) { return slice.name.find(word) != std::string::npos; };
  if (has("backward") || has("weights")) return "backward";
  if (has("optimizer")) return "optimizer";
  return "compute";
}

/// The micro-batch's number where there is room for it.
std::string micro_batch_number(const ScheduledSlice& slice, double left, double width) {
  constexpr std::string_view kBegin = "micro-batch ";
  constexpr double kNarrowest = 16;  // units
  if (!slice.name.starts_with(kBegin) || width < kNarrowest) return "";
  const std::string number = slice.name.substr(kBegin.size(), slice.name.find(',') - kBegin.size());
  return fmt::format(R"(<span class="number" style="left:{}%;width:{}%">{}</span>)",
                     short_number(100 * left / kPlotWidth), short_number(100 * width / kPlotWidth),
                     escaped(number));
}

std::string lane_row(const ScheduleLane& lane, const std::string& label, const TimeAxis& axis) {
  const double height = lane.has_kernels ? kLaneHeight : kThinHeight;
  std::string svg = plot_begin(height, label + ", " + lane.name) + grid(axis, height), numbers;
  for (const ScheduledSlice& slice : lane.slices) {
    const double left = axis.x(picoseconds(slice.begin)), width = axis.x(picoseconds(slice.end)) - left;
    svg += rectangle(lane.has_kernels ? pass_colour(slice) : "comm", left, 1, width, height - 2,
                     fmt::format("{}: {} to {} {}", slice.name, axis.text(picoseconds(slice.begin)),
                                 axis.text(picoseconds(slice.end)), axis.unit.name));
    if (lane.has_kernels) numbers += micro_batch_number(slice, left, width);
  }
  return fmt::format(
      "<div class=\"lane\"><span class=\"label\">{}</span><div class=\"plot\">{}{}{}</div></div>\n",
      lane.has_kernels ? escaped(label) : "", svg, kPlotEnd, numbers);
}

/// A legend for the colours that are drawn.
std::string schedule_legend(const StepSchedule& schedule) {
  std::set<std::string_view> drawn;
  for (const RankSchedule& rank : schedule.ranks)
    for (const ScheduleLane& lane : rank.lanes)
      for (const ScheduledSlice& slice : lane.slices)
        drawn.insert(lane.has_kernels ? pass_colour(slice) : "comm");
  const std::string kernels = drawn.contains("backward") ? "kernels, forward pass" : "kernels";
  std::string items;
  for (const auto& [colour, text] : {std::pair<std::string_view, std::string>{"compute", kernels},
                                     {"backward", "backward pass"},
                                     {"optimizer", "optimizer"},
                                     {"comm", "communication"}})
    if (drawn.contains(colour)) items += fmt::format(R"(<span><i class="{}"></i>{}</span> )", colour, text);
  return "<p class=\"legend\">" + items + "</p>\n";
}

std::string rank_label(const RankSchedule& rank) {
  return rank.name.empty() ? fmt::format("GPU {}", rank.rank) : rank.name;
}

}  // namespace

std::string schedule_json(const StepSchedule& schedule) {
  Json ranks = Json::array();
  for (const RankSchedule& rank : schedule.ranks) {
    Json lanes = Json::array();
    for (const ScheduleLane& lane : rank.lanes)
      lanes.push_back(lane_json(lane));
    ranks.push_back({{"rank", rank.rank}, {"name", rank.name}, {"lanes", std::move(lanes)}});
  }
  return Json{{"time", schedule.time.value}, {"ranks", std::move(ranks)}}.dump();
}

StepSchedule schedule_of_json(const std::string& text) {
  const Json json = Json::parse(text);
  StepSchedule schedule{.time = Seconds{json["time"].number()}, .ranks = {}};
  for (const Json& rank_json : json["ranks"].elements()) {
    RankSchedule rank{
        .rank = static_cast<int>(rank_json["rank"].integer()), .name = rank_json["name"].text(), .lanes = {}};
    for (const Json& lane : rank_json["lanes"].elements())
      rank.lanes.push_back(lane_of(lane));
    schedule.ranks.push_back(std::move(rank));
  }
  return schedule;
}

std::string schedule_section(const StepSchedule& schedule, const std::string& part) {
  if (schedule.ranks.empty()) return "";
  const TimeAxis axis{.end = picoseconds(schedule.time), .unit = unit_for(schedule.time)};
  std::string rows;
  const std::size_t shown = std::min(kMostRanks, schedule.ranks.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const RankSchedule& rank = schedule.ranks[i];
    for (std::size_t lane = 0; lane < rank.lanes.size(); ++lane)
      rows += lane_row(rank.lanes[lane], lane == 0 ? rank_label(rank) : rank.lanes[lane].name, axis);
  }
  rows +=
      fmt::format("<div class=\"lane\"><span class=\"label\">{}</span><div class=\"ticks\">{}</div></div>\n",
                  axis.unit.name, tick_labels(axis));
  const std::string left_out =
      schedule.ranks.size() > shown
          ? fmt::format(" The first {} of {} kinds of ranks.", shown, schedule.ranks.size())
          : "";
  return fmt::format(
      "<section id=\"schedule\">\n<h2>Schedule of one repetition{}</h2>\n{}<div>\n{}</div>\n<p "
      "class=\"note\">One rank of each kind; numbers are micro-batches. Communication includes waiting for its "
      "members.{} Pointing at a slice shows what it is.</p>\n</section>\n",
      part.empty() ? "" : ": " + escaped(part), schedule_legend(schedule), rows, left_out);
}

const char* const kScheduleStyle =
    R"(.backward, .legend i.backward { fill: var(--dispatch); --fill: var(--dispatch); }
.optimizer, .legend i.optimizer { fill: var(--cache); --fill: var(--cache); }
#schedule .lane { margin-bottom: 0; }
#schedule rect { stroke: var(--back); stroke-width: .5; vector-effect: non-scaling-stroke; }
.number { position: absolute; top: 0; line-height: 18px; font-size: 11px; text-align: center; color: var(--on);
  overflow: hidden; pointer-events: none; }
@media (max-width: 760px) { .number { display: none; } }
)";

}}  // namespace c3::app
