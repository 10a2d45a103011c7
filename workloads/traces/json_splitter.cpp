#include "workloads/traces/json_splitter.hpp"

#include <vector>

#include <fmt/format.h>

#include "workloads/traces/trace_error.hpp"

namespace c3 { inline namespace traces {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 16U;
constexpr std::size_t kLongest = std::size_t{64} << 20U;
constexpr int kDeepest = 100;

bool is_space(char letter) { return letter == ' ' || letter == '\n' || letter == '\r' || letter == '\t'; }

class Splitter {
 public:
  Splitter(const ByteSource& source, JsonPieces& pieces) : source_(source), pieces_(pieces), chunk_(kChunk) {}

  void split() {
    skip_mark();
    const char first = next_word();
    if (first == '[') {
      elements();
    } else if (first == '{') {
      if (!members()) return;
    } else {
      fail("it does not begin with { or [: not a JSON trace");
    }
    if (skip_spaces()) fail("there is text after the end of the JSON value");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw SplitError(what, event_); }
  [[noreturn]] void fail_at_end() const { fail("the file ends before its JSON does: it is truncated"); }

  /// \returns false at the end of the file.
  bool fill() {
    size_ = source_(chunk_);
    at_ = 0;
    return size_ > 0;
  }
  bool has_letter() { return at_ < size_ || fill(); }
  char letter() {
    if (!has_letter()) fail_at_end();
    return chunk_[at_];
  }

  /// A byte order mark.
  void skip_mark() {
    for (const char byte : {'\xEF', '\xBB', '\xBF'}) {
      if (has_letter() && chunk_[at_] == byte) ++at_;
    }
  }
  /// \returns whether there is something else.
  bool skip_spaces() {
    while (has_letter()) {
      if (!is_space(chunk_[at_])) return true;
      ++at_;
    }
    return false;
  }
  /// Takes the next letter that is no space.
  char next_word() {
    if (!skip_spaces()) fail_at_end();
    return chunk_[at_++];
  }

  /// \returns false if the rest is not to be read.
  bool members() {
    for (;;) {
      char first = next_word();
      if (first == ',') first = next_word();
      if (first == '}') return true;
      if (first != '"') fail("expected a key in quotation marks");
      --at_;
      std::string key;
      value(&key);
      key = key.substr(1, key.size() - 2);
      if (next_word() != ':') fail(fmt::format("expected a colon after key \"{}\"", key.substr(0, 100)));
      const MemberUse use = pieces_.use_of(key);
      if (use == MemberUse::stop) return false;
      member(key, use);
    }
  }

  void member(const std::string& key, MemberUse use) {
    skip_spaces();
    if (use == MemberUse::split && letter() == '[') {
      ++at_;
      elements();
      return;
    }
    if (use != MemberUse::keep) return value(nullptr);
    std::string text;
    value(&text);
    pieces_.member(key, text);
  }

  void elements() {
    std::string text;
    for (event_ = 0;; ++*event_) {
      char first = next_word();
      if (first == ',') first = next_word();
      if (first == ']') break;
      --at_;
      text.clear();
      value(&text);
      pieces_.element(*event_, text);
    }
    event_.reset();
  }

  /// Takes a value of any kind, and appends it to \p text unless that is null.
  void value(std::string* text) {
    if (!skip_spaces()) fail_at_end();
    if (letter() == '{' || letter() == '[') return nested(text);
    if (letter() == '"') return quoted(text);
    scalar(text);
  }

  void keep(std::string* text, std::size_t from) {
    if (text == nullptr) return;
    if (text->size() + (at_ - from) > kLongest) fail("it is longer than 64 MiB");
    text->append(chunk_.data() + from, at_ - from);
  }

  /// A number, true, false or null, up to what cannot belong to one.
  void scalar(std::string* text) {
    bool any = false;
    while (has_letter()) {
      const char next = chunk_[at_];
      if (is_space(next) || next == ',' || next == '}' || next == ']') break;
      if (next == ':' || next == '"' || next == '{' || next == '[') fail("expected a comma");
      const std::size_t from = at_++;
      keep(text, from);
      any = true;
    }
    if (!any) fail("expected a value");
  }

  void quoted(std::string* text) {
    bool is_escaped = false;
    bool is_first = true;
    for (;;) {
      if (!has_letter()) fail_at_end();
      const std::size_t from = at_;
      bool is_over = false;
      while (at_ < size_ && !is_over) {
        const char next = chunk_[at_++];
        if (is_escaped) {
          is_escaped = false;
        } else if (next == '\\') {
          is_escaped = true;
        } else if (next == '"') {
          is_over = !is_first;
          is_first = false;
        }
      }
      keep(text, from);
      if (is_over) return;
    }
  }

  /// An object or an array. Only depth is counted, not which bracket closes which.
  void nested(std::string* text) {
    int depth = 0;
    do {
      if (!has_letter()) fail_at_end();
      const std::size_t from = at_;
      bool is_text = false;
      bool is_over = false;
      while (at_ < size_ && !is_text && !is_over) {
        const char next = chunk_[at_];
        is_text = next == '"';
        if (next == '{' || next == '[') ++depth;
        if (next == '}' || next == ']') --depth;
        is_over = depth == 0;
        if (!is_text) ++at_;
      }
      if (depth > kDeepest) fail(fmt::format("it is nested deeper than {} levels", kDeepest));
      keep(text, from);
      if (is_text) quoted(text);
    } while (depth > 0);
  }

  const ByteSource& source_;
  JsonPieces& pieces_;
  std::vector<char> chunk_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::optional<std::uint64_t> event_;
};

}  // namespace

void split_json(const ByteSource& source, JsonPieces& pieces) { Splitter(source, pieces).split(); }

void split_trace(const std::string& file, const ByteSource& source, JsonPieces& pieces) {
  try {
    split_json(source, pieces);
  } catch (const SplitError& error) {
    throw TraceError({.file = file, .rank = {}, .event = error.event()}, error.what());
  }
}

}}  // namespace c3::traces
