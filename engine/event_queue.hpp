#pragma once
/// Heap of dates with a handle for each entry, so that a date can be moved or withdrawn.

#include <cstdint>
#include <limits>
#include <vector>

namespace c3 { inline namespace engine {

/// Entries are small integers chosen by the caller (slots of a table). Equal dates leave in order of entry
/// number. Allocates only when it holds more entries than ever before.
class EventQueue {
 public:
  using Entry = std::uint32_t;

  bool empty() const { return heap_.empty(); }
  Entry top() const { return heap_.front().entry; }
  double top_date() const { return heap_.front().date; }

  /// Inserts \p entry, or moves it when it is there.
  void schedule(Entry entry, double date);
  /// Does nothing when \p entry is not there.
  void withdraw(Entry entry);

 private:
  struct Node {
    double date;
    Entry entry;
    bool before(const Node& other) const {
      return date != other.date ? date < other.date : entry < other.entry;
    }
  };
  static constexpr std::size_t kChildren = 4;  ///< of a node: half as many levels as with two, as many lines
  static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

  void place(std::size_t position, Node node) {
    heap_[position] = node;
    position_[node.entry] = static_cast<std::uint32_t>(position);
  }
  void rise(std::size_t position, Node node);
  void sink(std::size_t position, Node node);

  std::vector<Node> heap_;
  std::vector<std::uint32_t> position_;  ///< by entry
};

}}  // namespace c3::engine
