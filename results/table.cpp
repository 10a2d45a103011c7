#include "results/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "results/recommendation.hpp"
#include "results/run_words.hpp"
#include "results/step_cells.hpp"
#include "results/study_cells.hpp"
#include "results/text_table.hpp"
#include "results/throughput_cells.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr std::size_t kWidth = 110;

/// The first column and those from \p begin to before \p end.
TextTable table_of(const StudyCells& cells, std::size_t begin, std::size_t end) {
  const auto part = [&](const std::vector<std::string>& row) {
    std::vector<std::string> cells_of_row = {row.front()};
    for (std::size_t i = begin; i < end; ++i)
      cells_of_row.push_back(row[i]);
    return cells_of_row;
  };
  TextTable table(part(cells.header));
  for (const auto& row : cells.rows)
    table.add(part(row));
  return table;
}

std::string format_cells(const StudyCells& cells) {
  return table_of(cells, 1, cells.header.size()).text() + cells.notes;
}

/// Lines of at most \p width characters, the later ones indented.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string result, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      result += line + '\n';
      line = " ";
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + line + '\n';
}

/// Prints as many columns at a time as fit beside the first.
std::string format_columns(const StudyCells& cells) {
  std::string text;
  for (std::size_t begin = 1; begin < cells.header.size();) {
    std::size_t end = begin + 1;
    while (end < cells.header.size() && table_of(cells, begin, end + 1).width() <= kWidth)
      ++end;
    text += table_of(cells, begin, end).text();
    begin = end;
  }
  return text + cells.notes;
}

std::string format_step(const StudyResult& study) {
  const StepResult* const step = first_step(study);
  if (step == nullptr) return "";
  const StudyCells bubbles = bubble_cells(study);
  return '\n' + format_cells(step_cells(study)) + (bubbles.rows.empty() ? "" : '\n' + format_cells(bubbles)) +
         '\n' + format_columns(class_cells(study)) + '\n' + format_memory(step->facts);
}

/// Each note once, with the strategies that have it.
std::string strategy_notes(const StudyResult& study) {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;
  for (const StrategyResult& strategy : study.strategies) {
    for (const std::string& note : strategy.notes) {
      auto same = std::ranges::find(all, note, [](const auto& known) { return known.first; });
      if (same == all.end()) same = all.insert(all.end(), {note, {}});
      same->second.push_back(strategy.name);
    }
  }
  std::string text;
  for (const auto& [note, strategies] : all)
    text += wrapped(fmt::format("{}: {}", fmt::join(strategies, ", "), note), kWidth);
  return text;
}

/// "2.1 GB of mlp.gate_up (activations)"
std::string tenants_text(const std::vector<MemoryTenant>& tenants) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(kNamed, tenants.size()); ++i)
    texts.push_back(fmt::format("{:.1f} GB of {} ({})", tenants[i].bytes / 1.0_GB, tenants[i].name,
                                name_of(tenants[i].memory_class)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string draws_text(const std::vector<std::uint64_t>& draws) {
  if (draws.empty()) return "";
  return fmt::format(" in draw{} {}", draws.size() == 1 ? "" : "s", fmt::join(draws, ", "));
}

/// "NAME on SYSTEM: 7 strategies, each the median of 8 seeds"
std::string headline(const StudyResult& study) {
  const std::size_t strategies = study.strategies.size();
  return fmt::format("{} on {}: {} strateg{}, {}{}", study.experiment, study.conditions.system, strategies,
                     strategies == 1 ? "y" : "ies", study.conditions.is_repeated() ? "median of " : "",
                     repetitions_text(study.conditions));
}

}  // namespace

std::string format_memory(const StepFacts& step) {
  return format_cells(memory_cells(step)) + '\n' + format_cells(tenant_cells(step));
}

std::string format_out_of_memory(const OutOfMemory& verdict) {
  const MemoryPeak& peak = verdict.step.memory;
  const std::string sentence = fmt::format(
      "{} does not fit{}: it needs {:.1f} GB of {:.1f} GB, of which {:.1f} GB are tensors at '{}'; largest: {}",
      verdict.experiment, draws_text(verdict.draws), peak.held / 1.0_GB, verdict.step.memory_size / 1.0_GB,
      peak.bytes / 1.0_GB, peak.moment, tenants_text(peak.tenants));
  return format_memory(verdict.step) + '\n' + wrapped(sentence, kWidth);
}

std::string format_study(const StudyResult& study, const std::vector<ImpossibleStrategy>& impossible) {
  std::string text = headline(study) + "\n\n" + format_cells(time_cells(study));
  for (const ImpossibleStrategy& strategy : impossible)
    text += wrapped(fmt::format("{} cannot run: {}", strategy.name, strategy.why), kWidth);
  text += format_step(study);
  for (const StudyCells& cells :
       {throughput_cells(study), stream_cells(study), rank_cells(study), loss_cells(study)})
    if (!cells.rows.empty()) text += '\n' + format_cells(cells);
  const std::string notes = strategy_notes(study);
  if (!notes.empty()) text += '\n' + notes;
  text += fmt::format("\nmodelled with {}\n", conditions_text(study.conditions));
  std::vector<std::string> reasons = run_words(study);
  if (const auto recommendation = recommend(study)) reasons.push_back(recommendation_text(*recommendation));
  if (!reasons.empty()) text += '\n';
  for (const std::string& reason : reasons)
    text += wrapped(reason, kWidth);
  return text;
}

}}  // namespace c3::results
