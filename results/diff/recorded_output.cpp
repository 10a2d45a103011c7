#include <algorithm>
#include <cstdlib>
#include <span>

#include <fmt/format.h>

#include "base/json.hpp"
#include "results/cells.hpp"
#include "results/diff/diff_output.hpp"
#include "results/diff/shown_rows.hpp"
#include "results/picoseconds.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"
#include "results/time_unit.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr double kMost = 1.0, k95 = 0.95, kMedian = 0.5;  // shares of starts

double us(std::int64_t ps) { return static_cast<double>(ps) / 1e6; }

/// Names of templates have hundreds of characters: the file and the JSON have all of them.
std::string shortened(const std::string& name) {
  constexpr std::size_t kLongest = 60;
  return name.size() > kLongest ? name.substr(0, kLongest - 3) + "..." : name;
}

/// Prints times in one unit.
class Times {
 public:
  explicit Times(std::int64_t longest) : unit_(unit_for(seconds(longest))) {}

  const char* unit() const { return unit_.name; }
  std::string text(std::int64_t ps) const { return unit_.format(seconds(ps)); }
  /// However small: a change that looked like 0 would read as none.
  std::string signed_text(std::int64_t ps) const { return fmt::format("{:+.4g}", seconds(ps) / unit_.size); }

 private:
  TimeUnit unit_;
};

std::string head_text(const RecordedDiff& diff) {
  const Times times(std::max(diff.recorded_end, diff.simulated_end));
  return fmt::format(
      "{}: recorded {} {}, simulated {}; {} kernels, copies and collectives in both, {} of them equal; only "
      "recorded {}, only simulated {}\n"
      "starts are off by {:.4g} us in the median, {:.4g} at the 95th percentile, {:.4g} at most\n",
      diff.strategy, times.text(diff.recorded_end), times.unit(), times.text(diff.simulated_end),
      diff.matches.size(), diff.equal, diff.only_recorded, diff.only_simulated, us(diff.shift_at(kMedian)),
      us(diff.shift_at(k95)), us(diff.shift_at(kMost)));
}

/// Rows that differ, which are the first; in a unit for what they differ by.
std::string starts_text(const RecordedDiff& diff, const std::vector<std::string>& streams, std::size_t lines) {
  const auto all = static_cast<std::size_t>(
      std::ranges::count_if(diff.matches, [](const RecordedMatch& match) { return match.start_shift() != 0; }));
  if (all == 0) return "\nall starts are equal\n";
  const auto shown = std::span(diff.matches).first(lines == 0 ? all : std::min(lines, all));
  const Times times(std::abs(shown.front().start_shift()));
  TextTable table({"start", "kind", "GPU", "stream", "no.", "recorded", "simulated", "later"});
  for (const RecordedMatch& match : shown) {
    const auto stream = static_cast<std::size_t>(match.stream);
    table.add({shortened(match.name), match.kind, fmt::format("{}", match.gpu),
               stream < streams.size() ? streams[stream] : fmt::format("{}", match.stream),
               fmt::format("{}", match.number), times.text(match.recorded_start), times.text(match.start),
               times.signed_text(match.start_shift())});
  }
  return fmt::format("\n{}{}times in {}\n", table.text(), left_out_text(all, shown.size(), "starts"),
                     times.unit());
}

