#pragma once
/// Releases of a communication library.

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace c3 { inline namespace collectives {

/// A release, as in "NCCL 2.26.2". The rules by which a library chooses differ from one to the next.
struct LibraryVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;

  auto operator<=>(const LibraryVersion&) const = default;
};

/// Oldest and newest release of NCCL whose rules are modelled, and of RCCL.
inline constexpr LibraryVersion kOldestNccl{2, 18, 6};
inline constexpr LibraryVersion kNewestNccl{2, 30, 7};
inline constexpr LibraryVersion kOldestRccl{2, 21, 5};
inline constexpr LibraryVersion kNewestRccl{2, 28, 3};

/// "2.26.2", or "2.26" for the last patch of that release. Absent where \p text is neither.
std::optional<LibraryVersion> version_named(std::string_view text);

/// The version's text, such as "2.26.2"; "2.26" for the last patch.
std::string name_of(const LibraryVersion& version);

}}  // namespace c3::collectives
