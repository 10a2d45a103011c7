#include "base/nearest_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/small_letters.hpp"

namespace c3 { inline namespace base {
namespace {

/// Optimal string alignment distance (Damerau-Levenshtein without edits inside a swap).
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_back(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_back[j - 2] + 1);
    }
    std::swap(two_back, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

/// The shortest candidate that \p written begins: a name that was not ended.
std::string shortest_completion(const std::string& written, std::span<const std::string> candidates) {
  constexpr std::size_t kTellingBeginning = 3;
  std::string shortest;
  if (written.size() < kTellingBeginning) return shortest;
  for (const std::string& candidate : candidates) {
    const bool is_begun = candidate.size() > written.size() && in_small_letters(candidate).starts_with(written);
    if (is_begun && (shortest.empty() || candidate.size() < shortest.size())) shortest = candidate;
  }
  return shortest;
}

}  // namespace

std::string nearest_name(std::string_view written, std::span<const std::string> candidates) {
  constexpr std::size_t kLongest = 200;  // no name is so long, and edits take the square of it
  if (written.size() > kLongest) return "";
  const std::string lower = in_small_letters(written);
  std::string nearest = shortest_completion(lower, candidates);
  if (!nearest.empty()) return nearest;
  std::size_t fewest = std::max<std::size_t>(2, written.size() / 3);
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edits(lower, in_small_letters(candidate));
    const bool replaces_everything = distance >= std::max(written.size(), candidate.size());
    if (replaces_everything || distance > fewest) continue;
    if (nearest.empty() || distance < fewest) {
      fewest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string unknown_name(std::string_view what, std::string_view written, std::span<const std::string> known) {
  constexpr std::size_t kShown = 12;
  const std::string nearest = nearest_name(written, known);
  const std::size_t shown = nearest.empty() ? known.size() : std::min(known.size(), kShown);
  std::string list = known.empty() ? "none" : fmt::format("{}", fmt::join(known.first(shown), ", "));
  if (shown < known.size()) list += fmt::format(" and {} more", known.size() - shown);
  if (nearest.empty()) return fmt::format("unknown {} '{}'; known: {}", what, written, list);
  return fmt::format("unknown {} '{}'; did you mean '{}'? known: {}", what, written, nearest, list);
}

}}  // namespace c3::base
