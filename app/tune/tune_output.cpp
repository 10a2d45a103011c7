#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "app/tune/tune_answer.hpp"
#include "app/tune/tuning.hpp"
#include "base/json.hpp"
#include "engine/interrupt.hpp"
#include "results/cells.hpp"
#include "results/schema.hpp"
#include "results/shell_word.hpp"
#include "results/text_table.hpp"
#include "workloads/tune/candidate_search.hpp"

namespace c3 { inline namespace app {
namespace {

/// What became of candidates.
std::string count_table(const Tuning& tuning) {
  const TuneCounts& counts = tuning.counts;
  TextTable table({"candidates", "number"});
  const auto add = [&](std::string what, std::size_t number) {
    table.add({std::move(what), std::to_string(number)});
  };
  add("break a rule", counts.refused);
  if (tuning.goal.most_gpus)
    add(fmt::format("need more than {} GPUs", *tuning.goal.most_gpus), counts.beyond_gpus);
  add("do not fit in memory", counts.out_of_memory);
  add("pruned by their bound", counts.pruned);
  add("simulated", counts.simulated);
  if (counts.failed > 0) add("failed", counts.failed);
  add("not simulated, may be better", counts.open);
  add("all", counts.candidates);
  const std::string rough = fmt::format(
      "{} of those pruned or not simulated were looked at by one stage of their pipeline only: its estimate "
      "is\n"
      "  more than {:.0f} % above the best one\n",
      counts.rough, 100.0 * kRoughMargin);
  return table.text() + (counts.rough > 0 ? rough : "");
}

std::string objective_text(Objective objective, double cost) {
  return fmt::format("{:.4g}", value_of(objective, cost));
}

std::string gigabytes(Bytes bytes) {
  return bytes > Bytes{} ? fmt::format("{:.1f}", bytes.value / 1e9) : kAbsentCell;
}

/// Whether some were simulated with fewer seeds than others.
bool has_unlike_seeds(const std::vector<TunedCandidate>& ranking) {
  return !std::ranges::all_of(
      ranking, [&](const TunedCandidate& candidate) { return candidate.seeds == ranking.front().seeds; });
}

std::string ranking_table(const Tuning& tuning, std::size_t shown) {
  const Objective objective = tuning.goal.objective;
  std::vector<std::string> header = {"rank"};
  const std::vector<std::string>& names = tuning.plan.sweep.names();
  header.insert(header.end(), names.begin(), names.end());
  for (const char* column : {"strategy", "ms", "bound"})
    header.emplace_back(column);
  if (objective != Objective::time) header.emplace_back(unit_of(objective));
  const bool shows_seeds = has_unlike_seeds(tuning.ranking);
  if (shows_seeds) header.emplace_back("seeds");
  header.emplace_back("GPUs");
  header.emplace_back("GB");
  TextTable table(std::move(header));
  for (std::size_t i = 0; i < std::min(shown, tuning.ranking.size()); ++i) {
    const TunedCandidate& candidate = tuning.ranking[i];
    std::vector<std::string> row = {std::to_string(i + 1)};
    std::ranges::move(tuning.plan.sweep.texts(tuning.plan.sweep.points()[candidate.what.point]),
                      std::back_inserter(row));
    row.push_back(candidate.strategy);
    row.push_back(fmt::format("{:.3f}", candidate.takes.time.value * 1e3));
    row.push_back(fmt::format("{:.1f}%", 100.0 * bound_over_cost(objective, candidate)));
    if (objective != Objective::time) row.push_back(objective_text(objective, candidate.cost));
    if (shows_seeds) row.push_back(std::to_string(candidate.seeds));
    row.push_back(std::to_string(candidate.what.facts.size.gpus));
    row.push_back(gigabytes(candidate.what.facts.needed));
    table.add(std::move(row));
  }
  return table.text() +
         fmt::format("bound: of the {}, found without a simulation; GB: needed of the fullest GPU\n",
                     bounded_word(objective));
}

/// Each system where several compete; and values of keys of which no candidate is possible, with the reason of
/// the first: of those that belong to the same candidates, one.
std::string values_text(const Tuning& tuning) {
  const Objective objective = tuning.goal.objective;
  TextTable systems({"system", "candidates", "possible", std::string(unit_of(objective)), "USD a GPU-hour"});
  std::string impossible;
  std::vector<std::vector<std::size_t>> said;
  bool has_systems = false;
  for (const TunedValue& value : tuning.values) {
    const std::optional<std::size_t> best = best_with(value, tuning.ranking);
    if (value.key == "system") {
      has_systems = true;
      systems.add({value.text, std::to_string(value.points.size()), std::to_string(value.possible),
                   best ? objective_text(objective, tuning.ranking[*best].cost) : kAbsentCell,
                   value.usd_per_gpu_hour > 0.0 ? fmt::format("{:.4g}", value.usd_per_gpu_hour) : kAbsentCell});
    }
    if (value.possible > 0 || std::ranges::find(said, value.points) != said.end()) continue;
    said.push_back(value.points);
    impossible +=
        fmt::format("{} {}: none possible, because {}\n", value.key, value.text, value.why_impossible);
  }
  if (!has_systems && impossible.empty()) return "";
  return "\n" + (has_systems ? systems.text() + "of the best that was simulated; USD: list price\n" : "") +
         impossible;
}

/// How far the best may be from the least.
std::string regret_text(const Tuning& tuning) {
  if (tuning.ranking.empty()) return "nothing was simulated\n";
  if (tuning.broken_bounds > 0)
    return fmt::format("regret: not known, {} simulated candidates were faster than their bounds\n",
                       tuning.broken_bounds);
  if (tuning.counts.open == 0) return "regret: none, no other candidate that is possible can be better\n";
  const std::string worst = std::isfinite(*tuning.worst_regret)
                                ? fmt::format("in the worst case {:.1f} %", 100.0 * *tuning.worst_regret)
                                : "the worst case is not known";
  return fmt::format(
      "regret: at most {:.1f} % above what the best candidate may cost, with a probability of {:.0f} %; {}\n",
      100.0 * *tuning.likely_regret, 100.0 * CandidateSearch::kConfidence, worst);
}

/// Words of `--set`, as they follow those of the command line.
std::vector<std::string> sets_of(const Tuning& tuning, const TunedCandidate& candidate) {
  return tuning.plan.sweep.sets(tuning.plan.sweep.points()[candidate.what.point]);
}

/// What else may be chosen; nothing where the best is best in everything.
std::string front_text(const Tuning& tuning, std::size_t shown) {
  const std::vector<std::size_t> front = front_of(tuning.ranking);
  if (front.size() < 2) return {};
  const Objective objective = tuning.goal.objective;
  TextTable table({"rank", objective == Objective::time ? std::string("ms") : std::string(unit_of(objective)),
                   "GB", "kJ", std::string(usd_of_work_name(tuning))});
  for (std::size_t i = 0; i < std::min(shown, front.size()); ++i) {
    const TunedCandidate& candidate = tuning.ranking[front[i]];
    const std::optional<Joules> energy = energy_of(candidate);
    const std::optional<double> usd = usd_of_work(candidate);
    table.add({std::to_string(front[i] + 1),
               objective == Objective::time ? fmt::format("{:.3f}", candidate.takes.time.value * 1e3)
                                            : objective_text(objective, candidate.cost),
               gigabytes(candidate.what.facts.needed),
               energy ? fmt::format("{:.1f}", energy->value / 1e3) : kAbsentCell,
               usd ? fmt::format("{:.4g}", *usd) : kAbsentCell});
  }
  return fmt::format("\nof those simulated, none beats these in cost, memory, energy and money together:\n{}",
                     table.text());
}

/// Why the best wins over the next one.
std::string comparison_text(const Tuning& tuning) {
  if (tuning.ranking.size() < 2) return {};
  const std::vector<ComparedNumber> rows = compared(tuning.ranking[0], tuning.ranking[1]);
  if (rows.empty()) return {};
  TextTable table({"why", "best", "next", "difference"});
  for (const ComparedNumber& number : rows)
    table.add({fmt::format("{} [{}]", number.name, number.unit), fmt::format("{:.1f}", number.best),
               fmt::format("{:.1f}", number.other), fmt::format("{:+.1f}", number.saved())});
  const std::string why = why_it_wins(rows);
  return fmt::format("\n{}{}times of GPU 0; c3sim explain FILE with the words of --set says more\n",
                     table.text(), why.empty() ? "" : why + "; ");
}

std::string launch_text(const LaunchArguments& launch) {
  std::string text = "\nstart it:";
  for (const std::string& word : launch.words)
    text += " " + shell_word(word);
  text += "\n";
  if (!launch.unsaid.empty())
    text += fmt::format("no argument stands for: {}\n", fmt::join(launch.unsaid, ", "));
  return text;
}

Json comparison_json(const Tuning& tuning) {
  Json rows = Json::array();
  if (tuning.ranking.size() < 2) return rows;
  for (const ComparedNumber& number : compared(tuning.ranking[0], tuning.ranking[1]))
    rows.push_back(
        {{"name", number.name}, {"unit", number.unit}, {"best", number.best}, {"next", number.other}});
  return rows;
}

Json values_json(const Tuning& tuning) {
  Json values = Json::array();
  for (const TunedValue& value : tuning.values) {
    const std::optional<std::size_t> best = best_with(value, tuning.ranking);
    const std::vector<std::string>& ids = tuning.plan.manifest.ids;
    values.push_back(
        {{"key", value.key},
         {"value", value.text},
         {"candidates", value.points.size()},
         {"possible", value.possible},
         {"why_impossible", value.why_impossible.empty() ? Json() : Json(value.why_impossible)},
         {"usd_per_gpu_hour", value.usd_per_gpu_hour > 0.0 ? Json(value.usd_per_gpu_hour) : Json()},
         {"best", best ? Json(ids[tuning.ranking[*best].what.point]) : Json()}});
  }
  return values;
}

Json front_json(const Tuning& tuning) {
  Json ids = Json::array();
  for (const std::size_t position : front_of(tuning.ranking))
    ids.push_back(Json(tuning.plan.manifest.ids[tuning.ranking[position].what.point]));
  return ids;
}

Json launch_json(const std::optional<LaunchArguments>& launch) {
  if (!launch) return {};
  return {{"arguments", Json(launch->words)}, {"unsaid", Json(launch->unsaid)}};
}

Json candidate_json(const Tuning& tuning, const TunedCandidate& candidate) {
  const SweepPlan& plan = tuning.plan;
  const std::vector<std::string>& names = plan.sweep.names();
  const std::vector<std::string> texts = plan.sweep.texts(plan.sweep.points()[candidate.what.point]);
  const std::optional<Joules> energy = energy_of(candidate);
  const std::optional<double> usd = usd_of(candidate);
  Json values = Json::object();
  for (std::size_t axis = 0; axis < names.size(); ++axis)
    values[names[axis]] = texts[axis];
  return {{"id", plan.manifest.ids[candidate.what.point]},
          {"values", std::move(values)},
          {"sets", Json(sets_of(tuning, candidate))},
          {"command", plan.manifest.commands[candidate.what.point]},
          {"strategy", candidate.strategy},
          {"time_us", candidate.takes.time / 1.0_us},
          {"bound_us", candidate.what.facts.bound.time / 1.0_us},
          {"value", value_of(tuning.goal.objective, candidate.cost)},
          {"seeds", candidate.seeds},
          {"gpus", candidate.what.facts.size.gpus},
          {"tokens", candidate.what.facts.size.tokens > 0 ? Json(candidate.what.facts.size.tokens) : Json()},
          {"energy_j", energy ? Json(energy->value) : Json()},
          {"usd", usd ? Json(*usd) : Json()},
          {"needed_bytes",
           candidate.what.facts.needed > Bytes{} ? Json(candidate.what.facts.needed.value) : Json()}};
}

}  // namespace

std::string tune_text(const Tuning& tuning, std::size_t shown) {
  std::string text = fmt::format("{}: {}, {} search\n\n{}\n", tuning.plan.sweep.name(),
                                 tuning.goal.objective == Objective::time
                                     ? std::string("least time")
                                     : fmt::format("{} {}", is_most(tuning.goal.objective) ? "most" : "least",
                                                   unit_of(tuning.goal.objective)),
                                 tuning.exact ? "exact" : "guided", count_table(tuning));
  if (!tuning.ranking.empty())
    text += fmt::format("{}\nbest: {}\n", ranking_table(tuning, shown),
                        tuning.plan.manifest.commands[tuning.ranking.front().what.point]);
  text += regret_text(tuning);
  if (has_unlike_seeds(tuning.ranking))
    text +=
        "seeds: the better half of those simulated went on with more of them; the regret does not count that "
        "another one may be best with all\n";
  text += values_text(tuning) + front_text(tuning, shown) + comparison_text(tuning);
  return tuning.launch ? text + launch_text(*tuning.launch) : text;
}

std::string tune_json(const Tuning& tuning) {
  const TuneCounts& counts = tuning.counts;
  Json ranking = Json::array();
  for (const TunedCandidate& candidate : tuning.ranking)
    ranking.push_back(candidate_json(tuning, candidate));
  const auto share = [](std::optional<double> regret) {
    return regret && std::isfinite(*regret) ? Json(*regret) : Json();
  };
  const Json json{{"schema_version", kJsonSchemaVersion},
                  {"experiment", tuning.plan.sweep.name()},
                  {"folder", tuning.plan.folder.path().string()},
                  {"objective", name_of(tuning.goal.objective)},
                  {"unit", unit_of(tuning.goal.objective)},
                  {"exact", tuning.exact},
                  {"interrupted", interrupt_requested()},
                  {"candidates", counts.candidates},
                  {"refused", counts.refused},
                  {"beyond_gpus", counts.beyond_gpus},
                  {"out_of_memory", counts.out_of_memory},
                  {"pruned", counts.pruned},
                  {"simulated", counts.simulated},
                  {"failed", counts.failed},
                  {"open", counts.open},
                  {"rough", counts.rough},
                  {"likely_regret", share(tuning.likely_regret)},
                  {"regret_bound", share(tuning.worst_regret)},
                  {"broken_bounds", tuning.broken_bounds},
                  {"by_value", values_json(tuning)},
                  {"front", front_json(tuning)},
                  {"comparison", comparison_json(tuning)},
                  {"launch", launch_json(tuning.launch)},
                  {"ranking", std::move(ranking)}};
  return json.dump(2) + "\n";
}

}}  // namespace c3::app
