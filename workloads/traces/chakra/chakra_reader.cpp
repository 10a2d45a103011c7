#include "workloads/traces/chakra/chakra_reader.hpp"

#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "chakra.pb.h"
#include "workloads/traces/chakra/node_list.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3 { inline namespace traces {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 16U;
constexpr std::uint64_t kLongest = std::uint64_t{64} << 20U;

using Attribute = chakra::Attribute;

/// Nothing for an attribute that is no integer.
std::optional<std::int64_t> integer_in(const Attribute& attribute) {
  const auto narrowed = [](std::uint64_t number) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(number, kMost));
  };
  switch (attribute.value_case()) {
    case Attribute::kInt32Value:
      return attribute.int32_value();
    case Attribute::kInt64Value:
      return attribute.int64_value();
    case Attribute::kUint32Value:
      return attribute.uint32_value();
    case Attribute::kUint64Value:
      return narrowed(attribute.uint64_value());
    case Attribute::kSint32Value:
      return attribute.sint32_value();
    case Attribute::kSint64Value:
      return attribute.sint64_value();
    case Attribute::kFixed32Value:
      return attribute.fixed32_value();
    case Attribute::kFixed64Value:
      return narrowed(attribute.fixed64_value());
    case Attribute::kSfixed32Value:
      return attribute.sfixed32_value();
    case Attribute::kSfixed64Value:
      return attribute.sfixed64_value();
    case Attribute::kBoolValue:
      return attribute.bool_value() ? 1 : 0;
    default:
      return std::nullopt;
  }
}

/// Messages of a file, one after the other.
class MessageReader {
 public:
  MessageReader(const ByteSource& source, ChakraNodeList& nodes)
      : source_(source), nodes_(nodes), chunk_(kChunk) {}

  /// \returns false at the end of the file.
  bool next(std::string& message) {
    if (!has_byte()) return false;
    const std::uint64_t length = varint();
    if (length > kLongest) nodes_.fail(fmt::format("a message of {} bytes is longer than 64 MiB", length));
    message.clear();
    while (message.size() < length) {
      if (!has_byte()) nodes_.fail("the file ends inside a message: it is truncated");
      const std::size_t part = std::min<std::size_t>(size_ - at_, length - message.size());
      message.append(chunk_.data() + at_, part);
      at_ += part;
    }
    return true;
  }

 private:
  bool has_byte() {
    if (at_ < size_) return true;
    size_ = source_(chunk_);
    at_ = 0;
    return size_ > 0;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (!has_byte()) nodes_.fail("the file ends inside the length of a message: it is truncated");
      const auto byte = static_cast<unsigned char>(chunk_[at_++]);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80U) return value;
    }
    nodes_.fail("the length of a message has more than 10 bytes: it is not a Chakra trace");
  }

  const ByteSource& source_;
  ChakraNodeList& nodes_;
  std::vector<char> chunk_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
};

class ChakraReader {
 public:
  explicit ChakraReader(const std::string& file) : nodes_(file) {}

  ChakraTrace read(const ByteSource& source) {
    MessageReader messages(source, nodes_);
    std::string message;
    if (!messages.next(message)) nodes_.fail("the file is empty");
    read_metadata(message);
    for (std::uint64_t position = 0;; ++position) {
      nodes_.begin_node(position);
      if (!messages.next(message)) break;
      read_node(message);
    }
    return nodes_.take();
  }

 private:
  void read_metadata(const std::string& message) {
    chakra::GlobalMetadata metadata;
    if (!metadata.ParseFromString(message))
      throw TraceError({.file = nodes_.trace().file, .rank = {}, .event = {}},
                       "it does not begin with metadata: it is not a Chakra trace");
    for (const std::string& text : metadata.version_or_attribute()) {
      Attribute attribute;
      if (attribute.ParseFromString(text) && !attribute.name().empty()) {
        set_metadata(attribute);
      } else {
        nodes_.set_metadata("version", text);
      }
    }
    for (const Attribute& attribute : metadata.attribute())
      set_metadata(attribute);
  }

  void set_metadata(const Attribute& attribute) {
    if (const auto number = integer_in(attribute)) {
      nodes_.set_metadata(attribute.name(), *number);
    } else {
      nodes_.set_metadata(attribute.name(), attribute.string_value());
    }
  }

  void read_node(const std::string& message) {
    chakra::Node read;
    if (!read.ParseFromString(message)) nodes_.fail("it is not a Chakra node");
    ChakraNode node;
    TextPool& texts = nodes_.trace().texts;
    node.id = read.id();
    node.name = texts.id_of(read.name());
    node.shapes = texts.id_of(read.inputs().shapes());
    constexpr int kLastType = static_cast<int>(ChakraType::collective);
    const bool is_known = read.type() >= 0 && read.type() <= kLastType;
    node.type = is_known ? static_cast<ChakraType>(read.type()) : ChakraType::invalid;
    if (read.start_microseconds() != 0)
      node.start = nodes_.time(read.start_microseconds(), "start_time_micros");
    node.duration = nodes_.time(read.duration_microseconds(), "duration_micros");
    for (const Attribute& attribute : read.attribute()) {
      if (const auto number = integer_in(attribute)) {
        nodes_.set(node, attribute.name(), *number);
      } else if (attribute.value_case() == Attribute::kStringValue) {
        nodes_.set(node, attribute.name(), std::string_view(attribute.string_value()));
      }
    }
    nodes_.add(node, {read.control_dependencies().begin(), read.control_dependencies().end()},
               {read.data_dependencies().begin(), read.data_dependencies().end()});
  }

  ChakraNodeList nodes_;
};

}  // namespace

ChakraTrace read_chakra(const std::string& file, const ByteSource& source) {
  return ChakraReader(file).read(source);
}

}}  // namespace c3::traces
