#pragma once
/// When ranks end that wait for each other's messages, where those take no time.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/units.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// Rank \p first and every rank from which it hears, directly or through others, at most \p most of them: those
/// found later are left out.
std::vector<int> linked_ranks(const Program& program, int first, std::size_t most);

/// How long a message takes from one rank to another.
using MessageTime = std::function<Seconds(Bytes bytes, int from, int to)>;

/// Times of operations, by script, stream and operation.
using ProgramTimes = std::vector<std::vector<std::vector<Seconds>>>;

/// What some ranks wait for, found once; dates follow for any times of their operations. Each waits for the
/// operations before it on its stream, for events, and for the messages that it receives from others of these
/// ranks. What else holds it up only makes it later: other members of a collective, receivers, hosts, shared
/// hardware. Ranks that wait in a circle are followed until they stand still.
class LinkedPlay {
 public:
  /// \param message_time none: messages take no time
  LinkedPlay(const Program& program, const std::vector<int>& ranks, const MessageTime& message_time = {});

  /// Time until the last operation ends, where each takes the time that \p lasts gives it.
  Seconds time(const ProgramTimes& lasts) const { return time(lasts, true); }
  /// The same with messages in no time.
  Seconds time_without_messages(const ProgramTimes& lasts) const { return time(lasts, false); }

 private:
  enum class Action : std::uint8_t {
    run,     ///< the time of an operation passes
    record,  ///< the date is kept
    wait,    ///< for a date that was kept, and for a message that was sent then
  };
  /// One thing that changes the date of a stream, or keeps it.
  struct Step {
    Action action = Action::run;
    std::uint32_t stream = 0;     ///< of streams_
    std::uint32_t operation = 0;  ///< that runs, by position on its stream
    std::uint32_t kept = 0;       ///< date that is kept or waited for
    Seconds message;              ///< how long it takes
  };
  struct Stream {
    std::uint32_t script = 0;
    std::size_t number = 0;
  };
  class Player;

  Seconds time(const ProgramTimes& lasts, bool with_messages) const;

  std::vector<Stream> streams_;  ///< of all ranks
  std::vector<Step> steps_;      ///< in an order in which dates are known before they are waited for
  std::size_t kept_ = 0;         ///< dates
};

}}  // namespace c3::workloads
