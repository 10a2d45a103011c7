#include "files/tar_members.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "files/io_error.hpp"

namespace c3 { inline namespace files {
namespace {

/// Fields of a header (POSIX.1-1988, ustar).
struct Field {
  std::size_t from;
  std::size_t size;
};
constexpr Field kName{0, 100};
constexpr Field kSize{124, 12};
constexpr Field kChecksum{148, 8};
constexpr std::size_t kType = 156;
constexpr Field kPrefix{345, 155};

std::string_view text_in(std::span<const char> block, Field field) {
  const std::string_view text(block.data() + field.from, field.size);
  return text.substr(0, text.find('\0'));
}

/// Octal digits, with spaces around them, or a binary number behind a byte with its highest bit set.
std::optional<std::uint64_t> number_in(std::span<const char> block, Field field) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60U;
  std::uint64_t number = 0;
  const auto first = static_cast<unsigned char>(block[field.from]);
  if (first == 0x80U) {
    for (std::size_t i = 1; i < field.size && number < kMost; ++i)
      number = number << 8U | static_cast<unsigned char>(block[field.from + i]);
  } else {
    for (const char digit : text_in(block, field)) {
      if (digit == ' ') continue;
      if (digit < '0' || digit > '7') return std::nullopt;
      number = number << 3U | static_cast<std::uint64_t>(digit - '0');
    }
  }
  if (number >= kMost) return std::nullopt;
  return number;
}

/// The sum of all bytes, those of the sum itself counted as spaces.
std::uint64_t checksum(std::span<const char> block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool is_sum = i >= kChecksum.from && i < kChecksum.from + kChecksum.size;
    sum += is_sum ? std::uint64_t{' '} : static_cast<unsigned char>(block[i]);
  }
  return sum;
}

}  // namespace

void TarMembers::fail(const std::string& what) const { throw IoError(archive_, "unpack", what); }

bool TarMembers::read_block(Block& block) {
  std::size_t size = 0;
  while (size < kBlock) {
    const std::size_t count = source_(std::span(block).subspan(size));
    if (count == 0) break;
    size += count;
  }
  if (size == 0) return false;
  if (size < kBlock) fail("the tar archive ends too early: it is truncated");
  return true;
}

void TarMembers::skip(std::uint64_t bytes) {
  std::array<char, std::size_t{1} << 14U> part{};
  while (bytes > 0) {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, part.size()));
    const std::size_t count = source_(std::span(part).first(wanted));
    if (count == 0) fail("the tar archive ends too early: it is truncated");
    bytes -= count;
  }
}

bool TarMembers::next() {
  for (;;) {
    skip(left_ + padding_);
    left_ = padding_ = 0;
    Block block{};
    if (!read_block(block)) return false;
    if (std::ranges::all_of(block, [](char byte) { return byte == '\0'; })) return false;
    const std::optional<std::uint64_t> size = number_in(block, kSize);
    if (!size || number_in(block, kChecksum) != checksum(block)) fail("a header of the tar archive is damaged");
    left_ = *size;
    padding_ = (kBlock - *size % kBlock) % kBlock;
    if (block[kType] != '0' && block[kType] != '\0') continue;
    const std::string_view prefix = text_in(block, kPrefix);
    name_ = (prefix.empty() ? "" : std::string(prefix) + "/") + std::string(text_in(block, kName));
    return true;
  }
}

std::size_t TarMembers::read(std::span<char> part) {
  if (left_ == 0 || part.empty()) return 0;
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left_, part.size()));
  const std::size_t count = source_(part.first(wanted));
  if (count == 0) fail("the tar archive ends too early: it is truncated");
  left_ -= count;
  return count;
}

}}  // namespace c3::files
