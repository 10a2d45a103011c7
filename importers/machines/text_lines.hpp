#pragma once
/// Lines of a text that a tool prints, word by word, with the place of each.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "configs/foreign/file_reading.hpp"
#include "configs/toml/config_error.hpp"

namespace c3 { inline namespace importers {

/// Goes through a text once. Sequences that colour a terminal count as blanks.
class TextLines {
 public:
  /// Both must outlive it.
  TextLines(std::string_view text, const std::string& file);

  /// Goes to the next line. \returns whether there is one
  bool next();
  /// Without its end.
  std::string_view line() const { return line_; }
  std::uint32_t number() const { return number_; }
  /// Words of the line. Those of one line are gone with the next.
  const std::vector<std::string_view>& words() const { return words_; }

  /// The place of \p part, which is in the line; an empty part at the line's end is behind it.
  Origin place(std::string_view part) const;
  Origin begin() const { return {file_, 1, 1}; }

 private:
  void split();

  std::string_view rest_;
  std::shared_ptr<const std::string> file_;
  std::string_view line_ = {};
  std::uint32_t number_ = 0;
  std::vector<std::string_view> words_ = {};
};

/// The number that is all of \p text, from 0 to \p most; -1: it is none.
int whole_number(std::string_view text, int most);

/// The number behind \p prefix, as 3 of "GPU3"; -1: \p text is not such a name.
int numbered(std::string_view text, std::string_view prefix);

}}  // namespace c3::importers
