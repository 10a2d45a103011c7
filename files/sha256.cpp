#include "files/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace c3 { inline namespace files {
namespace {

EVP_MD_CTX* openssl(void* context) { return static_cast<EVP_MD_CTX*>(context); }

void check(int result) {
  if (result != 1) throw std::logic_error("SHA-256 is not available in this OpenSSL");
}

}  // namespace

void Sha256::Free::operator()(void* context) const noexcept { EVP_MD_CTX_free(openssl(context)); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  check(EVP_DigestInit_ex(openssl(context_.get()), EVP_sha256(), nullptr));
}

void Sha256::add(std::string_view part) {
  check(EVP_DigestUpdate(openssl(context_.get()), part.data(), part.size()));
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  check(EVP_DigestFinal_ex(openssl(context_.get()), digest.data(), &length));
  return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + length, ""));
}

std::string sha256_hex(std::string_view text) {
  Sha256 digest;
  digest.add(text);
  return digest.hex();
}

}}  // namespace c3::files
