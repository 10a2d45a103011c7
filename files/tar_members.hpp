#pragma once
/// The files in a tar archive, one after the other.

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace c3 { inline namespace files {

class TarMembers {
 public:
  using Source = std::function<std::size_t(std::span<char>)>;

  /// \param source the archive, not packed: fills its span from the front, and returns 0 at the end
  /// \param archive its path, for messages
  TarMembers(Source source, std::string archive) : source_(std::move(source)), archive_(std::move(archive)) {}

  /// Goes to the next regular file, past what is left of the one before; directories and links are passed over.
  /// \returns false at the end. \throws IoError for what is not a tar archive or ends too early
  bool next();
  /// The current member's name: "run/rank0.et".
  const std::string& name() const { return name_; }
  /// Reads the current member. \returns the number of bytes; 0 at its end. \throws IoError
  std::size_t read(std::span<char> part);

 private:
  static constexpr std::size_t kBlock = 512;
  using Block = std::array<char, kBlock>;

  bool read_block(Block& block);
  void skip(std::uint64_t bytes);
  [[noreturn]] void fail(const std::string& what) const;

  Source source_;
  std::string archive_;
  std::string name_;
  std::uint64_t left_ = 0;     ///< bytes of the member that were not read
  std::uint64_t padding_ = 0;  ///< behind it, up to the next block
};

}}  // namespace c3::files
