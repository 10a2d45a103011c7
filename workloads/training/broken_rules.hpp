#pragma once
/// Rules that the keys of a training step break together.

#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace c3 { inline namespace workloads {

/// A rule of layouts that a step breaks.
struct BrokenRule {
  std::string key;  ///< of [training], at which to say so
  std::string what;
};

/// All of them, so that a user can mend all at once; empty: none is broken.
using BrokenRules = std::vector<BrokenRule>;

inline void add(BrokenRules& all, std::optional<BrokenRule> broken) {
  if (broken) all.push_back(*std::move(broken));
}
inline void add(BrokenRules& all, BrokenRules broken) {
  all.insert(all.end(), std::make_move_iterator(broken.begin()), std::make_move_iterator(broken.end()));
}

}}  // namespace c3::workloads
