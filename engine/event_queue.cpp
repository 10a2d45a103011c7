#include "engine/event_queue.hpp"

#include <algorithm>

namespace c3 { inline namespace engine {

void EventQueue::schedule(Entry entry, double date) {
  if (entry >= position_.size()) position_.resize(entry + 1, kAbsent);
  const Node node{date, entry};
  std::size_t position = position_[entry];
  if (position == kAbsent) {
    position = heap_.size();
    heap_.push_back(node);
    rise(position, node);
  } else if (node.before(heap_[position])) {
    rise(position, node);
  } else {
    sink(position, node);
  }
}

void EventQueue::withdraw(Entry entry) {
  if (entry >= position_.size() || position_[entry] == kAbsent) return;
  const std::size_t hole = position_[entry];
  position_[entry] = kAbsent;
  const Node last = heap_.back();
  heap_.pop_back();
  if (hole == heap_.size()) return;
  if (hole > 0 && last.before(heap_[(hole - 1) / kChildren])) {
    rise(hole, last);
  } else {
    sink(hole, last);
  }
}

void EventQueue::rise(std::size_t position, Node node) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / kChildren;
    if (!node.before(heap_[parent])) break;
    place(position, heap_[parent]);
    position = parent;
  }
  place(position, node);
}

void EventQueue::sink(std::size_t position, Node node) {
  for (;;) {
    const std::size_t first = kChildren * position + 1;
    if (first >= heap_.size()) break;
    const std::size_t end = std::min(first + kChildren, heap_.size());
    std::size_t child = first;
    for (std::size_t other = first + 1; other < end; ++other) {
      if (heap_[other].before(heap_[child])) child = other;
    }
    if (!heap_[child].before(node)) break;
    place(position, heap_[child]);
    position = child;
  }
  place(position, node);
}

}}  // namespace c3::engine
