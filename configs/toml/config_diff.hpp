#pragma once
/// Two configurations key by key: what c3sim diff says of the settings of two runs.

#include <optional>
#include <string>
#include <vector>

#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

/// A key whose values differ.
struct ConfigChange {
  std::string key;                 ///< with dots, elements of lists by index: "stream[0].run[1].gemm.m"
  std::optional<std::string> a;    ///< spelled as written; absent where the configuration lacks the key
  std::optional<std::string> b;    ///< likewise
  std::optional<double> relative;  ///< b / a - 1 of two numbers or quantities of one dimension, a not 0

  bool operator==(const ConfigChange&) const = default;
};

struct ConfigDiffOptions {
  double tolerance = 0.0;     ///< relative: numbers that differ by no more are equal
  bool with_sources = false;  ///< also where sourced values come from, as KEY.kind and KEY.source
};

/// Keys in the order of \p a, then those that only \p b has. Quantities are compared in SI units: "1 GiB" is
/// "1024 MiB". A sourced value is compared by its numbers, so it can equal a bare one.
std::vector<ConfigChange> config_diff(const Table& a, const Table& b, const ConfigDiffOptions& options = {});

}}  // namespace c3::configs
