#pragma once
/// \file
/// Finds the format of a trace by what is in it: names of files say nothing.

#include <cstdint>
#include <string>
#include <string_view>

#include "workloads/traces/json_splitter.hpp"

namespace c3 { inline namespace traces {

enum class TraceFormat : std::uint8_t {
  kineto,       ///< {"traceEvents": [..]}, or an array of events
  execution,    ///< PyTorch execution trace: {"schema": .., "nodes": [..]}
  chakra,       ///< protobuf
  chakra_json,  ///< {"workload_graph": [..]}
  operators,    ///< an operator list of c3sim: {"format": .., "operators": [..]}
  tar           ///< an archive of traces
};

constexpr std::string_view name_of(TraceFormat format) {
  switch (format) {
    case TraceFormat::kineto:
      return "Kineto trace";
    case TraceFormat::execution:
      return "PyTorch execution trace";
    case TraceFormat::chakra:
    case TraceFormat::chakra_json:
      return "Chakra trace";
    case TraceFormat::operators:
      return "c3sim operator list";
    case TraceFormat::tar:
      break;
  }
  return "tar archive";
}

/// A source whose beginning is looked at before it is read.
class PeekedSource {
 public:
  explicit PeekedSource(ByteSource source) : source_(std::move(source)) {}
  PeekedSource(const PeekedSource&) = delete;
  PeekedSource& operator=(const PeekedSource&) = delete;

  /// Reads on; what it read can be read again.
  std::size_t look(std::span<char> part);
  /// All from the start. look() is not called any more.
  std::size_t read(std::span<char> part);

 private:
  ByteSource source_;
  std::string looked_at_;
  std::size_t replayed_ = 0;
};

/// Looks at the first bytes, and in JSON at the first keys, values skipped, up to the one that decides.
/// \param file for messages. \throws TraceError for what is none of these
TraceFormat format_of(const std::string& file, PeekedSource& source);

}}  // namespace c3::traces
