#include "app/import/trace_notes.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace c3 { inline namespace app {
namespace {

constexpr std::size_t kMostNamed = 3;  ///< events, processes or categories of a note

std::string listed(const std::vector<std::string>& texts) {
  const std::size_t shown = std::min(texts.size(), kMostNamed);
  return fmt::format("{}{}", fmt::join(std::span(texts).first(shown), ", "),
                     texts.size() > shown ? fmt::format(" and {} more", texts.size() - shown) : "");
}

std::string changed_durations(const Trace& trace) {
  std::vector<ChangedDuration> changes = trace.changed_durations;
  std::ranges::stable_sort(changes, {}, &ChangedDuration::event);
  std::vector<std::string> texts;
  for (const ChangedDuration& change : changes)
    texts.push_back(fmt::format("event {} '{}' from {:.3f} to {:.3f} us", change.event,
                                trace.texts.text(change.name), change.recorded.microseconds(),
                                change.taken.microseconds()));
  return fmt::format("{}: {} impossible {}, negative or beyond later work of the stream, {} cut: {}",
                     trace.file, texts.size(), texts.size() == 1 ? "duration" : "durations",
                     texts.size() == 1 ? "is" : "are", listed(texts));
}

/// Processes whose threads called the runtime.
std::vector<std::string> calling_processes(const Trace& trace) {
  std::set<std::string> processes;
  for (const TraceEvent& call : trace.calls)
    processes.insert(trace.threads[call.track].process);
  return {processes.begin(), processes.end()};
}

std::string no_gpu_work(const Trace& trace) {
  std::vector<std::pair<std::uint64_t, std::string>> unread;
  for (const auto& [category, count] : trace.unread_categories)
    unread.emplace_back(count, category.empty() ? "without a category" : fmt::format("of '{}'", category));
  std::ranges::sort(unread, std::ranges::greater{});
  std::vector<std::string> texts;
  for (const auto& [count, category] : unread)
    texts.push_back(fmt::format("{} {}", count, category));
  return fmt::format("{}: none of its {} events is a kernel, copy or memset of a CUDA or HIP GPU{}", trace.file,
                     trace.events_read,
                     texts.empty() ? "" : fmt::format("; events that are not read: {}", listed(texts)));
}

}  // namespace

std::vector<std::string> notes_on(const Trace& trace) {
  std::vector<std::string> notes;
  if (!trace.changed_durations.empty()) notes.push_back(changed_durations(trace));
  if (const std::vector<std::string> processes = calling_processes(trace); processes.size() > 1)
    notes.push_back(
        fmt::format("{}: its calls are of {} processes ({}), so that it holds several ranks, and it is read as "
                    "one: give each rank its own file",
                    trace.file, processes.size(), listed(processes)));
  if (trace.activities.empty()) notes.push_back(no_gpu_work(trace));
  return notes;
}

}}  // namespace c3::app
