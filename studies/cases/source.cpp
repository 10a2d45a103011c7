#include "studies/cases/source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "engine/errors.hpp"
#include "results/summary_numbers.hpp"
#include "studies/cases/own_command.hpp"
#include "studies/study.hpp"
#include "workloads/analysis/study.hpp"
#include "workloads/training/image_step.hpp"

namespace c3 { inline namespace studies {
namespace {

using namespace literals;

/// "a=1; b=2" as two.
void append_settings(std::vector<std::string>& sets, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    if (const std::string_view set = trimmed(text.substr(0, end)); !set.empty()) sets.emplace_back(set);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<std::string> settings_of(const StudyTable& table, const Cells& cells) {
  std::vector<std::string> sets;
  for (const std::string& each : table.sets)
    if (const auto filled = cells.fill(each, "set")) append_settings(sets, *filled);
  return sets;
}

std::filesystem::path experiment_of(const StudyCard& study, const StudyTable& table, const Cells& cells) {
  const std::string name = cells.text(table.experiment, "experiment");
  const auto slash = name.find('/');
  if (slash == std::string::npos) return study_file(study.name, name);
  return experiment_of_study(name.substr(0, slash), name.substr(slash + 1));
}

/// Every number that `c3sim run` has of the experiment: times in us, bytes. Of several strategies as
/// STRATEGY.NUMBER.
std::map<std::string, double> numbers_of_run(const ExperimentFile& file) {
  const StudyResult result = run_study([&](std::optional<std::uint64_t> draw) { return file.make(draw); });
  std::map<std::string, double> numbers{{"gpus", file.sketch().cluster.ranks()}};
  if (const auto images = file.image_network())
    numbers.emplace("memory_peak", memory_of(*images, 1).peak.held.value);
  for (const StrategyResult& strategy : result.strategies) {
    const std::string prefix = result.strategies.size() == 1 ? "" : strategy.name + ".";
    for (const SummaryNumber& number : all_numbers(strategy))
      numbers.emplace(prefix + number.name, number.number());
    if (strategy.classes.empty()) continue;
    // A step that is no transformer's has no summary of its parts.
    const StepBreakdown& times = strategy.classes.front().times;
    for (const auto& [name, time] :
         {std::pair("communication", times.communication), {"exposed", times.exposed}, {"idle", times.idle}})
      numbers.emplace(prefix + name, time / 1.0_us);
  }
  return numbers;
}

/// The words of the row's command. A word that names an empty cell is left out, and an option before it.
std::vector<std::string> command_of(const StudyTable& table, const Cells& cells, const Places& places) {
  std::vector<std::string> words;
  std::istringstream ask(table.ask);
  for (std::string word; ask >> word;) {
    if (auto filled = cells.fill(word, "ask", places))
      words.push_back(std::move(*filled));
    else if (!words.empty() && words.back().starts_with('-'))
      words.pop_back();
  }
  for (std::string& set : settings_of(table, cells)) {
    words.emplace_back("--set");
    words.push_back(std::move(set));
  }
  words.emplace_back("--json");
  return words;
}

std::map<std::string, double> numbers_of_command(const std::vector<std::string>& words) {
  const CommandAnswer answer = ask_c3sim(words);
  try {
    return numbers_of_answer(answer.out);
  } catch (const JsonError&) {
    throw InfeasibleError(fmt::format("c3sim {}: {}", fmt::join(words, " "), answer.error));
  }
}

/// As formulas may have it.
std::string as_name(std::string_view key) {
  std::string name(key);
  std::ranges::replace_if(
      name, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; }, '_');
  return name;
}

std::string name_of_element(const Json& element, std::size_t place) {
  const bool has_name = element.is_object() && element.contains("name") && element["name"].is_text();
  return has_name ? as_name(element["name"].text()) : fmt::to_string(place);
}

void add_numbers(std::map<std::string, double>& numbers, const std::string& path, const Json& value) {
  const auto below = [&](const std::string& name) { return path.empty() ? name : path + '.' + name; };
  if (value.is_object()) {
    for (const Json::Member& member : value.members())
      add_numbers(numbers, below(as_name(member.key)), member.value);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      add_numbers(numbers, below(name_of_element(value.elements()[i], i)), value.elements()[i]);
  } else if (value.is_number()) {
    numbers.emplace(path, value.number());
  } else if (value == Json(true) || value == Json(false)) {
    numbers.emplace(path, value == Json(true) ? 1.0 : 0.0);
  }
}

}  // namespace

std::map<std::string, double> numbers_of_answer(std::string_view json) {
  std::map<std::string, double> numbers;
  add_numbers(numbers, "", Json::parse(json));
  return numbers;
}

NumberSource source_of(const StudyCard& study, const StudyTable& table, const Cells& cells,
                       const std::filesystem::path& data) {
  try {
    Places places{{"data", data.string()}};
    if (!table.experiment.empty()) places.emplace("experiment", experiment_of(study, table, cells).string());
    if (!table.ask.empty())
      return [words = command_of(table, cells, places)] { return numbers_of_command(words); };
    if (table.experiment.empty()) return {};
    const auto file = std::make_shared<const ExperimentFile>(
        ExperimentFile::load(places.at("experiment"), settings_of(table, cells)));
    return [file] { return numbers_of_run(*file); };
  } catch (const ConfigError& error) {
    cells.fail(table.ask.empty() ? "experiment" : "ask", error.what());
  }
}

}}  // namespace c3::studies
