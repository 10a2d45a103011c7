#include "workloads/pipeline/task_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

namespace c3 { inline namespace workloads {
namespace {

[[noreturn]] void refuse(const std::string& word, int chunks) {
  throw std::invalid_argument(
      fmt::format("'{}' is not a task: allowed are F, B and W with the number of a micro-batch, such as F0{}",
                  word, chunks > 1 ? ", and behind a point that of a chunk, such as F0.1" : ""));
}

/// The number at the beginning of \p text, which is cut off; -1: there is none.
int cut_number(std::string_view& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

PipelineTask task_from(const std::string& word, int chunks) {
  constexpr std::string_view kLetters = "FBW";
  const std::size_t letter = kLetters.find(word.front());
  if (letter == std::string_view::npos) refuse(word, chunks);
  std::string_view rest = std::string_view(word).substr(1);
  PipelineTask task{.pass = static_cast<PipelinePass>(letter), .micro_batch = cut_number(rest)};
  if (chunks > 1 && rest.starts_with('.')) {
    rest.remove_prefix(1);
    task.chunk = cut_number(rest);
  }
  if (task.micro_batch < 0 || task.chunk < 0 || !rest.empty()) refuse(word, chunks);
  return task;
}

}  // namespace

PipelineSchedule schedule_from(std::span<const std::string> table, int chunks) {
  PipelineSchedule schedule{.chunks = chunks, .splits_backward = has_weights_passes(table), .tasks = {}};
  for (const std::string& line : table) {
    std::vector<PipelineTask>& tasks = schedule.tasks.emplace_back();
    std::istringstream words(line);
    for (std::string word; words >> word;)
      tasks.push_back(task_from(word, chunks));
  }
  return schedule;
}

bool has_weights_passes(std::span<const std::string> table) {
  return std::ranges::any_of(table,
                             [](const std::string& line) { return line.find('W') != std::string::npos; });
}

}}  // namespace c3::workloads
