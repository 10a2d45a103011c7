#pragma once
/// Lists of names as Slurm writes them: "gpu[001-128,140],login".

#include <string>
#include <string_view>
#include <vector>

namespace c3 { inline namespace importers {

/// Most names of one list.
inline constexpr std::size_t kMostHosts = 100'000;

/// The names of \p list, several brackets in one name included. \throws std::invalid_argument saying what is
/// wrong: brackets that do not fit, ranges that go backwards, more than kMostHosts names
std::vector<std::string> expand_hosts(std::string_view list);

}}  // namespace c3::importers
