#pragma once
/// Formulas of named numbers, as cards of studies have them.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace c3 { inline namespace studies {

/// \p text with a 1 or a 0 for each `'a' == 'b'` and `'a' != 'b'`.
std::string with_texts_compared(std::string text);

/// A formula that muParser reads: + - * / ^, comparisons, `a ? b : c`, abs, sqrt, exp, ln, log10, min, max,
/// sum, avg and others; names are letters, digits, `_`, `.` and `:`, and before a `:` whatever stands in
/// brackets, as in `[h100-sxm, 8 SMs]:time`. `'a' == 'b'` and `'a' != 'b'` compare texts.
class Formula {
 public:
  /// \throws std::invalid_argument that says what is wrong where
  explicit Formula(const std::string& text);

  /// The names of numbers that it needs.
  std::set<std::string> names() const;

  /// \param number asked once for each name. NaN where a number is.
  double value(const std::function<double(const std::string& name)>& number) const;

 private:
  std::string text_;                          ///< as muParser reads it
  std::map<std::string, std::string> names_;  ///< by what `text_` has for them
};

/// \p text as the name of a number: letters that names cannot have are `_`.
std::string as_name(std::string_view text);

}}  // namespace c3::studies
