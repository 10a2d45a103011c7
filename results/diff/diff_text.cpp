#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "results/cells.hpp"
#include "results/diff/diff_output.hpp"
#include "results/diff/shown_rows.hpp"
#include "results/picoseconds.hpp"
#include "results/shown_text.hpp"
#include "results/text_table.hpp"
#include "results/time_unit.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr double kGigabyte = 1e9;

std::string percent(std::optional<double> relative) {
  return relative ? fmt::format("{:+.3g}%", 100 * *relative) : kAbsentCell;
}

/// However small: a change that looked like 0 would read as none.
std::string signed_number(double change) { return fmt::format("{:+.4g}", change); }

/// Long texts are cut: the file has all of them.
std::string shortened(const std::optional<std::string>& text) {
  constexpr std::size_t kLongest = 40;
  return text ? shown_word(*text, kLongest) : kAbsentCell;
}

std::string texts_text(const std::string& heading, const std::vector<TextChange>& changes, std::size_t lines) {
  if (changes.empty()) return fmt::format("\n{}: no change\n", heading);
  TextTable table({heading, "A", "B", "change"});
  const auto shown = first_lines(changes, lines);
  for (const TextChange& change : shown) {
    table.add({change.name, shortened(change.a), shortened(change.b),
               change.relative ? percent(change.relative) : ""});
  }
  return "\n" + table.text() + left_out_text(changes.size(), shown.size(), "keys with changes");
}

/// One unit for all times of a strategy; sizes in GB; all else as it is.
class NumberFormat {
 public:
  explicit NumberFormat(const SummaryDiff& summary)
      : unit_(unit_for(std::max(summary.time_a, summary.time_b))) {}

  const char* time_unit() const { return unit_.name; }
  std::string name(const NumberChange& change) const {
    if (change.unit == "ps" || change.unit == "1") return change.name;
    return fmt::format("{} [{}]", change.name, change.unit == "B" ? "GB" : change.unit);
  }
  std::string number(const NumberChange& change, std::optional<double> value) const {
    if (!value) return kAbsentCell;
    if (change.unit == "ps") return unit_.format(Seconds{*value / kPicosecondsPerSecond});
    return fmt::format("{:.5g}", in_unit(change, *value));
  }
  std::string change(const NumberChange& change) const {
    const auto difference = change.change();
    return difference ? signed_number(in_unit(change, *difference)) : kAbsentCell;
  }

 private:
  double in_unit(const NumberChange& change, double value) const {
    if (change.unit == "ps") return Seconds{value / kPicosecondsPerSecond} / unit_.size;
    return change.unit == "B" ? value / kGigabyte : value;
  }

  TimeUnit unit_;
};

std::string summary_text(const StrategyDiff& strategy, std::size_t lines) {
  const auto& [changes, equal, time_a, time_b] = strategy.summary;
  const std::string name = strategy.strategies.label();
  if (changes.empty()) return fmt::format("\n{}: all {} numbers are equal\n", name, equal);
  const NumberFormat format(strategy.summary);
  TextTable table({name, "A", "B", "B - A", "change"});
  const auto shown = first_lines(changes, lines);
  for (const NumberChange& change : shown) {
    table.add({format.name(change), format.number(change, change.a), format.number(change, change.b),
               format.change(change), percent(change.relative())});
  }
  return fmt::format("\n{}{}times in {}; {} other numbers are equal\n", table.text(),
                     left_out_text(changes.size(), shown.size(), "numbers with changes"), format.time_unit(),
                     equal);
}

std::string count_text(const ActivityChange& change) {
  return change.count_a == change.count_b ? fmt::format("{}", change.count_a)
                                          : fmt::format("{} > {}", change.count_a, change.count_b);
}

std::string rank_text(const ActivityChange& change) {
  return change.gpu < 0 ? kAbsentCell : fmt::format("{}", change.gpu);
}

