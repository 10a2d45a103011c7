#pragma once
/// A configuration file with everything it extends and every --set applied.

#include <filesystem>
#include <span>
#include <string>

#include "configs/toml/rule.hpp"
#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

/// Reads \p path. Its root key `extends` (a path or a list of paths) names files that lie below it, relative to
/// the file, or else in the preset folders, where ".toml" may be left out ("gpus/h100-sxm"): tables merge
/// key by key, later files win, the file itself wins over all. Then each of \p sets:
///   `a.b=value`   sets a key; the value is read as TOML, else it is a string; a number in the path indexes a
///   list
///   `+a.b=value`  the same, but the key must not exist yet
///   `~a.b`        deletes a key that must exist
/// \throws ConfigError for a file that is missing, a folder, empty, binary or malformed, for a cycle of
/// `extends` (with the chain), and for a --set that does not apply.
Node load_document(const std::filesystem::path& path, std::span<const std::string> sets = {});

/// Makes a path that \p node holds absolute: it is relative to the file that names it, or to the working
/// directory on the command line.
void place_path(Node& node);

/// What `extends` may be.
Rule extends_rule();

}}  // namespace c3::configs
