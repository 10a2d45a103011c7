#pragma once
/// Text for HTML and for the SVG in it.

#include <string>
#include <string_view>
#include <vector>

namespace c3 { inline namespace results {

/// With the five characters that mean something in markup replaced.
std::string escaped(std::string_view text);
/// Escaped, with a break between lines.
std::string escaped_lines(std::string_view text);
/// All of a page before and after what is in its <main>. \p title is escaped here, \p style is not.
std::string page_begin(std::string_view title, std::string_view style);
inline constexpr const char* kPageEnd = "</main>\n</body>\n</html>\n";
/// Rows of a table that have one header cell together. Each of \p rows is its other cells.
std::string grouped_rows(std::string_view header, const std::vector<std::string>& rows);
/// A table that scrolls where it is wider than the page. Cells are markup; one that begins with "<td" is a
/// complete cell. The first cell of a row is its header.
std::string table_html(std::string_view css_class, const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows);
/// At most two decimals and no zeros at the end: "12.5", "3", "0".
std::string short_number(double value);
/// At least four digits, no zeros at the end, no exponent unless it is very small or large: "12340", "0.01235".
std::string number_text(double value);

}}  // namespace c3::results
