#pragma once
/// When ranks end that wait for each other's messages, where those take no time.

#include <functional>
#include <vector>

#include "engine/units.hpp"
#include "workloads/program/program.hpp"

namespace c3::inline workloads {

/// Rank \p first and every rank from which it hears, directly or through others, at most \p most of them: those
/// found later are left out.
std::vector<int> linked_ranks(const Program& program, int first, std::size_t most);

/// How long a message takes from one rank to another.
using MessageTime = std::function<Seconds(Bytes bytes, int from, int to)>;

/// Until the last operation of \p ranks ends, where each takes the time that \p lasts gives it (by script,
/// stream and operation), messages what \p message_time says or none, and each waits for the operations before
/// it on its stream, for events, and for the messages that it receives from others of \p ranks. What else holds
/// it up only makes it later: other members of a collective, receivers, hosts, shared hardware. Of ranks that
/// wait in a circle, until they stand still.
Seconds linked_time(const Program& program, const std::vector<int>& ranks,
                    const std::vector<std::vector<std::vector<Seconds>>>& lasts,
                    const MessageTime& message_time = {});

}  // namespace c3::workloads
