#include "collectives/library/version.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace c3 { inline namespace collectives {
namespace {

constexpr int kLastPatch = 999;  // above every patch that was released

}  // namespace

std::optional<LibraryVersion> version_named(std::string_view text) {
  std::array<int, 3> parts{0, 0, kLastPatch};
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (count < parts.size()) {
    const auto [next, error] = std::from_chars(at, end, parts[count]);
    if (error != std::errc() || parts[count] < 0 || *at == '-') return std::nullopt;
    ++count;
    if (next == end)
      return count >= 2 ? std::optional(LibraryVersion{parts[0], parts[1], parts[2]}) : std::nullopt;
    if (*next != '.') return std::nullopt;
    at = next + 1;
  }
  return std::nullopt;
}

std::string name_of(const LibraryVersion& version) {
  if (version.patch == kLastPatch) return fmt::format("{}.{}", version.major, version.minor);
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

}}  // namespace c3::collectives
