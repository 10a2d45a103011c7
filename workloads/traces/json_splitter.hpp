#pragma once
/// \file
/// Cuts a JSON file into its events while it is read, so that a file of gigabytes is never in memory at once.
/// What an event holds is left to a JSON library.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace c3 { inline namespace traces {

/// Fills the span from the front. \returns how much was filled; 0 at the end of the file.
using ByteSource = std::function<std::size_t(std::span<char>)>;

/// The text is not the JSON of a trace. \p event: inside or after which element it went wrong.
class SplitError : public std::runtime_error {
 public:
  SplitError(const std::string& what, std::optional<std::uint64_t> event)
      : std::runtime_error(what), event_(event) {}
  std::optional<std::uint64_t> event() const { return event_; }

 private:
  std::optional<std::uint64_t> event_;
};

/// What is done with the value of a key.
enum class MemberUse : std::uint8_t {
  skip,
  keep,   ///< member() gets it
  split,  ///< it is an array, and element() gets what is in it; skipped if it is none
  stop    ///< nothing more is read
};

/// What becomes of the pieces. Views are valid during the call only.
class JsonPieces {
 public:
  virtual ~JsonPieces() = default;
  /// An element of the array, \p index from 0, as it stands in the file.
  virtual void element(std::uint64_t index, std::string_view text) = 0;
  virtual MemberUse use_of(std::string_view key) = 0;
  virtual void member(std::string_view key, std::string_view text) = 0;
};

/// Splits `{"key": value, .., "array": [element, ..], ..}` or `[element, ..]`. The array may be anywhere.
/// Values are told apart by brackets and quotation marks only, and may be nested 100 deep and 64 MiB long.
/// \throws SplitError for what ends too early, is no such object, or is deeper or longer.
void split_json(const ByteSource& source, JsonPieces& pieces);

/// The same of a trace called \p file. \throws TraceError, naming it and the event
void split_trace(const std::string& file, const ByteSource& source, JsonPieces& pieces);

}}  // namespace c3::traces
