#include "results/hardware_words.hpp"

#include <algorithm>
#include <array>

namespace c3 { inline namespace results {

std::string_view compute_units_of(std::string_view slug) {
  constexpr std::array<std::string_view, 10> kNvidia{"rtx", "gh", "gb", "a", "b", "h", "l", "p", "t", "v"};
  const auto is_part = [&](std::string_view letters) {
    if (!slug.starts_with(letters)) return false;
    const std::string_view rest = slug.substr(letters.size());
    const bool is_numbered = !rest.empty() && rest.front() >= '0' && rest.front() <= '9';
    return letters == "rtx" || is_numbered;
  };
  // T3 (arXiv 2401.16677) names a study's AMD-like GPU after itself.
  return !slug.starts_with("t3-") && std::ranges::any_of(kNvidia, is_part) ? "SMs" : "CUs";
}

}}  // namespace c3::results
