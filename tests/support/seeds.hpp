#pragma once
/// How many random cases a test draws.

#include <cstdint>

namespace c3::test {

/// All of \p all, or an eighth under AddressSanitizer, which looks for errors of memory: that figures are right
/// is checked without it.
constexpr std::uint32_t seeds(std::uint32_t all) {
#ifdef __SANITIZE_ADDRESS__
  return (all + 7) / 8;
#else
  return all;
#endif
}

}  // namespace c3::test
