#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace c3 { inline namespace files {

/// SHA-256 of a text that comes in parts.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view part);
  /// \returns the digest of all parts as 64 lower-case hexadecimal digits; nothing can be added after it.
  std::string hex();

 private:
  struct Free {
    void operator()(void* context) const noexcept;
  };
  std::unique_ptr<void, Free> context_;  ///< OpenSSL's EVP_MD_CTX
};

/// \returns the SHA-256 of \p text as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view text);

}}  // namespace c3::files
