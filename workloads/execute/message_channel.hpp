#pragma once
/// Messages from one rank to another, without time.

#include <cstddef>
#include <vector>

#include "engine/units.hpp"

namespace c3 { inline namespace workloads {

/// Which of the messages that have been sent and received have left their sender. The n-th that is sent is the
/// n-th that is received. A message of no more than the buffer leaves as soon as those before it that have not
/// been received leave room for it, a larger one when it is received.
class MessageChannel {
 public:
  explicit MessageChannel(Bytes buffer = {}) : buffer_(buffer) {}

  /// A send has begun. \return the number of its message
  std::size_t send(Bytes bytes) {
    sent_.push_back({bytes, bytes <= buffer_, false});
    settle();
    return sent_.size() - 1;
  }
  /// A receive has begun. \return the number of its message
  std::size_t receive() {
    ++received_;
    settle();
    return received_ - 1;
  }

  /// Whether the send of message \p number may end.
  bool has_left(std::size_t number) const {
    return number < sent_.size() &&
           (sent_[number].has_left || (!sent_[number].is_buffered && number < received_));
  }
  /// Whether its receive may.
  bool has_come(std::size_t number) const { return number < received_ && has_left(number); }

 private:
  struct Sent {
    Bytes bytes;
    bool is_buffered;
    bool has_left;  ///< into the buffer
  };

  // What is received makes room for what waits, in order.
  void settle() {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (; next_ < sent_.size(); ++next_, goes_on = true) {
        Sent& message = sent_[next_];
        if (!message.is_buffered) continue;
        if (used_ + message.bytes > buffer_) break;
        used_ += message.bytes;
        message.has_left = true;
      }
      for (; out_ < sent_.size() && has_come(out_); ++out_, goes_on = true) {
        if (sent_[out_].is_buffered) used_ -= sent_[out_].bytes;
      }
    }
  }

  Bytes buffer_, used_;
  std::vector<Sent> sent_;
  std::size_t received_ = 0;
  std::size_t next_ = 0;  ///< the first that has not been given room; a rendezvous needs none
  std::size_t out_ = 0;   ///< the first that has not been received
};

}}  // namespace c3::workloads
