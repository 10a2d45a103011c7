#include "app/sweep/sweep_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/nearest_name.hpp"
#include "base/usage_error.hpp"
#include "results/report/sweep/sweep_page.hpp"
#include "results/shell_word.hpp"

namespace c3 { inline namespace app {
namespace {

void check_name(std::string_view what, const std::string& name, const std::vector<std::string>& known) {
  if (!name.empty() && std::ranges::find(known, name) == known.end())
    throw UsageError(unknown_name(what, name, known));
}

std::vector<std::string> names_of(const std::vector<SweptKey>& axes) {
  std::vector<std::string> names;
  for (const SweptKey& axis : axes)
    names.push_back(axis.name);
  return names;
}

/// A key that is swept together with another would have one value in every plot.
void check_free(const std::string& option, const std::string& key, const std::vector<SweptKey>& axes) {
  const auto found = std::ranges::find(axes, key, &SweptKey::name);
  if (found == axes.end()) return;
  if (!found->follows.empty())
    throw UsageError(
        fmt::format("{}: '{}' is swept together with '{}': name that one", option, key, found->follows));
  if (found->levels() == 1) throw UsageError(fmt::format("{}: '{}' has one value", option, key));
}

void check_pair(const std::string& option, const std::vector<std::string>& names) {
  if (!names.empty() && (names.size() != 2 || names[0] == names[1]))
    throw UsageError(option + ": two different names with a comma between");
}

void check_keys(const SweepReportOptions& options, const std::vector<SweptKey>& axes, bool compares) {
  std::vector<std::string> keys = names_of(axes);
  if (compares) keys.emplace_back(kStrategyAxis);
  const auto check = [&](const std::string& option, const std::string& key) {
    check_name("swept key", key, keys);
    check_free(option, key, axes);
  };
  check("--x", options.x);
  check("--series", options.series);
  if (!options.x.empty() && options.x == options.series)
    throw UsageError("--x and --series: two different keys");
  for (const std::string& key : options.heat)
    check("--heat", key);
  for (const std::string& key : options.for_each)
    check("--for-each", key);
  for (const std::string& key : options.choose) {
    check("--choose", key);
    if (std::ranges::find(options.for_each, key) != options.for_each.end())
      throw UsageError(fmt::format("--choose and --for-each: '{}' cannot be in both", key));
  }
}

std::vector<std::pair<std::string, std::string>> checked_only(const std::vector<std::string>& texts,
                                                              const std::vector<SweptKey>& axes) {
  std::vector<std::pair<std::string, std::string>> only;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) throw UsageError("--only: '" + text + "' is not KEY=VALUE");
    const std::string key = text.substr(0, equals), value = text.substr(equals + 1);
    check_name("swept key", key, names_of(axes));
    const SweptKey& axis = *std::ranges::find(axes, key, &SweptKey::name);
    if (level_of(axis, value) == axis.levels())
      throw UsageError(unknown_name("value of " + key, value, axis.labels));
    only.emplace_back(key, value);
  }
  return only;
}

/// What says which points the page has; what it draws of them is said with each plot.
std::string command_of(const std::string& file, const std::vector<std::string>& strategies,
                       const SweepReportOptions& options) {
  std::string command = "c3sim report " + shell_word(file);
  if (!strategies.empty())
    command += " --strategies " + shell_word(fmt::format("{}", fmt::join(strategies, ",")));
  for (const std::string& only : options.only)
    command += " --only " + shell_word(only);
  if (!options.for_each.empty())
    command += " --for-each " + shell_word(fmt::format("{}", fmt::join(options.for_each, ",")));
  if (!options.choose.empty())
    command += " --choose " + shell_word(fmt::format("{}", fmt::join(options.choose, ",")));
  return command;
}

}  // namespace

std::string SweepReportOptions::first_given() const {
  const std::array<std::pair<const char*, bool>, 8> given{{{"--x", !x.empty()},
                                                           {"--y", !y.empty()},
                                                           {"--series", !series.empty()},
                                                           {"--heat", !heat.empty()},
                                                           {"--pareto", !pareto.empty()},
                                                           {"--for-each", !for_each.empty()},
                                                           {"--choose", !choose.empty()},
                                                           {"--only", !only.empty()}}};
  for (const auto& [name, is_given] : given)
    if (is_given) return name;
  return "";
}

std::string sweep_report(const std::string& file, const std::vector<std::string>& strategies,
                         const std::string& title, const SweepReportOptions& options) {
  const SweepTable table = read_sweep_file(file);
  const auto known = strategies_of(table), metrics = metrics_of(table);
  for (const std::string& name : strategies)
    check_name("strategy", name, known);
  SweepPageRequest request{.title = title,
                           .command = command_of(file, strategies, options),
                           .strategies = strategies,
                           .only = {},
                           .wishes = {.x = options.x,
                                      .y = options.y,
                                      .series = options.series,
                                      .heat = options.heat,
                                      .pareto = options.pareto,
                                      .for_each = options.for_each,
                                      .choose = options.choose}};
  check_pair("--heat", options.heat);
  check_pair("--pareto", options.pareto);
  check_name("metric", options.y, metrics);
  for (const std::string& metric : options.pareto)
    check_name("metric", metric, metrics);
  const std::vector<SweptKey> axes = page_keys(table, request.wishes);
  check_keys(options, axes, (strategies.empty() ? known : strategies).size() > 1);
  request.only = checked_only(options.only, axes);
  return sweep_page(table, request);
}

}}  // namespace c3::app
