#pragma once
/// \file
/// What can be wrong with traces, in one line for the user.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace c3 { inline namespace traces {

/// The place in a trace where something is wrong.
struct TracePlace {
  std::string file;
  std::optional<int> rank;
  std::optional<std::uint64_t> event;  ///< position among the events or nodes of the file, from 0
};

/// "FILE: rank R: event E: \p what", without the parts that are not known.
std::string at_place(const TracePlace& place, const std::string& what);

/// A file that is not a trace, or is damaged. Exit code 74.
class TraceError : public std::runtime_error {
 public:
  TraceError(const TracePlace& place, const std::string& what) : std::runtime_error(at_place(place, what)) {}
};

/// A file that is of no format that is read, by its first bytes or keys. Exit code 74.
class UnknownFormatError : public TraceError {
 public:
  using TraceError::TraceError;
};

/// Files that are traces, but not of one run: ranks that are there twice or missing, edges that form a cycle.
/// Exit code 3.
class TraceSetError : public TraceError {
 public:
  using TraceError::TraceError;
};

}}  // namespace c3::traces
