#include "app/time_limit.hpp"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/usage_error.hpp"

namespace c3 { inline namespace app {
namespace {

/// Seconds in \p unit; 0 for a unit that is not supported.
double unit_seconds(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 7> kUnits{
      {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}}};
  for (const auto& [name, seconds] : kUnits)
    if (name == unit) return seconds;
  return 0;
}

}  // namespace

std::optional<std::chrono::duration<double>> read_time_limit(const std::string& option,
                                                             const std::string& text) {
  if (text.empty()) return std::nullopt;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, number);
  std::string_view unit(after, static_cast<std::size_t>(end - after));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  const double seconds = number * unit_seconds(unit);
  constexpr double kLongest = 1e9;  // s: 30 years
  if (error != std::errc() || !(seconds > 0) || seconds > kLongest)
    throw UsageError(
        fmt::format("{} '{}': must be a time above 0, such as 90, \"90 s\", 2m or 1.5h", option, text));
  return std::chrono::duration<double>(seconds);
}

}}  // namespace c3::app
