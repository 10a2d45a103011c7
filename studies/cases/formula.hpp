#pragma once
/// Formulas of named numbers, as cards of studies have them.

#include <functional>
#include <set>
#include <string>

namespace c3 { inline namespace studies {

/// As muParser reads it: + - * / ^, comparisons, `a ? b : c`, abs, sqrt, exp, ln, log10, min, max, sum, avg and
/// others; names are letters, digits, `_`, `.` and `:`.
class Formula {
 public:
  /// \throws std::invalid_argument that says what is wrong where
  explicit Formula(const std::string& text);

  /// The names of numbers that it needs.
  const std::set<std::string>& names() const { return names_; }

  /// \param number asked once for each name. NaN where a number is.
  double value(const std::function<double(const std::string& name)>& number) const;

 private:
  std::string text_;
  std::set<std::string> names_;
};

}}  // namespace c3::studies
