
#include <utility>

#include "base/json.hpp"
#include "results/diff/diff_output.hpp"
#include "results/schema.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr double kMicrosecond = 1e6;  // ps

double us(std::int64_t ps) { return static_cast<double>(ps) / kMicrosecond; }

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json texts_json(const std::vector<TextChange>& changes, const char* key) {
  Json list = Json::array();
  for (const TextChange& change : changes) {
    list.push_back({{key, change.name},
                    {"a", or_null(change.a)},
                    {"b", or_null(change.b)},
                    {"relative", or_null(change.relative)}});
  }
  return list;
}

/// Times are in us, as everywhere in our JSON.
Json number_json(const NumberChange& change) {
  const bool is_time = change.unit == "ps";
  const auto value = [&](std::optional<double> number) {
    return number ? Json(is_time ? *number / kMicrosecond : *number) : Json();
  };
  return {{"number", change.name},
          {"unit", is_time ? "us" : change.unit},
          {"a", value(change.a)},
          {"b", value(change.b)},
          {"change", value(change.change())},
          {"relative", or_null(change.relative())}};
}

Json strategy_json(const StrategyDiff& strategy) {
  Json summary = Json::array();
  for (const NumberChange& change : strategy.summary.changes)
    summary.push_back(number_json(change));
  const ActivityDiff& activities = strategy.activities;
  return {{"strategy", strategy.strategies.a},
          {"strategy_b", strategy.strategies.b},
          {"summary", std::move(summary)},
          {"equal_numbers", strategy.summary.equal},
          {"activities",
           {{"matched", activities.matched()},
            {"unchanged", activities.unchanged},
            {"moved", activities.moved},
            {"changed", activities.changed},
            {"only_a", activities.only_a},
            {"only_b", activities.only_b},
            {"names_with_changes", activities.changes.size()}}}};
}

Json activity_json(const RankedActivity& activity) {
  const ActivityChange& change = activity.change;
  const auto shift = change.mean_start_shift();
  return {{"strategy", activity.strategies.a},
          {"strategy_b", activity.strategies.b},
          {"name", change.name},
          {"kind", change.kind},
          {"gpu", change.gpu},
          {"count_a", change.count_a},
          {"count_b", change.count_b},
          {"total_a_us", us(change.total_a)},
          {"total_b_us", us(change.total_b)},
          {"change_us", us(change.change())},
          {"start_change_us", shift ? Json(us(*shift)) : Json()}};
}

}  // namespace

std::string diff_json(const RunDiff& diff, std::size_t lines) {
  Json strategies = Json::array(), activities = Json::array();
  for (const StrategyDiff& strategy : diff.strategies)
    strategies.push_back(strategy_json(strategy));
  for (const RankedActivity& activity : ranked_activities(diff, lines))
    activities.push_back(activity_json(activity));
  const Json json{{"schema_version", kJsonSchemaVersion},
                  {"a", diff.a},
                  {"b", diff.b},
                  {"equal", diff.is_equal()},
                  {"run", texts_json(diff.facts, "fact")},
                  {"configuration", texts_json(diff.configuration, "key")},
                  {"strategies", std::move(strategies)},
                  {"only_a", diff.only_a},
                  {"only_b", diff.only_b},
                  {"activities", std::move(activities)}};
  return json.dump(2) + "\n";
}

}}  // namespace c3::results
