#include "results/shell_word.hpp"

namespace c3 { inline namespace results {

std::string shell_word(const std::string& word) {
  const bool is_plain = word.find_first_not_of(
                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                            "_./=:,+-") == std::string::npos;
  if (is_plain && !word.empty()) return word;
  std::string quoted = "'";
  for (const char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}}  // namespace c3::results
