#include "results/report/html.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "files/written_files.hpp"

namespace c3 { inline namespace results {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string escaped_lines(std::string_view text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    result += (begin > 0 ? "<br/>\n" : "") + escaped(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

std::string grouped_rows(std::string_view header, const std::vector<std::string>& rows) {
  std::string html;
  for (const auto& cells : rows) {
    html += html.empty() ? fmt::format(R"(<tr class="first"><th scope="rowgroup" rowspan="{}">{}</th>)",
                                       rows.size(), escaped(header))
                         : "<tr>";
    html += cells + "</tr>\n";
  }
  return html;
}

std::string table_html(std::string_view css_class, const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows) {
  std::string html = fmt::format("<div class=\"scroll\"><table class=\"{}\">\n<thead><tr>", css_class);
  for (const auto& cell : header)
    html += "<th>" + cell + "</th>";
  html += "</tr>\n</thead>\n<tbody>\n";
  for (const auto& row : rows) {
    html += fmt::format(R"(<tr><th scope="row">{}</th>)", row.front());
    for (std::size_t i = 1; i < row.size(); ++i)
      html += row[i].starts_with("<td") ? row[i] : "<td>" + row[i] + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string page_begin(std::string_view title, std::string_view style) {
  return fmt::format(
      R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
{}
<title>{}</title>
<style>
{}</style>
</head>
<body>
<main>
)",
      kPageMark, escaped(title), style);
}

namespace {

/// \p text of a number with a point, less the zeros at its end.
std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace

std::string short_number(double value) { return trimmed(fmt::format("{:.2f}", value)); }

std::string number_text(double value) {
  constexpr int kDigits = 4;
  constexpr double kSmall = 1e-5, kLarge = 1e12;
  const double size = std::abs(value);
  if (size != 0 && (size < kSmall || size >= kLarge)) return fmt::format("{:.3g}", value);
  const int before = size < 1e-12 ? 1 : static_cast<int>(std::floor(std::log10(size))) + 1;
  const int decimals = std::max(kDigits - before, 0);
  return decimals == 0 ? fmt::format("{:.0f}", value) : trimmed(fmt::format("{:.{}f}", value, decimals));
}

}}  // namespace c3::results
