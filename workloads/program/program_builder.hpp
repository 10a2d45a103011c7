#pragma once
/// Writes a program, operation by operation, one script after another.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// What the random draws of an operation depend on: its stream's name, its own, and how many of that name came
/// before it on the stream. Positions do not matter, so that neither the order in which streams are defined nor
/// an operation of another name changes what is drawn.
class DrawKeys {
 public:
  /// The key of the next operation \p name on \p stream.
  std::uint64_t next(std::string_view stream, std::string_view name);

 private:
  std::unordered_map<std::uint64_t, int> occurrences_;  ///< by the hash of both names
};

/// Streams and names are made at first mention. Where all ranks do the same, the program has one script and
/// begin_script is not called.
class ProgramBuilder {
 public:
  using Stream = std::size_t;

  /// What follows is the script of \p ranks, which no script before is of. Events begin anew. \param name of
  /// these ranks
  void begin_script(const std::vector<int>& ranks, std::string_view name = {});

  Stream stream(std::string_view name);
  EventId event(std::string_view name);  ///< of this script; another one at each call
  /// The same, named "name number". Quick where a script before has that name, too.
  EventId event(std::string_view name, std::uint32_t number);
  CommunicatorId communicator(std::string_view name, RankGroups groups);

  OperationPlace kernel(Stream stream, std::string_view name, const Operator& op);
  OperationPlace timed(Stream stream, std::string_view name, const TimedKernel& kernel);
  /// Scripts whose n-th collectives over the same groups are the same, on the same stream, join one call.
  OperationPlace collective(Stream stream, std::string_view name, CollectiveCall call);
  OperationPlace exchange(Stream stream, std::string_view name, Exchange exchange);
  OperationPlace host_copy(Stream stream, std::string_view name, HostCopy copy);
  OperationPlace record(Stream stream, EventId event);
  OperationPlace wait(Stream stream, EventId event);
  /// The range of the timeline to which what follows belongs.
  void set_range(std::string_view name) { range_ = this->name(name); }
  void set_host(HostProgram host) { script().host = std::move(host); }

  /// \param ranks of the program, where it has several scripts: those that no script is of do nothing.
  Program take(int ranks = 0);

 private:
  /// Finds texts that are no std::string without making one.
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  /// How a call groups ranks: size and stride of regular groups, or members.
  using Grouping = std::tuple<int, int, std::vector<int>>;

  Script& script() { return program_.scripts.back(); }
  NameId name(std::string_view text);
  OperationPlace add(Stream stream, Operation operation);
  OperationPlace add_drawn(Stream stream, Operation operation);
  CallId call_number(Stream stream, const CollectiveCall& call);

  Program program_;
  std::unordered_map<std::string, NameId, TextHash, std::equal_to<>> names_ = {{"", 0}};
  std::unordered_map<std::string, std::uint64_t, TextHash, std::equal_to<>> bases_;  ///< numbers of names
  std::unordered_map<std::uint64_t, NameId> numbered_;  ///< by the number of the name and its own
  NameId range_ = 0;
  DrawKeys draws_;                                              ///< of this script
  std::map<Grouping, std::size_t> joined_;                      ///< how many calls this script has joined
  std::map<Grouping, std::vector<std::vector<CallId>>> calls_;  ///< that are some script's n-th
  std::map<int, std::uint32_t> script_of_;                      ///< by rank
};

}}  // namespace c3::workloads
