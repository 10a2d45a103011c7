#pragma once
/// Overridden keys that cannot change the times of a run, and why.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/spec.hpp"
#include "configs/fields/when.hpp"
#include "configs/jobs/run_use.hpp"
#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

/// Dotted keys of `gpu`, `node`, `library`, `fabric` and `framework` that \p document overrides: those of
/// tables that are not whole presets themselves.
std::vector<std::string> overridden_keys(const Table& document);

/// Dotted keys of these tables that \p sets (words of --set) override.
std::vector<std::string> overridden_keys(std::span<const std::string> sets);

/// What the readers of presets declare of a dotted key.
struct DeclaredKey {
  std::vector<When> used_if;  ///< when it matters: conditions of the tables that it is in, then its own
  bool is_known = false;      ///< a reader asks for it
};
DeclaredKey declared_key(std::string_view key);

/// One note for each of \p keys that changes no time of a run that asks \p use of \p cluster, which has the
/// overrides: "gpu.hbm_peak: not used here: hbm_read, .. are set; gpu.hbm_scale multiplies them all". A run of
/// kernels alone needs no more of \p cluster than its GPU. A key without a note may still have little effect.
std::vector<std::string> unused_keys(std::span<const std::string> keys, const ClusterSpec& cluster,
                                     const RunUse& use);

}}  // namespace c3::configs
