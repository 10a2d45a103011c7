#include "workloads/traces/trace_format.hpp"

#include <algorithm>
#include <optional>

#include "workloads/traces/trace_error.hpp"

namespace c3 { inline namespace traces {
namespace {

/// Stops at the first key that only one format has.
class FirstKeys final : public JsonPieces {
 public:
  void element(std::uint64_t /*index*/, std::string_view /*text*/) override {}
  void member(std::string_view /*key*/, std::string_view /*text*/) override {}
  MemberUse use_of(std::string_view key) override {
    if (key == "traceEvents") format = TraceFormat::kineto;
    if (key == "nodes") format = TraceFormat::execution;
    if (key == "workload_graph") format = TraceFormat::chakra_json;
    if (key == "operators") format = TraceFormat::operators;
    return format ? MemberUse::stop : MemberUse::skip;
  }

  std::optional<TraceFormat> format;
};

/// The first bytes of a file: all that a tar archive has before its first member.
std::string beginning(PeekedSource& source) {
  constexpr std::size_t kBytes = 512;
  std::string bytes(kBytes, '\0');
  std::size_t size = 0;
  while (size < kBytes) {
    const std::size_t count = source.look(std::span(bytes).subspan(size));
    if (count == 0) break;
    size += count;
  }
  bytes.resize(size);
  return bytes;
}

/// Takes a varint off the front. Nothing if it is longer than a message may be.
std::optional<std::size_t> take_length(std::string_view& bytes) {
  constexpr std::size_t kLongest = std::size_t{64} << 20U;
  std::size_t length = 0;
  for (unsigned shift = 0; shift < 35 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    length |= std::size_t{byte & 0x7FU} << shift;
    if (byte < 0x80U) return length <= kLongest ? std::optional(length) : std::nullopt;
  }
  return std::nullopt;
}

/// The length of a message, and the tag of the first field of metadata, a text or an attribute; or metadata
/// without fields, and a node that begins with its id.
bool is_chakra(std::string_view bytes) {
  const std::optional<std::size_t> length = take_length(bytes);
  if (!length) return false;
  if (*length > 0) return bytes.starts_with('\x0A') || bytes.starts_with('\x12');
  return take_length(bytes) && bytes.starts_with('\x08');
}

bool is_space(char letter) { return letter == ' ' || letter == '\n' || letter == '\r' || letter == '\t'; }

/// The first letters that are no spaces, from \p at.
std::size_t skip_spaces(std::string_view bytes, std::size_t at) {
  while (at < bytes.size() && is_space(bytes[at]))
    ++at;
  return at;
}

/// 123, the code of {, can be the length of a message: what follows must be JSON as well.
bool is_json(std::string_view bytes) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  const std::size_t first = skip_spaces(bytes, bytes.starts_with(kMark) ? kMark.size() : 0);
  if (first == bytes.size()) return true;
  const std::size_t second = skip_spaces(bytes, first + 1);
  if (bytes[first] == '{') return second == bytes.size() || bytes[second] == '"' || bytes[second] == '}';
  if (bytes[first] == '[') return second == bytes.size() || bytes[second] == '{' || bytes[second] == ']';
  return false;
}

/// The bytes that were looked at, and what follows.
ByteSource from_start(std::string bytes, PeekedSource& source) {
  return [bytes = std::move(bytes), at = std::size_t{0}, &source](std::span<char> part) mutable {
    if (at == bytes.size()) return source.look(part);
    const std::size_t count = std::min(part.size(), bytes.size() - at);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, part.begin());
    at += count;
    return count;
  };
}

TraceFormat json_format(const std::string& file, std::string bytes, PeekedSource& source) {
  const std::size_t first = skip_spaces(bytes, 0);
  if (first < bytes.size() && bytes[first] == '[') return TraceFormat::kineto;
  FirstKeys keys;
  try {
    split_json(from_start(std::move(bytes), source), keys);
  } catch (const SplitError& error) {
    throw TraceError({.file = file, .rank = {}, .event = error.event()}, error.what());
  }
  if (keys.format) return *keys.format;
  throw UnknownFormatError(
      {.file = file, .rank = {}, .event = {}},
      "it has no \"traceEvents\" of a Kineto trace, no \"nodes\" of a PyTorch execution trace, no "
      "\"operators\" of an operator list and no \"workload_graph\" of a Chakra trace");
}

}  // namespace

std::size_t PeekedSource::look(std::span<char> part) {
  const std::size_t count = source_(part);
  looked_at_.append(part.data(), count);
  return count;
}

std::size_t PeekedSource::read(std::span<char> part) {
  if (replayed_ == looked_at_.size()) return source_(part);
  const std::size_t count = std::min(part.size(), looked_at_.size() - replayed_);
  std::copy_n(looked_at_.begin() + static_cast<std::ptrdiff_t>(replayed_), count, part.begin());
  replayed_ += count;
  if (replayed_ == looked_at_.size()) {
    looked_at_ = {};
    replayed_ = 0;
  }
  return count;
}

TraceFormat format_of(const std::string& file, PeekedSource& source) {
  std::string bytes = beginning(source);
  constexpr std::size_t kTarMark = 257;
  if (bytes.size() > kTarMark && std::string_view(bytes).substr(kTarMark).starts_with("ustar"))
    return TraceFormat::tar;
  if (is_json(bytes)) return json_format(file, std::move(bytes), source);
  if (is_chakra(bytes)) return TraceFormat::chakra;
  const bool is_packed = bytes.starts_with("\x1F\x8B");
  throw UnknownFormatError(
      {.file = file, .rank = {}, .event = {}},
      is_packed ? "it is packed by gzip inside an archive: unpack it first"
                : "it does not begin with { or [, nor as a Chakra trace does: it is not a trace");
}

}}  // namespace c3::traces
