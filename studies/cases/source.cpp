#include "studies/cases/source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "engine/errors.hpp"
#include "files/scratch_folder.hpp"
#include "results/summary_numbers.hpp"
#include "studies/cases/own_command.hpp"
#include "studies/cases/row_functions.hpp"
#include "studies/study.hpp"
#include "workloads/analysis/step_outline.hpp"
#include "workloads/analysis/study.hpp"
#include "workloads/training/image_step.hpp"

namespace c3 { inline namespace studies {
namespace {

using namespace literals;

std::vector<std::string> settings_of(const StudyTable& table, const Cells& cells) {
  std::vector<std::string> sets;
  for (const std::string& setting : table.sets)
    if (const auto filled = cells.fill(setting, "set"))
      std::ranges::move(listed(*filled), std::back_inserter(sets));
  return sets;
}

std::filesystem::path experiment_of(const StudyCard& study, const StudyTable& table, const Cells& cells) {
  const std::string name = cells.text(table.experiment, "experiment");
  const auto slash = name.find('/');
  if (slash == std::string::npos) return study_file(study.name, name);
  return experiment_of_study(name.substr(0, slash), name.substr(slash + 1));
}

/// Every number that `c3sim run` has of the experiment: times in us, bytes. Several strategies have theirs as
/// STRATEGY.NUMBER.
std::map<std::string, double> numbers_of_run(const ExperimentFile& file) {
  const StudyResult result = run_study(
      [&](std::optional<std::uint64_t> draw) { return draw ? file.make(draw) : with_program(file.nominal()); });
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

constexpr std::string_view kScratch = "${scratch}";

/// \p words with the path of \p folder for `${scratch}`, which is made where one of them has it.
std::vector<std::string> with_scratch(std::vector<std::string> words, std::optional<ScratchFolder>& folder) {
  for (std::string& word : words) {
    const std::size_t at = word.find(kScratch);
    if (at == std::string::npos) continue;
    if (!folder) folder.emplace();
    word.replace(at, kScratch.size(), folder->path().string());
  }
  return words;
}

std::map<std::string, double> numbers_of_command(const std::vector<std::string>& words) {
  std::optional<ScratchFolder> folder;
  const ChildEnd answer = ask_c3sim(with_scratch(words, folder));
  try {
    return numbers_of_answer(answer.out);
  } catch (const JsonError&) {
    throw InfeasibleError(fmt::format("c3sim {}: {}", fmt::join(words, " "), answer.error));
  }
}

std::string name_of_element(const Json& element, std::size_t place) {
  const bool has_name = element.is_object() && element.contains("name") && element["name"].is_text();
  return has_name ? as_name(element["name"].text()) : fmt::to_string(place);
}

/// The first member where that is a text, as in `{"class": "gemm", ..}`; else empty.
std::string first_text_of(const Json& element) {
  const bool has_one =
      element.is_object() && !element.members().empty() && element.members().front().value.is_text();
  return has_one ? as_name(element.members().front().value.text()) : "";
}

void add_numbers(std::map<std::string, double>& numbers, const std::string& path, const Json& value) {
  const auto below = [&](const std::string& name) { return path.empty() ? name : path + '.' + name; };
  if (value.is_object()) {
    for (const Json::Member& member : value.members())
      add_numbers(numbers, below(as_name(member.key)), member.value);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const Json& element = value.elements()[i];
      add_numbers(numbers, below(name_of_element(element, i)), element);
      if (const std::string text = first_text_of(element); !text.empty())
        add_numbers(numbers, below(text), element);
    }
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
    if (!table.call.empty())
      return row_function(table.call, cells)(RowArguments(cells, settings_of(table, cells)));
    Places places{{"data", data.string()}, {"scratch", std::string(kScratch)}};
    if (!table.experiment.empty()) places.emplace("experiment", experiment_of(study, table, cells).string());
    if (!table.ask.empty())
      return [words = command_of(table, cells, places)] { return numbers_of_command(words); };
    if (table.experiment.empty()) return {};
    const auto file = std::make_shared<const ExperimentFile>(
        ExperimentFile::load(places.at("experiment"), settings_of(table, cells)));
    return [file] { return numbers_of_run(*file); };
  } catch (const ConfigError& error) {
    cells.fail(!table.call.empty() ? "call" : table.ask.empty() ? "experiment" : "ask", error.what());
  }
}

}}  // namespace c3::studies
