#pragma once
/// Texts that repeat, each kept once and known by a number: a trace has thousands of kernels and a hundred
/// names.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace c3 { inline namespace traces {

using TextId = std::uint32_t;

class TextPool {
 public:
  TextPool() { id_of(""); }
  TextPool(const TextPool& other) {
    for (const std::string& text : other.texts_)
      id_of(text);
  }
  TextPool& operator=(const TextPool&) = delete;
  TextPool(TextPool&&) = default;
  TextPool& operator=(TextPool&&) = default;
  ~TextPool() = default;

  /// The empty text has number 0.
  TextId id_of(std::string_view text) {
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
    const auto id = static_cast<TextId>(texts_.size());
    ids_.emplace(texts_.emplace_back(text), id);
    return id;
  }
  const std::string& text(TextId id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  ///< never moved, because ids_ looks into them
  std::unordered_map<std::string_view, TextId> ids_;
};

}}  // namespace c3::traces
