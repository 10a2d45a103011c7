#pragma once
/// A program played on all ranks without time: how far each stream comes, and for what it then waits.

#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/execute/message_channel.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// A stream of a rank.
struct StreamPlace {
  int rank;
  std::size_t stream;

  auto operator<=>(const StreamPlace&) const = default;
};

/// Every operation begins and ends as soon as those before it allow: those of its stream and of its hardware
/// queue, events, members of a collective, the other end of a message, the launch by its host, which needs room
/// in the stream's launch queue. Where several threads launch, the order in a hardware queue depends on time:
/// there each stream has a queue of its own here.
class TimelessRun {
 public:
  /// \p program must outlive it. \throws InfeasibleError as enqueue_order
  /// \param library says which messages leave before they are received; nullptr: none does
  TimelessRun(const Program& program, const Strategy& strategy, int ranks,
              const CollectiveLibrarySpec* library = nullptr);

  void run();

  /// Streams that have not ended.
  std::vector<StreamPlace> waiting() const;
  bool has_ended(StreamPlace place) const { return at(place) == operations(place).size(); }
  /// Position of its next operation.
  std::size_t at(StreamPlace place) const { return rank(place).at[place.stream]; }
  /// After run(): for what \p place waits, which has not ended; nullopt: for an event that nobody records.
  std::optional<StreamPlace> blocker_of(StreamPlace place);
  /// After run(): the hardware queue in which the next operation of \p place, launched, has not had its turn;
  /// nullopt: it waits for something else.
  std::optional<std::size_t> queue_waited_in(StreamPlace place) const;

 private:
  /// A step of a thread of a host.
  struct HostPlace {
    std::size_t thread = 0, step = 0;
  };
  /// Where a script's events are recorded, and when its host launches what.
  struct ScriptIndex {
    ScriptIndex(const Script& its, bool one_by_one);
    const Script* script;
    std::size_t queues = 0;  ///< into which streams are dealt in turn; 0: it has no host
    std::vector<std::optional<std::size_t>> recorder;  ///< by event: the stream
    std::vector<std::optional<std::size_t>> thread;    ///< by event: the host's thread that records it
    std::vector<std::vector<HostPlace>> launch;        ///< by stream and operation: who launches it
  };
  struct Rank {
    const ScriptIndex* script;
    std::vector<std::size_t> at = {};  ///< by stream
    std::vector<bool> has_begun = {};  ///< by stream: that operation
    std::vector<bool> recorded = {};   ///< by event
    // Of a rank with a host:
    std::vector<std::size_t> done = {};                   ///< by thread: steps
    std::vector<std::size_t> launches = {};               ///< by stream: how many
    std::vector<std::vector<std::size_t>> number = {};    ///< by stream: of operations in their hardware queue
    std::vector<std::size_t> enqueued = {}, passed = {};  ///< by hardware queue: how many
  };
  /// How calls group ranks, the same for all that do so alike.
  struct Grouping {
    std::vector<std::vector<int>> members;  ///< by group
    std::vector<std::size_t> of_rank;       ///< group
  };
  struct CallState {
    std::shared_ptr<const Grouping> grouping;
    std::vector<std::size_t> joined = {};  ///< by group: how many have

    bool is_complete(std::size_t group) const { return joined[group] == grouping->members[group].size(); }
  };
  using ChannelKey = std::tuple<CommunicatorId, int, int>;  ///< communicator, source, target

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  const Rank& rank(StreamPlace place) const { return ranks_[index(place.rank)]; }
  const std::vector<Operation>& operations(StreamPlace place) const {
    return rank(place).script->script->streams[place.stream];
  }
  const Operation& operation(StreamPlace place) const { return operations(place)[at(place)]; }
  const std::optional<HostProgram>& host(StreamPlace place) const { return rank(place).script->script->host; }
  std::size_t group_of(StreamPlace place, CallId call) const {
    return calls_[call].grouping->of_rank[index(place.rank)];
  }

  std::shared_ptr<const Grouping> grouping_of(CallId call) const;
  bool launch(int rank);
  bool go_on(Rank& rank, std::size_t thread);
  void enqueue(Rank& rank, OperationPlace place);
  bool is_full(const Rank& rank, std::size_t stream) const;
  bool holds_its_queue(StreamPlace place) const;
  bool advance(StreamPlace place);
  bool may_begin(StreamPlace place) const;
  void begin(StreamPlace place);
  bool may_end(StreamPlace place) const;
  std::optional<StreamPlace> predecessor_of(StreamPlace place) const;
  std::optional<StreamPlace> recorder_of(EventId event, StreamPlace place) const;
  std::optional<StreamPlace> blocker_of_thread(std::size_t thread, StreamPlace place) const;
  int peer(const Exchange& exchange, StreamPlace place, const Message& message) const;
  ChannelKey channel_of(const Exchange& exchange, StreamPlace place, const Message& message) const;
  std::optional<int> absent_peer(StreamPlace place, const Exchange& exchange) const;
  int absent_member(StreamPlace place, CallId call);

  const Program& program_;
  bool serial_;
  std::vector<std::size_t> order_;  ///< of streams
  std::vector<ScriptIndex> scripts_;
  std::vector<Rank> ranks_;
  std::vector<CallState> calls_;
  std::vector<Bytes> buffers_;  ///< of a pair, by stream: for messages on it
  std::map<ChannelKey, MessageChannel> channels_;
  std::map<StreamPlace, std::vector<std::size_t>> numbers_;  ///< of the messages of an exchange that has begun
  std::map<std::pair<CallId, std::size_t>, int> absent_;     ///< by call and group, as they were asked for
  std::vector<int> awake_;                                   ///< ranks that may go on
};

}}  // namespace c3::workloads
