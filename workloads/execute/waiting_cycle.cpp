#include "workloads/execute/waiting_cycle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/interrupt.hpp"
#include "workloads/execute/timeless_run.hpp"

namespace c3 { inline namespace workloads {

std::vector<StreamWait> waiting_cycle(const Program& program, const Strategy& strategy, int ranks,
                                      const CollectiveLibrarySpec* library) {
  TimelessRun played(program, strategy, ranks, library);
  played.run();
  std::map<StreamPlace, std::size_t> seen;  // and the way on which it was
  std::size_t way = 0;
  for (const StreamPlace start : played.waiting()) {
    checkpoint();
    ++way;
    std::vector<StreamWait> waits;
    for (std::optional<StreamPlace> next = start; next && !played.has_ended(*next);) {
      const auto [found, is_new] = seen.try_emplace(*next, way);
      if (!is_new && found->second < way) break;  // that one led to no circle
      if (!is_new) {                              // what leads to the circle is not part of it
        const auto is_first = [&](const StreamWait& wait) {
          return wait.rank == next->rank && wait.stream == next->stream;
        };
        waits.erase(waits.begin(), std::ranges::find_if(waits, is_first));
        return waits;
      }
      const std::optional<StreamPlace> other = played.blocker_of(*next);
      if (other)
        waits.push_back({next->rank, next->stream, played.at(*next), other->rank, other->stream,
                         played.queue_waited_in(*next)});
      next = other;
    }
  }
  return {};
}

std::string text_of(const std::vector<StreamWait>& waits, const Program& program) {
  constexpr std::size_t kNamed = 16;
  std::string text = waits.size() == 1
                         ? std::string("a stream waits for itself")
                         : fmt::format("{} streams wait for one another in a circle", waits.size());
  for (std::size_t i = 0; i < std::min(waits.size(), kNamed); ++i) {
    const StreamWait& wait = waits[i];
    const Operation& operation = program.script_of(wait.rank).streams[wait.stream][wait.operation];
    const bool is_wait = std::holds_alternative<WaitEvent>(operation.work);
    const std::string name = (is_wait ? "event " : "") + program.name_of(operation);
    const std::string queue =
        wait.hardware_queue ? fmt::format(" in hardware queue {} behind", *wait.hardware_queue) : " for";
    text += fmt::format("{} stream '{}' of rank {}, at operation {}{}, waits{} stream '{}' of rank {}",
                        i == 0 ? ":" : ";", program.streams[wait.stream], wait.rank, wait.operation,
                        name.empty() ? "" : " (" + name + ")", queue, program.streams[wait.other_stream],
                        wait.other_rank);
  }
  if (waits.size() > kNamed) text += fmt::format("; and {} more", waits.size() - kNamed);
  return text;
}

}}  // namespace c3::workloads
