#pragma once
/// Which numbers are joined to one another, directly or through others.

#include <cstddef>
#include <numeric>
#include <vector>

namespace c3 { inline namespace base {

/// Numbers from 0 to a count, without it; first each is joined to itself alone (union-find, with halved paths).
class JoinedNumbers {
 public:
  explicit JoinedNumbers(std::size_t count) : next_(count) {
    std::iota(next_.begin(), next_.end(), std::size_t{});
  }

  void join(std::size_t a, std::size_t b) { next_[find(a)] = find(b); }
  /// One of those to which \p number is joined, the same for all of them.
  std::size_t find(std::size_t number) {
    while (next_[number] != number)
      number = next_[number] = next_[next_[number]];
    return number;
  }

 private:
  std::vector<std::size_t> next_;
};

}}  // namespace c3::base
