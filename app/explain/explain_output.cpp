#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/explain/explanation.hpp"
#include "base/json.hpp"
#include "results/cells.hpp"
#include "results/ranking.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace app {
namespace {

std::string share_text(double share) { return fmt::format("{:.1f}%", 100.0 * share); }
std::string change_text(double share) { return fmt::format("{:+.1f}%", 100.0 * share); }

/// Times of one table in one unit.
class TimeColumn {
 public:
  explicit TimeColumn(Seconds longest) : is_ms_(longest.value >= 1e-3) {}

  const char* unit() const { return is_ms_ ? "ms" : "us"; }
  std::string text(Seconds time) const { return fmt::format("{:.3f}", time.value * (is_ms_ ? 1e3 : 1e6)); }
  std::string text(const std::optional<Seconds>& time) const { return time ? text(*time) : kAbsentCell; }

 private:
  bool is_ms_;
};

std::string reached_text(const std::optional<double>& reached) {
  return reached ? share_text(*reached) : kAbsentCell;
}

std::string waterfall_table(const Explanation& explanation) {
  const Waterfall& fall = explanation.waterfall;
  const TimeColumn times(fall.time);
  TextTable table({"part", times.unit(), "of the run", "peak left", "found by", "in order", "reversed"});
  if (fall.at_peak > Seconds{})
    table.add({"flops at peak", times.text(fall.at_peak), share_text(fall.at_peak / fall.time), "100.0%",
               std::string(name_of(PartMethod::closed_form)), kAbsentCell, kAbsentCell});
  for (std::size_t part = 0; part < fall.parts.size(); ++part) {
    const WaterfallPart& fall_part = fall.parts[part];
    table.add({fall_part.name, times.text(fall_part.time), share_text(fall_part.time / fall.time),
               reached_text(fall.reached_before(part + 1)), std::string(name_of(fall_part.method)),
               times.text(fall_part.in_order), times.text(fall_part.reversed)});
  }
  table.add({"the run", times.text(fall.time), "100.0%", reached_text(fall.reached()), kAbsentCell, kAbsentCell,
             kAbsentCell});
  std::string text =
      table.text() +
      "counterfactual: simulated again with the cause made impossible, one cause after another and "
      "in the reverse order, interference first in both; the part is the mean of both\n"
      "interval union: of the run in which every cause is impossible; a negative part is a gain\n" +
      fmt::format("orders differ by {} {} in all ({} of what lies above the peak)\n",
                  times.text(fall.interaction()), times.unit(),
                  share_text(fall.interaction() / (fall.time - fall.at_peak)));
  if (fall.at_peak <= Seconds{})
    text += "no kernel with a shape has products: what is reached of the peak is not known\n";
  if (const auto& interference = explanation.interference)
    text += fmt::format(
        "interference: kernels run {} {} longer, exposed communication and waiting take {} {} more\n",
        times.text(interference->kernels), times.unit(), times.text(interference->beside), times.unit());
  return text;
}

std::string communication_table(const Explanation& explanation) {
  if (explanation.communication.empty()) return {};
  const Seconds time = explanation.waterfall.time;
  const TimeColumn times(time);
  TextTable table({"exposed communication", times.unit(), "of the run", "waiting", "latency", "bandwidth"});
  for (const CommunicationSplit& split : explanation.communication)
    table.add({split.name, times.text(split.exposed), share_text(split.exposed / time),
               times.text(split.waiting), times.text(split.latency), times.text(split.bandwidth)});
  return table.text() +
         "of the run as it is, on an average GPU, while no kernel runs; waiting: for members that have not "
         "come\n\n";
}

std::string path_table(const Explanation& explanation) {
  const CriticalPath& path = explanation.path;
  const TimeColumn times(path.time);
  TextTable table({"critical path", times.unit(), "share", "on it", "off it", "least slack", "median slack"});
  for (const PathClass& path_class : path.classes)
    table.add({path_class.name, times.text(path_class.on_path), share_text(path_class.on_path / path.time),
               std::to_string(path_class.on), std::to_string(path_class.off),
               path_class.off > 0 ? times.text(path_class.least_slack) : kAbsentCell,
               path_class.off > 0 ? times.text(path_class.median_slack) : kAbsentCell});
  return table.text() +
         fmt::format(
             "of one repetition{}; launch: between the end of one operation and the start of the next; slack:\n"
             "how much later an operation that is not on the path may end before the run takes longer\n",
             explanation.path_of.empty() ? "" : ", " + explanation.path_of);
}

std::string lever_table(const Explanation& explanation) {
  const Seconds time = explanation.waterfall.time;
  TextTable table({"lever", "elasticity", "5 %", "95 %", "less of it", "more of it", "1.5 times better"});
  for (const LeverResult& lever : explanation.levers)
    table.add({lever.name, fmt::format("{:+.3f}", lever.elasticity),
               lever.p5 ? fmt::format("{:+.3f}", *lever.p5) : kAbsentCell,
               lever.p95 ? fmt::format("{:+.3f}", *lever.p95) : kAbsentCell,
               change_text(lever.at_low / time - 1.0), change_text(lever.at_high / time - 1.0),
               change_text(lever.improved / time - 1.0)});
  return table.text() +
         fmt::format(
             "elasticity: d ln(time) / d ln(lever), between 1/{0} and {0} of a rate or latency; other columns: "
             "change of the time.\n"
             "Every value is simulated with the same random numbers. 5 % and 95 %: over --draws of assumed "
             "ranges\n",
             kLeverStep);
}

/// What was tried on the same hardware.
std::string choice_table(const Explanation& explanation) {
  TextTable table({"choice", "for", "change"});
  std::size_t impossible = 0;
  for (const ChoiceResult& result : explanation.choices) {
    if (result.problem.empty())
      table.add({result.choice.key.what, result.choice.part,
                 change_text(-result.saving(explanation.waterfall.time))});
    else
      ++impossible;
  }
  std::string text = table.text() +
                     "change: of the time; each choice by itself, simulated on the same hardware, with as "
                     "many tokens in a step\n";
  if (impossible > 0)
    text += fmt::format("{} other choices cannot run: --json gives the reasons\n", impossible);
  return text;
}

/// The rate or latency of which 1 % saves most.
std::string binding_text(const std::vector<LeverResult>& levers, Seconds time) {
  constexpr double kLeast = 0.005;  // percent: less is printed as 0
  const LeverResult* const most = first_of(levers, &LeverResult::saving, kLeast);
  if (most == nullptr) return levers.empty() ? "" : ". 1 % of no lever saves 0.01 %";
  const bool is_rate = most->kind == LeverKind::rate;
  return fmt::format(". What binds is {}: 1 % {} saves {:.2f} %, and 1.5 times {} would save {}", most->name,
                     is_rate ? "more" : "less", most->saving(), is_rate ? "as much" : "less",
                     share_text(1.0 - most->improved / time));
}

/// The choice that saves most.
std::string choice_text(const std::vector<ChoiceResult>& choices, Seconds time) {
  const auto saving = [time](const ChoiceResult& result) { return result.saving(time); };
  constexpr double kLeast = 0.005;  // a share of the time: less is noise
  const ChoiceResult* const most = first_of(choices, saving, kLeast);
  if (most == nullptr &&
      std::ranges::any_of(choices, [](const ChoiceResult& result) { return result.problem.empty(); }))
    return ". No choice that was tried on this hardware saves more than 0.5 %";
  if (most == nullptr) return "";
  return fmt::format(". Change first, without other hardware: {}, which saves {}", most->choice.key.what,
                     share_text(saving(*most)));
}

Json method_json(const WaterfallPart& part) {
  const auto us = [](const std::optional<Seconds>& time) { return time ? Json(*time / 1.0_us) : Json(); };
  return {{"name", part.name},
          {"time_us", part.time / 1.0_us},
          {"method", name_of(part.method)},
          {"in_order_us", us(part.in_order)},
          {"reversed_us", us(part.reversed)}};
}

Json interference_json(const std::optional<InterferenceSplit>& split) {
  if (!split) return {};
  return {{"kernels_us", split->kernels / 1.0_us}, {"beside_us", split->beside / 1.0_us}};
}

}  // namespace

