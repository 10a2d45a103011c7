#include "workloads/execute/timed_operations.hpp"

namespace c3 { inline namespace workloads {

void add_timed(std::vector<TimedOperation>& timed, const StreamProgram& stream, const Program& program,
               const std::string& kind) {
  for (std::size_t i = 0; i < stream.spans().size(); ++i) {
    const SideSpan& span = stream.spans()[i];
    if (!span.any) continue;
    const Operation& operation = stream.operations()[i];
    TimedOperation& last =
        timed.emplace_back(TimedOperation{class_of(program, operation), span.release, span.end});
    if (!communicates(operation)) continue;
    last.kind = kind;
    if (const auto late = stream.last_arrivals().find(i); late != stream.last_arrivals().end())
      last.waits_until = late->second;
  }
}

}}  // namespace c3::workloads
