#include "results/study_reader.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "files/io_error.hpp"
#include "results/class_tables.hpp"
#include "results/picoseconds.hpp"
#include "results/step_tables.hpp"
#include "results/strategy_summary.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr std::array kDispatchPolicies{DispatchPolicy::oldest_first, DispatchPolicy::round_robin,
                                       DispatchPolicy::random_order};

template <class Choice, std::size_t N>
Choice choice(const ResultReader& file, const char* attribute, const std::array<Choice, N>& choices) {
  const auto name = file.attribute(attribute);
  for (const auto candidate : choices) {
    if (name_of(candidate) == name) return candidate;
  }
  throw IoError(file.path(), "read", std::string("attribute '") + attribute + "' is '" + name + "'");
}

bool has_attribute(const ResultReader& file, const std::string& name) {
  const auto attributes = file.attributes();
  return std::ranges::find(attributes, name, &std::pair<std::string, std::string>::first) != attributes.end();
}

/// Absent where nothing is known of the GPU's power, and in files before 1.8.0.
std::optional<ClockState> clock_state(const ResultReader& file) {
  if (!has_attribute(file, "clock_state")) return std::nullopt;
  return choice(file, "clock_state", enum_values<ClockState>());
}

/// Absent where the GPU has no 16-bit products, and in files before 1.10.0.
std::optional<SustainedLevel> level(const ResultReader& file) {
  if (!has_attribute(file, "level_evidence")) return std::nullopt;
  const auto rate = [&](const std::string& name) -> std::optional<FlopsPerSecond> {
    if (!has_attribute(file, name)) return std::nullopt;
    return FlopsPerSecond{static_cast<double>(file.number(name))};
  };
  return SustainedLevel{
      .evidence = choice(file, "level_evidence", enum_values<LevelEvidence>()),
      .measured_on = has_attribute(file, "level_measured_on") ? file.attribute("level_measured_on") : "",
      .rate = FlopsPerSecond{static_cast<double>(file.number("level_rate"))},
      .low = rate("level_low"),
      .high = rate("level_high")};
}

Seconds time(const ResultTable& summary, const std::string& column) {
  return seconds(summary.values<std::int64_t>(column).at(0));
}

double ratio(const ResultTable& summary, const std::string& column) {
  return summary.values<double>(column).at(0);
}

std::optional<SideTimes> side(const ResultTable& summary, const std::string& name) {
  if (!summary.has(name + "_alone")) return std::nullopt;
  return SideTimes{.alone = time(summary, name + "_alone"), .together = time(summary, name + "_together")};
}

std::optional<RunClock> clock(const ResultTable& summary, const std::string& prefix) {
  if (!summary.has(prefix + "clock_speed")) return std::nullopt;
  return RunClock{.speed = ratio(summary, prefix + "clock_speed"),
                  .mean = Watts{ratio(summary, prefix + "power")},
                  .highest = Watts{ratio(summary, prefix + "highest_power")},
                  .energy = summary.has(prefix + "energy")
                                ? std::optional(Joules{ratio(summary, prefix + "energy")})
                                : std::nullopt};
}

std::optional<LossSplit> loss(const ResultTable& summary) {
  if (!summary.has("loss_dispatch")) return std::nullopt;
  return LossSplit{.dispatch = time(summary, "loss_dispatch"),
                   .cus = time(summary, "loss_cus"),
                   .cache = time(summary, "loss_cache"),
                   .hbm = time(summary, "loss_hbm"),
                   .links = time(summary, "loss_links"),
                   .interaction = time(summary, "loss_interaction")};
}

std::vector<StreamTimes> streams(const ResultReader& file, const std::string& strategy) {
  if (!file.has_table(strategy, "streams")) return {};
  const auto table = file.table(strategy, "streams");
  const std::vector<std::string> names = file.streams();
  const auto& stream = table.values<std::int64_t>("stream");
  const auto& alone = table.values<std::int64_t>("alone");
  const auto& together = table.values<std::int64_t>("together");
  std::vector<StreamTimes> streams;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const auto index = static_cast<std::size_t>(stream[i]);  // a negative one is beyond, too
    if (index >= names.size()) throw IoError(file.path(), "read", "table 'streams' points beyond /streams");
    streams.push_back({names[index], {seconds(alone[i]), seconds(together[i])}});
  }
  return streams;
}

std::vector<std::string> notes(const ResultReader& file, const std::string& strategy) {
  std::istringstream text(file.attribute(strategy, "summary", kNotes).value_or(""));
  std::vector<std::string> notes;
  for (std::string note; std::getline(text, note);)
    notes.push_back(note);
  return notes;
}

StrategyResult read_strategy(const ResultReader& file, const std::string& name) {
  const auto summary = file.table(name, "summary");
  StrategyResult result;
  result.name = name;
  result.time = time(summary, "time");
  if (summary.has("time_p5")) {
    result.spread = TimeSpread{time(summary, "time_p5"), time(summary, "time_p95")};
  }
  result.lower_bound = time(summary, "lower_bound");
  if (summary.has("speedup")) result.speedup = ratio(summary, "speedup");
  if (summary.has("ideal_speedup")) result.ideal_speedup = ratio(summary, "ideal_speedup");
  if (summary.has("share_of_ideal")) result.share_of_ideal = ratio(summary, "share_of_ideal");
  result.kernel = side(summary, "kernel");
  result.collective = side(summary, "collective");
  result.clock = clock(summary, "");
  result.kernel_clock = clock(summary, "kernel_alone_");
  result.loss = loss(summary);
  result.streams = streams(file, name);
  if (summary.has("best_cus"))
    result.best_cus = static_cast<int>(summary.values<std::int64_t>("best_cus").at(0));
  result.notes = notes(file, name);
  result.estimate = read_estimate(file, name);
  result.step = read_step(file, name);
  result.throughput = read_throughput(file, name);
  result.classes = read_classes(file, name);
  return result;
}

}  // namespace

std::optional<Estimate> read_estimate(const ResultReader& file, const std::string& strategy) {
  const auto summary = file.table(strategy, "summary");
  if (!summary.has("estimate_low")) return std::nullopt;
  Estimate estimate{.low = time(summary, "estimate_low"),
                    .high = time(summary, "estimate_high"),
                    .method = file.attribute(strategy, "summary", kEstimateMethod).value_or(""),
                    .simulated = ratio(summary, "estimate_simulated")};
  if (summary.has("estimate_bound")) estimate.bound = ratio(summary, "estimate_bound");
  return estimate;
}

StudyResult read_study(const ResultReader& file) {
  StudyResult study;
  study.experiment = file.attribute("experiment");
  study.seed = file.number("seed");
  study.conditions = {.system = file.attribute("system"),
                      .gpu = file.attribute("gpu"),
                      .hbm_arbitration = choice(file, "hbm_arbitration", kHbmArbitrations),
                      .dispatch_policy = choice(file, "dispatch_policy", kDispatchPolicies),
                      .clock_state = clock_state(file),
                      .level = level(file),
                      .seeds = static_cast<int>(file.number("seeds")),
                      .draws = static_cast<int>(file.number("draws"))};
  for (const auto& name : file.strategies())
    study.strategies.push_back(read_strategy(file, name));
  return study;
}

}}  // namespace c3::results
