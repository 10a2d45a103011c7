#pragma once
/// Selects points of a sweep: conditions such as `cus <= 64 or op == "all_gather"`.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "configs/sweeps/sweep_cell.hpp"

namespace c3 { inline namespace configs {

struct FilterTerm;

/// A condition on the values of swept keys, by name; a name with a letter outside [A-Za-z0-9_.]
/// stands in `${..}`. From weak to strong: `or`; `and`; `not`; `== != < <= > >=`; `+ -`; `* /`. Texts stand in
/// quotes, numbers may have units: `size / cus >= 1 MiB`. Numbers of different units are not compared, added or
/// (except with plain numbers) multiplied.
class SweepFilter {
 public:
  /// \param text a node with a text. \param names of the values that it may use. \param key for errors.
  /// \throws ConfigError for what is no condition, and for a name that is none of \p names.
  SweepFilter(const Node& text, const std::vector<std::string>& names, std::string key = "sweep.where");

  /// \param cells a value for each of the names. \throws ConfigError for operands that do not go together.
  bool operator()(std::span<const SweepCell> cells) const;

 private:
  Origin origin_;
  std::string text_, key_;
  std::shared_ptr<const FilterTerm> root_;
};

}}  // namespace c3::configs
