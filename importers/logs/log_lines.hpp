#pragma once
/// Lines of what jobs print.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace c3 { inline namespace importers {

/// The words of \p line, which spaces and tabs part.
std::vector<std::string_view> words_of(std::string_view line);

bool has_word(const std::vector<std::string_view>& words, std::string_view word);

/// \p line without what a launcher puts before it to say who printed it: "[1,0]<stdout>:" (mpirun
/// --tag-output), "[prterun-a-17@1,0]<stdout>: ", "0: " (srun -l), "[rank0]:" and "[default0]:" (torchrun).
std::string_view without_launcher(std::string_view line);

/// The text of \p line between \p before and the next \p after, or the line's end where \p after is empty.
/// Absent where \p before, or \p after, is not there.
std::optional<std::string_view> text_between(std::string_view line, std::string_view before,
                                             std::string_view after);

/// The whole number with which \p text begins, behind spaces. Absent where it begins with none.
template <class Number = int>
std::optional<Number> whole_at(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return std::nullopt;
  Number number{};
  const auto [end, error] = std::from_chars(text.data() + first, text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

/// Calls \p visit with the number of each line, from 1, and its text, without a byte order mark.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    visit(++number, text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}}  // namespace c3::importers
