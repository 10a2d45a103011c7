#pragma once
/// Which messages a program has: from whom to whom, without their number and sizes.

#include <vector>

#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// Messages of a communicator from ranks to those \p offset places after them in their groups.
struct MessageWay {
  CommunicatorId communicator = 0;
  int offset = 1;                     ///< from 0 to the size of a group, without it
  std::vector<bool> sends, receives;  ///< by script: whether its ranks do

  bool operator==(const MessageWay&) const = default;
};

/// Of \p message, which a rank sends or receives over \p communicator: places from the sender to the receiver,
/// from 0 to the size of a group, without it.
int offset_of(const Communicator& communicator, const Message& message);

/// In the order in which scripts name them first.
std::vector<MessageWay> message_ways(const Program& program);

}}  // namespace c3::workloads
