#pragma once
/// Writes a program of one script, operation by operation.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "workloads/program/program.hpp"

namespace c3::inline workloads {

/// What the random draws of an operation depend on: its stream's name, its own, and how many of that name came
/// before it on the stream. Positions do not matter, so that neither the order in which streams are defined nor
/// an operation of another name changes what is drawn.
class DrawKeys {
 public:
  /// The key of the next operation \p name on \p stream.
  std::uint64_t next(std::string_view stream, std::string_view name);

 private:
  std::map<std::pair<std::string, std::string>, int> occurrences_;
};

/// Streams, names and events are made at first mention.
class ProgramBuilder {
 public:
  using Stream = std::size_t;

  Stream stream(std::string_view name);
  EventId event(std::string_view name);  ///< another one at each call

  OperationPlace kernel(Stream stream, std::string_view name, const Operator& op);
  OperationPlace collective(Stream stream, std::string_view name, CollectiveCall call);
  OperationPlace record(Stream stream, EventId event);
  OperationPlace wait(Stream stream, EventId event);
  /// The range of the timeline to which what follows belongs.
  void set_range(std::string_view name) { range_ = this->name(name); }

  void set_host(HostProgram host) { script().host = std::move(host); }

  const Program& program() const { return program_; }
  Program take() { return std::move(program_); }

 private:
  Script& script() { return program_.scripts.front(); }
  NameId name(std::string_view text);
  OperationPlace add(Stream stream, Operation operation);

  Program program_;
  std::unordered_map<std::string, NameId> names_ = {{"", 0}};
  NameId range_ = 0;
  DrawKeys draws_;
};

}  // namespace c3::workloads
