#pragma once
/// Variables of a shell script, and words in which they are put in place.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "importers/recipes/shell_words.hpp"

namespace c3 { inline namespace importers {

/// A word as a program gets it.
struct ShellWord {
  std::string text;
  std::vector<std::uint32_t> at = {};  ///< place of each byte in the script
  std::string doubt = {};  ///< why nobody can say it without running the script; empty: it is certain

  std::uint32_t begin() const { return at.empty() ? 0 : at.front(); }
};

/// The parts of a word between blanks: a list of arguments may be one text.
std::vector<ShellWord> parts_of(const ShellWord& word);

struct ShellVariable {
  std::vector<ShellWord> words;  ///< an array's, or the parts of one text
  bool is_array = false;
  bool is_used = false;
};

/// The variables that a script has set so far.
class ShellValues {
 public:
  explicit ShellValues(const ForeignFile& file) : file_(file) {}

  /// The words that \p token, which is at \p begin, becomes. Unless \p is_split, it stays one word.
  std::vector<ShellWord> expanded(std::string_view token, std::size_t begin, bool is_split);

  /// \param is_added to what the variable has
  void set(const std::string& name, ShellVariable variable, bool is_added);

  /// Names in the order in which they were first set.
  const std::vector<std::string>& names() const { return names_; }
  const ShellVariable& variable(const std::string& name) const { return variables_.find(name)->second; }

 private:
  friend class ShellExpansion;

  void count(std::size_t bytes, std::size_t at);  ///< \throws ConfigError when a script grows beyond reason

  const ForeignFile& file_;
  std::map<std::string, ShellVariable, std::less<>> variables_;
  std::vector<std::string> names_;
  std::size_t bytes_ = 0;
};

/// How many bytes of \p text are a variable's name.
std::size_t length_of_name(std::string_view text);

}}  // namespace c3::importers
