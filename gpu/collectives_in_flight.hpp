#pragma once
/// How many collectives a GPU takes part in right now, and who wants to know (HypothesisSpec::overlap_loss).

#include <algorithm>
#include <vector>

namespace c3::inline gpu {

/// Told when the first collective in flight begins, and when the last ends.
class OverlapListener {
 public:
  virtual void on_overlap_change() = 0;

 protected:
  ~OverlapListener() = default;
};

class CollectivesInFlight {
 public:
  bool any() const { return count_ > 0; }

  void begin() {
    if (count_++ == 0) notify();
  }
  void end() {
    if (--count_ == 0) notify();
  }
  void add(OverlapListener& listener) { listeners_.push_back(&listener); }
  void remove(OverlapListener& listener) { std::erase(listeners_, &listener); }

 private:
  void notify() const {
    for (OverlapListener* listener : listeners_)
      listener->on_overlap_change();
  }

  int count_ = 0;
  std::vector<OverlapListener*> listeners_;
};

}  // namespace c3::gpu
