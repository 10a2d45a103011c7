#pragma once
/// What is found of operators, once of each unlike one.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// Values by operator. Comparing shapes is slow, and a program has many operators: the one that had the same
/// name before is compared first, since operators of one name are mostly alike.
template <class Value>
class OperatorValues {
 public:
  /// The value of \p op; where none is known, what \p find returns is kept. \param name of its operation
  /// \throws what \p find throws, and keeps nothing
  template <class Find>
  const Value& of(NameId name, const Operator& op, Find find) {
    if (name >= last_.size()) last_.resize(name + 1);
    std::optional<std::size_t>& last = last_[name];
    if (last && known_[*last].op == op) return known_[*last].value;
    const auto same = std::ranges::find(known_, op, &Known::op);
    const auto number = static_cast<std::size_t>(same - known_.begin());
    if (same == known_.end()) known_.push_back({op, find()});
    last = number;  // not before, since find() may throw
    return known_[number].value;
  }
  std::size_t size() const { return known_.size(); }

 private:
  struct Known {
    Operator op;
    Value value;
  };
  std::vector<Known> known_;
  std::vector<std::optional<std::size_t>> last_;  ///< of known_, by name
};

}}  // namespace c3::workloads
