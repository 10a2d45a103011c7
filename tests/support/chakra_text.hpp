#pragma once
/// Small Chakra traces, made by tests, in their protobuf form.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/trace_text.hpp"
#include "workloads/traces/chakra/chakra_reader.hpp"

namespace c3 {

inline std::string varint_text(std::uint64_t number) {
  std::string text;
  for (; number > 0x7F; number >>= 7U)
    text.push_back(static_cast<char>(0x80U | (number & 0x7FU)));
  text.push_back(static_cast<char>(number));
  return text;
}
inline std::string field_text(unsigned field, std::uint64_t value) {
  return varint_text(field << 3U) + varint_text(value);
}
inline std::string field_text(unsigned field, const std::string& value) {
  return varint_text(field << 3U | 2U) + varint_text(value.size()) + value;
}
/// With its length before it.
inline std::string message_text(const std::string& fields) { return varint_text(fields.size()) + fields; }

/// Fields of the oneof of an attribute.
enum class ChakraInteger : unsigned { int32 = 7, int64 = 9, uint32 = 11, uint64 = 13, boolean = 27 };

struct ChakraNodeText {
  std::uint64_t id = 0;
  unsigned type = 4;
  std::uint64_t duration = 0;  ///< [us]
  std::vector<std::uint64_t> data = {};
  std::vector<std::uint64_t> control = {};
  std::vector<std::pair<std::string, std::uint64_t>> attributes = {};
  std::string name = "n";
  ChakraInteger integer = ChakraInteger::int64;

  std::string text() const {
    std::string fields = field_text(1, id) + field_text(2, name) + field_text(3, type);
    std::string packed;
    for (const std::uint64_t other : control)
      packed += varint_text(other);
    if (!packed.empty()) fields += field_text(4, packed);
    for (const std::uint64_t other : data)
      fields += field_text(5, other);  // not packed: both are allowed
    fields += field_text(7, duration) + field_text(77, std::string("of a later schema"));
    for (const auto& [key, value] : attributes)
      fields += field_text(10, field_text(1, key) + field_text(static_cast<unsigned>(integer), value));
    return message_text(fields);
  }
};

inline std::string chakra_text(const std::vector<ChakraNodeText>& nodes) {
  std::string text = message_text(field_text(1, std::string("1.0.0")));
  for (const ChakraNodeText& node : nodes)
    text += node.text();
  return text;
}

inline ChakraTrace read_nodes(const std::vector<ChakraNodeText>& nodes) {
  return read_chakra("t.et", source_of(chakra_text(nodes)));
}

}  // namespace c3
