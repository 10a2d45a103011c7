#pragma once
/// The names of an enumeration's values, as files, options and tables have them: one list beside the
/// enumeration.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace c3 { inline namespace base {

template <class E>
using EnumName = std::pair<std::string_view, E>;

/// The names of E in the order in which users read them. The first name of a value is the one that is written;
/// others are read too. A function beside each enumeration that has names, found by its argument:
/// `constexpr auto enum_names(Pass) { return std::to_array<EnumName<Pass>>({{"forward", Pass::forward}, ..});
/// }`
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E value) { enum_names(value); };

template <NamedEnum E>
inline constexpr auto kEnumNames = enum_names(E{});

/// \throws std::logic_error for a value that is not in the list.
template <NamedEnum E>
constexpr std::string_view name_of(E value) {
  for (const auto& [name, named] : kEnumNames<E>) {
    if (named == value) return name;
  }
  throw std::logic_error("an enumeration's list of names lacks a value");
}

/// Every value once, in the order of the names.
template <NamedEnum E>
constexpr auto enum_values() {
  constexpr auto is_first = [](std::size_t i) {
    const auto begin = kEnumNames<E>.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(i);
    return std::find_if(begin, end,
                        [&](const auto& other) { return other.second == kEnumNames<E>[i].second; }) == end;
  };
  constexpr std::size_t count = [is_first] {
    std::size_t found = 0;
    for (std::size_t i = 0; i < kEnumNames<E>.size(); ++i)
      found += is_first(i) ? 1 : 0;
    return found;
  }();
  std::array<E, count> values{};
  std::size_t at = 0;
  for (std::size_t i = 0; i < kEnumNames<E>.size(); ++i) {
    if (is_first(i)) values[at++] = kEnumNames<E>[i].second;
  }
  return values;
}

/// The value with this name; nullopt: none has it.
template <NamedEnum E>
constexpr std::optional<E> value_named(std::string_view written) {
  for (const auto& [name, value] : kEnumNames<E>) {
    if (name == written) return value;
  }
  return std::nullopt;
}

/// Every name, for a message that lists what is allowed.
template <NamedEnum E>
std::vector<std::string> names_listed() {
  std::vector<std::string> names;
  for (const auto& [name, value] : kEnumNames<E>)
    names.emplace_back(name);
  return names;
}

}}  // namespace c3::base
