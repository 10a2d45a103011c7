#pragma once
/// Values of reports on traces as cells of a table and as JSON.

#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/json.hpp"
#include "workloads/traces/picoseconds.hpp"

namespace c3 { inline namespace app {

constexpr std::string_view kUnknownCell = "-";

inline std::string ms_cell(Picoseconds time) { return fmt::format("{:.3f}", time.milliseconds()); }

inline std::string cell(const std::string& text) { return text.empty() ? std::string(kUnknownCell) : text; }

template <class T>
std::string cell(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string(kUnknownCell);
}

inline Json json_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

template <class T>
Json json_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <class Items, class Convert>
Json json_list(const Items& items, Convert convert) {
  Json list = Json::array();
  for (const auto& item : items)
    list.push_back(convert(item));
  return list;
}

}}  // namespace c3::app