Seconds longest_of(const std::vector<RankedActivity>& activities) {
  std::int64_t longest = 0;
  for (const auto& [_, change] : activities)
    longest = std::max({longest, change.total_a, change.total_b});
  return seconds(longest);
}

std::string activity_table(const std::vector<RankedActivity>& activities) {
  const TimeUnit unit = unit_for(longest_of(activities));
  const auto time = [&](std::int64_t ps) { return unit.format(seconds(ps)); };
  const auto signed_time = [&](std::int64_t ps) { return signed_number(seconds(ps) / unit.size); };
  TextTable table({"activity", "kind", "strategy", "GPU", "count", "A", "B", "B - A", "start"});
  for (const auto& [strategies, change] : activities) {
    const auto shift = change.mean_start_shift();
    table.add({change.name, change.kind, strategies.label(), rank_text(change), count_text(change),
               change.count_a > 0 ? time(change.total_a) : kAbsentCell,
               change.count_b > 0 ? time(change.total_b) : kAbsentCell, signed_time(change.change()),
               shift ? signed_time(*shift) : std::string(change.count_a > 0 ? "only in A" : "only in B")});
  }
  return fmt::format("\n{}times in {}: all of a name together; start: how much later in B, in the mean\n",
                     table.text(), unit.name);
}

ActivityDiff counts_of(const RunDiff& diff) {
  ActivityDiff sum;
  for (const StrategyDiff& strategy : diff.strategies) {
    sum.unchanged += strategy.activities.unchanged;
    sum.moved += strategy.activities.moved;
    sum.changed += strategy.activities.changed;
    sum.only_a += strategy.activities.only_a;
    sum.only_b += strategy.activities.only_b;
  }
  return sum;
}

std::string activities_text(const RunDiff& diff, std::size_t lines) {
  const auto shown = ranked_activities(diff, lines);
  const std::size_t all = ranked_activities(diff, 0).size();
  std::string text = shown.empty() ? "\n" : activity_table(shown);
  text += left_out_text(all, shown.size(), "names with changes");
  const ActivityDiff sum = counts_of(diff);
  return text + fmt::format(
                    "{} activities matched: {} unchanged, {} only moved, {} with another duration; "
                    "{} only in A, {} only in B\n",
                    sum.matched(), sum.unchanged, sum.moved, sum.changed, sum.only_a, sum.only_b);
}

std::string only_text(const char* file, const std::vector<std::string>& strategies) {
  return strategies.empty() ? "" : fmt::format("\nonly in {}: {}\n", file, fmt::join(strategies, ", "));
}

}  // namespace

std::vector<RankedActivity> ranked_activities(const RunDiff& diff, std::size_t lines) {
  std::vector<RankedActivity> ranked;
  for (const StrategyDiff& strategy : diff.strategies) {
    for (const ActivityChange& change : strategy.activities.changes)
      ranked.push_back({strategy.strategies, change});
  }
  std::vector<const RankedActivity*> order;
  order.reserve(ranked.size());
  for (const RankedActivity& activity : ranked)
    order.push_back(&activity);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const RankedActivity* activity) { return std::abs(activity->change.change()); });
  if (lines > 0 && order.size() > lines) order.resize(lines);
  std::vector<RankedActivity> sorted;
  sorted.reserve(order.size());
  for (const RankedActivity* const activity : order)
    sorted.push_back(*activity);
  return sorted;
}

std::string diff_text(const RunDiff& diff, std::size_t lines) {
  std::string text = fmt::format("A: {}\nB: {}\n", diff.a, diff.b);
  text += texts_text("run", diff.facts, lines) + texts_text("configuration", diff.configuration, lines);
  for (const StrategyDiff& strategy : diff.strategies)
    text += summary_text(strategy, lines);
  text += only_text("A", diff.only_a) + only_text("B", diff.only_b);
  return text + activities_text(diff, lines);
}

}}  // namespace c3::results
