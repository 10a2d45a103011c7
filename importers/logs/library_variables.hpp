#pragma once
/// Variables of NCCL and RCCL as a job had them, in the keys of c3sim: out of its log, or out of a file.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/foreign/file_reading.hpp"
#include "configs/toml/config_error.hpp"
#include "configs/toml/tree.hpp"
#include "importers/logs/library_log.hpp"

namespace c3 { inline namespace importers {

/// Tells apart variables that do something here and those that do nothing.
class VariableSorter {
 public:
  VariableSorter();

  /// Why \p name does nothing here; absent where it sets keys, which no other variable may set then.
  /// \throws ConfigError at \p at for a value that the variable does not take, or a key that another one sets
  std::optional<std::string> why_ignored(const std::string& name, const std::string& value, const Origin& at);

 private:
  Node document_;  ///< keys of the variables so far
};

/// Variables of a log.
struct SortedVariables {
  std::vector<std::pair<std::string, std::string>> used;  ///< each sets keys of its own
  std::vector<IgnoredKey> ignored;                        ///< with those whose value is not known here
};
/// \param file for messages
SortedVariables sorted(const std::map<std::string, LoggedVariable>& variables, const std::string& file);

inline constexpr std::string_view kLibraryEnvironment = "an environment of NCCL or RCCL";

/// Whether \p text has lines `NAME=value`, `export NAME=value` or `declare -x NAME=value`, blank lines and
/// comments, and nothing else, and one of the names is NCCL's or RCCL's: nccl.conf, or a file that a job
/// sources.
bool is_library_environment(std::string_view text);

/// Keys of [library.env], which c3sim takes for the keys that they stand for. When a variable is set twice the
/// last value counts, as in a shell.
/// \throws ConfigError for lines that are none of the above, and for what VariableSorter refuses; all of them
/// at once
FileReading read_library_environment(const ForeignFile& file);

}}  // namespace c3::importers
