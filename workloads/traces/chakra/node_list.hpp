#pragma once
/// Nodes of a Chakra trace as they are read, in either form.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/traces/chakra/chakra_trace.hpp"

namespace c3 { inline namespace traces {

class ChakraNodeList {
 public:
  explicit ChakraNodeList(const std::string& file) { trace_.file = file; }

  ChakraTrace& trace() { return trace_; }
  /// Position of the node that is read, for messages.
  void begin_node(std::uint64_t position) { position_ = position; }
  [[noreturn]] void fail(const std::string& what) const;

  /// Sets the attribute \p name of \p node if it is one that is kept.
  void set(ChakraNode& node, std::string_view name, std::int64_t number);
  void set(ChakraNode& node, std::string_view name, std::string_view text);
  /// An attribute of the file.
  void set_metadata(std::string_view name, std::string_view text);
  void set_metadata(std::string_view name, std::int64_t number);
  /// \throws TraceError if it is more than 50 days
  Picoseconds time(std::uint64_t microseconds, std::string_view name) const;
  void add(ChakraNode node, const std::vector<std::uint64_t>& control, const std::vector<std::uint64_t>& data);

  /// \throws TraceError for an id that is there twice, and if there are no nodes
  ChakraTrace take();

 private:
  ChakraTrace trace_;
  std::uint64_t position_ = 0;
};

}}  // namespace c3::traces
