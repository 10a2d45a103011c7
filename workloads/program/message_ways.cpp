#include "workloads/program/message_ways.hpp"

#include <algorithm>

namespace c3 { inline namespace workloads {

int offset_of(const Communicator& communicator, const Message& message) {
  const int size = communicator.groups.size;
  const int offset = (message.sends ? message.offset : -message.offset) % size;
  return offset < 0 ? offset + size : offset;
}

std::vector<MessageWay> message_ways(const Program& program) {
  std::vector<MessageWay> ways;
  const std::size_t scripts = program.scripts.size();
  const auto way_of = [&](CommunicatorId communicator, int offset) -> MessageWay& {
    const auto found = std::ranges::find_if(
        ways, [&](const MessageWay& way) { return way.communicator == communicator && way.offset == offset; });
    if (found != ways.end()) return *found;
    return ways.emplace_back(
        MessageWay{communicator, offset, std::vector<bool>(scripts), std::vector<bool>(scripts)});
  };
  for (std::size_t script = 0; script < scripts; ++script) {
    for_each_operation(program.scripts[script], [&](const Operation& operation) {
      const auto* exchange = std::get_if<Exchange>(&operation.work);
      if (exchange == nullptr) return;
      for (const Message& message : exchange->messages) {
        MessageWay& way =
            way_of(exchange->communicator, offset_of(program.communicators[exchange->communicator], message));
        (message.sends ? way.sends : way.receives)[script] = true;
      }
    });
  }
  return ways;
}

}}  // namespace c3::workloads
