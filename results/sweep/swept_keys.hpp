#pragma once
/// The values that the keys of a sweep take, and how keys depend on each other.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/sweep/sweep_table.hpp"

namespace c3 { inline namespace results {

/// A swept key.
struct SweptKey {
  std::string name;
  std::string units = {};                ///< units of the numbers
  std::vector<double> numbers = {};      ///< the values, rising; none of a key with texts
  std::vector<std::string> labels = {};  ///< labels of the values, for people; texts in the order of the sweep
  std::vector<std::size_t> level = {};   ///< one for every row of the table: which value it has
  std::string follows = {};              ///< the key that determines this one, or empty
  bool is_given = false;    ///< it changes the work or the machine, and is no choice of how to run it
  bool is_machine = false;  ///< it changes the machine

  std::size_t levels() const { return labels.size(); }
  bool is_number() const { return !numbers.empty(); }
  bool is_free() const { return levels() > 1 && follows.empty(); }
};

/// Makes labels of values that have these units.
using LevelLabels = std::function<std::vector<std::string>(std::string_view units, std::span<const double>)>;

/// The swept keys of \p table without its seed. When keys are swept together, the one with the most values
/// stands for all; among equals the first, and among \p preferred ones if there are any.
std::vector<SweptKey> swept_keys(const SweepTable& table, const LevelLabels& labels,
                                 const std::vector<std::string>& preferred = {});

/// The value of \p axis that \p label names, spaces aside: its level, or levels() if none is.
std::size_t level_of(const SweptKey& axis, std::string_view label);

/// Rows of \p table that have one of the values of each key in \p only, a list of keys and labels.
SweepTable only_rows(const SweepTable& table, const std::vector<SweptKey>& axes,
                     const std::vector<std::pair<std::string, std::string>>& only);

/// KEY and VALUE of every --set of a command for a POSIX shell, as the table's column `command` has it.
std::vector<std::pair<std::string, std::string>> sets_of(const std::string& command);

}}  // namespace c3::results
