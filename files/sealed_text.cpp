#include "files/sealed_text.hpp"

#include "files/sha256.hpp"

namespace c3 { inline namespace files {

std::string sealed(SealLine line, std::string_view rest) {
  std::string text(line.before);
  text += sha256_hex(rest);
  text += line.after;
  text += '\n';
  return text += rest;
}

bool is_sealed(SealLine line, std::string_view text) {
  if (!text.starts_with(line.before)) return false;
  const std::size_t end = text.find('\n');
  return end != std::string_view::npos && text == sealed(line, text.substr(end + 1));
}

}}  // namespace c3::files
