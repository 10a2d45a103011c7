#pragma once
/// Who joins which call of a program.

#include <cstdint>
#include <vector>

#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// A call runs in those of its groups of which at least one rank joins it. If others of such a group do not, it
/// waits for them without end: a deadlock, which the simulation reports.
class Joiners {
 public:
  explicit Joiners(const Program& program);

  /// Whether the script of a rank in \p group joins \p call.
  bool any(CallId call, const std::vector<int>& group) const;
  /// Those of \p group's ranks, each once; none where there is one script.
  std::vector<std::uint32_t> scripts_of(const std::vector<int>& group) const;

 private:
  std::vector<std::uint32_t> scripts_;    ///< by rank; empty: there is one script
  std::vector<std::vector<bool>> joins_;  ///< by script and call; empty: the only script joins all
};

/// The program's calls stream by stream, those of a stream in their order.
std::vector<CallId> calls_by_stream(const Program& program);

}}  // namespace c3::workloads