std::string Explanation::words() const {
  const Seconds time = waterfall.time;
  std::string text = fmt::format("{} takes {:.4g} ms", strategy, time.value * 1e3);
  if (const auto reached = waterfall.reached()) text += fmt::format(", {} of the peak", share_text(*reached));
  if (const WaterfallPart* most = first_of(waterfall.parts, &WaterfallPart::time, Seconds{}))
    text += fmt::format(". The largest part is {}: {} of the time", most->name, share_text(most->time / time));
  return text + binding_text(levers, time) + choice_text(choices, time) + ".";
}

std::string waterfall_text(const Explanation& explanation) {
  return fmt::format("{} on {}, strategy {}: mean of {} {}\n\n{}\n{}{}\n", explanation.experiment,
                     explanation.system, explanation.strategy, explanation.seeds,
                     explanation.seeds == 1 ? "seed" : "seeds", waterfall_table(explanation),
                     communication_table(explanation), path_table(explanation));
}

std::string levers_text(const Explanation& explanation) {
  std::string text;
  if (!explanation.levers.empty()) text += lever_table(explanation) + "\n";
  if (!explanation.choices.empty()) text += choice_table(explanation) + "\n";
  return text + explanation.words() + "\n";
}

std::string explain_json(const Explanation& explanation) {
  const Waterfall& fall = explanation.waterfall;
  const auto us = [](Seconds time) { return time / 1.0_us; };
  const auto optional = [](const std::optional<double>& number) { return number ? Json(*number) : Json(); };
  Json parts = Json::array(), splits = Json::array(), classes = Json::array(), levers = Json::array(),
       choices = Json::array();
  for (std::size_t part = 0; part < fall.parts.size(); ++part) {
    Json part_json = method_json(fall.parts[part]);
    part_json["peak_left"] = optional(fall.reached_before(part + 1));
    parts.push_back(std::move(part_json));
  }
  for (const CommunicationSplit& split : explanation.communication)
    splits.push_back({{"name", split.name},
                      {"exposed_us", us(split.exposed)},
                      {"waiting_us", us(split.waiting)},
                      {"latency_us", split.latency ? Json(us(*split.latency)) : Json()},
                      {"bandwidth_us", split.bandwidth ? Json(us(*split.bandwidth)) : Json()}});
  for (const PathClass& path_class : explanation.path.classes)
    classes.push_back({{"name", path_class.name},
                       {"on_path_us", us(path_class.on_path)},
                       {"on_path", path_class.on},
                       {"off_path", path_class.off},
                       {"off_path_us", us(path_class.off_path)},
                       {"least_slack_us", path_class.off > 0 ? Json(us(path_class.least_slack)) : Json()},
                       {"median_slack_us", path_class.off > 0 ? Json(us(path_class.median_slack)) : Json()}});
  for (const LeverResult& lever : explanation.levers)
    levers.push_back({{"name", lever.name},
                      {"kind", name_of(lever.kind)},
                      {"elasticity", lever.elasticity},
                      {"elasticity_p5", optional(lever.p5)},
                      {"elasticity_p95", optional(lever.p95)},
                      {"time_at_low_us", us(lever.at_low)},
                      {"time_at_high_us", us(lever.at_high)},
                      {"time_improved_us", us(lever.improved)}});
  for (const ChoiceResult& result : explanation.choices) {
    const bool runs = result.problem.empty();
    choices.push_back({{"change", result.choice.key.what},
                       {"sets", result.choice.key.sets},
                       {"part", result.choice.part},
                       {"time_us", runs ? Json(us(result.time)) : Json()},
                       {"problem", runs ? Json() : Json(result.problem)}});
  }
  const Json json{{"schema_version", kExplainJsonVersion},
                  {"experiment", explanation.experiment},
                  {"system", explanation.system},
                  {"strategy", explanation.strategy},
                  {"seeds", explanation.seeds},
                  {"time_us", us(fall.time)},
                  {"at_peak_us", fall.at_peak > Seconds{} ? Json(us(fall.at_peak)) : Json()},
                  {"reached", optional(fall.reached())},
                  {"interaction_us", us(fall.interaction())},
                  {"parts", std::move(parts)},
                  {"communication", std::move(splits)},
                  {"interference", interference_json(explanation.interference)},
                  {"critical_path",
                   {{"time_us", us(explanation.path.time)},
                    {"part", explanation.path_of.empty() ? Json() : Json(explanation.path_of)},
                    {"classes", std::move(classes)}}},
                  {"levers", std::move(levers)},
                  {"choices", std::move(choices)},
                  {"words", explanation.words()}};
  return json.dump(2) + "\n";
}

}}  // namespace c3::app