std::string durations_text(const RecordedDiff& diff, std::size_t lines) {
  const auto all = static_cast<std::size_t>(
      std::ranges::count_if(diff.totals, [](const RecordedTotal& total) { return total.change() != 0; }));
  if (all == 0) return "\nall durations are equal, those of a name together\n";
  const auto shown = std::span(diff.totals).first(lines == 0 ? all : std::min(lines, all));
  const Times times(std::abs(shown.front().change()));
  TextTable table({"duration", "kind", "count", "recorded", "waiting", "simulated", "waiting", "longer",
                   "change", "start"});
  const auto waiting = [&](const RecordedTotal& total, std::int64_t time) {
    return total.kind == "collective" ? times.text(time) : std::string(kAbsentCell);
  };
  for (const RecordedTotal& total : shown) {
    const double change = static_cast<double>(total.change()) / static_cast<double>(total.recorded);
    table.add({shortened(total.name), total.kind, fmt::format("{}", total.count), times.text(total.recorded),
               waiting(total, total.recorded_waiting), times.text(total.simulated),
               waiting(total, total.waiting), times.signed_text(total.change()),
               total.recorded == 0 ? kAbsentCell : fmt::format("{:+.3g}%", 100.0 * change),
               times.signed_text(total.start_shift / static_cast<std::int64_t>(total.count))});
  }
  return fmt::format(
      "\n{}{}times in {}: all of a name together; waiting: of recorded ones, for the last rank; of simulated "
      "ones, "
      "for that\nor for CUs, before any part runs; start: how much later, in the mean\n",
      table.text(), left_out_text(all, shown.size(), "names"), times.unit());
}

Json match_json(const RecordedMatch& match, const std::vector<std::string>& streams) {
  const auto stream = static_cast<std::size_t>(match.stream);
  return {{"name", match.name},
          {"kind", match.kind},
          {"gpu", match.gpu},
          {"stream", stream < streams.size() ? Json(streams[stream]) : Json()},
          {"number", match.number},
          {"recorded_start_us", us(match.recorded_start)},
          {"simulated_start_us", us(match.start)},
          {"start_shift_us", us(match.start_shift())},
          {"recorded_duration_us", us(match.recorded_duration)},
          {"simulated_duration_us", us(match.duration)},
          {"recorded_waiting_us", us(match.recorded_waiting)},
          {"simulated_waiting_us", us(match.waiting)}};
}

Json total_json(const RecordedTotal& total) {
  return {{"name", total.name},
          {"kind", total.kind},
          {"count", total.count},
          {"recorded_us", us(total.recorded)},
          {"simulated_us", us(total.simulated)},
          {"recorded_waiting_us", us(total.recorded_waiting)},
          {"simulated_waiting_us", us(total.waiting)},
          {"mean_start_shift_us", us(total.start_shift) / static_cast<double>(total.count)}};
}

}  // namespace

std::string recorded_diff_text(const RecordedDiff& diff, const std::vector<std::string>& streams,
                               std::size_t lines) {
  std::string text = head_text(diff);
  if (diff.matches.empty()) return text;
  return text + starts_text(diff, streams, lines) + durations_text(diff, lines);
}

std::string recorded_diff_json(const std::string& file, const std::vector<RecordedDiff>& diffs,
                               const std::vector<std::string>& streams, std::size_t lines) {
  Json strategies = Json::array();
  for (const RecordedDiff& diff : diffs) {
    Json starts = Json::array(), durations = Json::array();
    for (const RecordedMatch& match : first_lines(diff.matches, lines))
      starts.push_back(match_json(match, streams));
    for (const RecordedTotal& total : first_lines(diff.totals, lines))
      durations.push_back(total_json(total));
    strategies.push_back({{"strategy", diff.strategy},
                          {"matched", diff.matches.size()},
                          {"equal", diff.equal},
                          {"only_recorded", diff.only_recorded},
                          {"only_simulated", diff.only_simulated},
                          {"recorded_end_us", us(diff.recorded_end)},
                          {"simulated_end_us", us(diff.simulated_end)},
                          {"start_shift_us",
                           {{"median", us(diff.shift_at(kMedian))},
                            {"p95", us(diff.shift_at(k95))},
                            {"most", us(diff.shift_at(kMost))}}},
                          {"starts", std::move(starts)},
                          {"durations", std::move(durations)}});
  }
  const Json json = {
      {"schema_version", kJsonSchemaVersion}, {"file", file}, {"strategies", std::move(strategies)}};
  return json.dump(2) + "\n";
}

}}  // namespace c3::results
