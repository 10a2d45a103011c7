#pragma once
/// Messages that wait in a buffer of the library until they are received.

#include <deque>
#include <string>

#include "collectives/spec.hpp"
#include "engine/event.hpp"
#include "engine/units.hpp"

namespace c3 { inline namespace collectives {

/// The end of a message that a run plays.
enum class PairEnd {
  both,      ///< a rendezvous, or no message
  sender,    ///< writes a buffered message to the receiver's buffer
  receiver,  ///< copies it out of the buffer
};

/// Whether a message leaves its sender before it is received. Copy engines write to where it belongs, which the
/// receiver alone knows.
inline bool is_buffered(Backend backend, Bytes bytes, const CollectiveLibrarySpec& library) {
  return backend == Backend::cu && bytes <= library.pair_buffer;
}

class MessageBuffer;

/// A message in a buffer; its sender's run and its receiver's run share it.
struct BufferedMessage {
  BufferedMessage(Simulation& simulation, MessageBuffer& its_buffer, Bytes size, const std::string& name)
      : buffer(its_buffer),
        bytes(size),
        has_room(simulation, "room in the buffer for " + name),
        has_come(simulation, "the arrival of " + name) {}

  MessageBuffer& buffer;
  Bytes bytes;
  Event has_room;           ///< its sender may write
  Event has_come;           ///< all of it is in the buffer
  Seconds moves_from = {};  ///< when its sender began to write it, latest of its channels; 0: it has not
};

/// What the library keeps of one pair of ranks, in one direction. Room is given in the order in which it is
/// asked for.
class MessageBuffer {
 public:
  explicit MessageBuffer(Bytes size) : size_(size) {}

  /// \p message, of at most the buffer's size, must live until it is freed or the run ends.
  void ask(BufferedMessage& message) {
    waiting_.push_back(&message);
    give();
  }
  /// \p message has been copied out.
  void free(const BufferedMessage& message) {
    used_ -= message.bytes;
    give();
  }

 private:
  void give() {
    while (!waiting_.empty() && used_ + waiting_.front()->bytes <= size_) {
      used_ += waiting_.front()->bytes;
      waiting_.front()->has_room.set();
      waiting_.pop_front();
    }
  }

  Bytes size_, used_;
  std::deque<BufferedMessage*> waiting_;
};

}}  // namespace c3::collectives
