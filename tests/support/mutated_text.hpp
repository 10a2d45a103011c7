#pragma once
/// Texts with mistakes in them, for readers that must refuse what they cannot read.

#include <cstddef>
#include <random>
#include <string>

namespace c3 {

/// \p text with one to four random changes: bytes replaced, parts deleted, doubled or moved, the end cut off.
inline std::string mutated(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
  const std::string bytes = "\"'{}[]:,.#=-+eE0179 \t\n\r\\/<>%\0\x7f\xff";
  for (std::size_t change = 1 + below(4); change > 0 && !text.empty(); --change) {
    const std::size_t at = below(text.size());
    const std::size_t size = 1 + below(std::min<std::size_t>(text.size() - at, 40));
    switch (below(6)) {
      case 0:
        text[at] = bytes[below(bytes.size())];
        break;
      case 1:
        text.erase(at, size);
        break;
      case 2:
        text.insert(below(text.size()), text.substr(at, size));
        break;
      case 3:
        text.resize(at);
        break;
      case 4:
        text.insert(at, 1, static_cast<char>(random()));
        break;
      default:
        text.insert(at, std::to_string(random()) + std::to_string(random()));
    }
  }
  return text;
}

}  // namespace c3
