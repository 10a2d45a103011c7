#pragma once
/// Another program, run to its end.

#include <cstdint>
#include <span>
#include <string>

namespace c3 { inline namespace files {

/// What a program has printed, how it ended, and what it took.
struct ChildEnd {
  std::string out;    ///< stdout
  std::string error;  ///< stderr without ends of lines
  int exit_code = 0;
  int signal = 0;             ///< the signal that ended the program; 0: none
  double user_seconds = 0.0;  ///< CPU time, including all children it has waited for
  std::uint64_t peak_rss_bytes = 0;
};

/// Runs \p program with \p words after its name, and waits. \throws IoError when it cannot be started
ChildEnd run_child(const std::string& program, std::span<const std::string> words);

}}  // namespace c3::files
