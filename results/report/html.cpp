#include "results/report/html.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace c3 {

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

std::string page_begin(std::string_view title, std::string_view style) {
  return fmt::format(
      R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="generator" content="c3sim"/>
<title>{}</title>
<style>
{}</style>
</head>
<body>
<main>
)",
      escaped(title), style);
}

std::string short_number(double value) {
  auto text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string with_prefix(double value, std::string_view unit) {
  constexpr std::array kPrefixes{"", "k", "M", "G", "T", "P"};
  constexpr double kStep = 1000;
  constexpr int kDigits = 4;
  std::size_t prefix = 0;
  while (std::abs(value) >= kStep && prefix + 1 < kPrefixes.size()) {
    value /= kStep;
    ++prefix;
  }
  return fmt::format("{:.{}g} {}{}", value, kDigits, kPrefixes.at(prefix), unit);
}

}  // namespace c3
