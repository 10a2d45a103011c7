#pragma once
/// A shell script cut into words, which nothing expands.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "configs/foreign/file_reading.hpp"
#include "configs/toml/config_error.hpp"

namespace c3 { inline namespace importers {

enum class ShellTokenKind : std::uint8_t {
  word,
  array,      ///< `NAME=(` or `NAME+=(`
  array_end,  ///< its bracket
  end,        ///< end of a statement: a line, `;`, `|`, `&`, `(`, `)`
  also,       ///< `&&`, `||`
};

struct ShellToken {
  ShellTokenKind kind = ShellTokenKind::word;
  std::size_t begin = 0;
  std::string_view text = {};  ///< spelled as written, quotes and all
};

/// \throws ConfigError for a quote or a bracket that does not end
std::vector<ShellToken> shell_tokens(const ForeignFile& file);

/// The places of a file's bytes. The file must outlive it.
class FilePlaces {
 public:
  explicit FilePlaces(const ForeignFile& file);
  Origin at(std::size_t offset) const;

 private:
  std::shared_ptr<const std::string> name_;
  std::string_view text_;
  std::vector<std::size_t> lines_ = {0};  ///< start of each line
};

/// The end of "$(..)", "${..}", "`..`" or "$((..))" that begins at \p begin, behind its last bracket; npos when
/// it does not end.
std::size_t end_of_expansion(std::string_view text, std::size_t begin);

}}  // namespace c3::importers
