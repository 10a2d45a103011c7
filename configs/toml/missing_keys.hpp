#pragma once
/// What a preset lacks, all of it at once.

#include "configs/toml/config_error.hpp"
#include "configs/toml/rule.hpp"
#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

/// A key that is missing, or a number that lacks its provenance. Readers stop at the first.
class IncompleteError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// \throws ConfigError that lists every key of \p rule that \p table lacks, with its unit and meaning, and
/// every number that lacks kind or source. Returns when there is none, or just one value without them, for
/// which the reader's own error is more precise. \param noun what the table is, "gpu"
void refuse_incomplete(const TableRule& rule, const Node& table, const std::string& noun);

}}  // namespace c3::configs
