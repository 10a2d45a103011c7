#pragma once
/// The conditions of keys (configs/fields/when.hpp), asked of a run.

#include <optional>
#include <string>
#include <string_view>

#include "collectives/spec.hpp"
#include "configs/fields/when.hpp"
#include "configs/jobs/run_use.hpp"

namespace c3 { inline namespace configs {

/// Whether a run of `use` on `cluster`, of which a kernel alone needs the GPU only, depends on a key.
struct Question {
  const ClusterSpec& cluster;
  const RunUse& use;
  std::string_view key;  ///< name in its table

  /// Data type of a matrix rate, "bf16".
  std::string_view data_type() const { return key.substr(0, key.find('_')); }
};

/// Why \p condition does not hold; absent where it holds.
std::optional<std::string> why_not(When condition, const Question& question);

}}  // namespace c3::configs
