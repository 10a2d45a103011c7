#pragma once
/// An operator from its words, as a row of a table of shapes or the options of a command give them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "gpu/kernels/operator.hpp"

namespace c3 {

enum class ShapeKey : std::uint8_t {
  op,
  dtype,
  b,
  m,
  n,
  k,
  heads,
  kv_heads,
  seq,
  kv_seq,
  head_dim,
  causal,
  pass,
  rows,
  cols,
  traffic,
};

/// By their number.
inline constexpr std::array<std::string_view, 16> kShapeKeys = {
    "op",  "dtype",  "b",        "m",      "n",    "k",    "heads", "kv_heads",
    "seq", "kv_seq", "head_dim", "causal", "pass", "rows", "cols",  "traffic"};

constexpr std::string_view name_of(ShapeKey key) { return kShapeKeys.at(static_cast<std::size_t>(key)); }

inline constexpr std::array<std::pair<std::string_view, GemmTraffic>, 2> kGemmTraffics = {
    {{"tiled", GemmTraffic::tiled}, {"streamed", GemmTraffic::streamed}}};

/// A word for each key; empty: not given.
class ShapeWords {
 public:
  std::string_view& operator[](ShapeKey key) { return words_[static_cast<std::size_t>(key)]; }
  std::string_view operator[](ShapeKey key) const { return words_[static_cast<std::size_t>(key)]; }

 private:
  std::array<std::string_view, kShapeKeys.size()> words_;
};

/// A word that is missing or says nothing sensible.
class ShapeError : public std::runtime_error {
 public:
  ShapeError(ShapeKey key, bool missing, const std::string& reason)
      : std::runtime_error(reason), key_(key), missing_(missing) {}

  ShapeKey key() const { return key_; }
  bool missing() const { return missing_; }  ///< the operator needs the key, and no word was given for it

 private:
  ShapeKey key_;
  bool missing_;
};

/// The operator that \p words name. `op` is gemm (or bmm, linear, matmul), attention (or sdpa,
/// flash_attention), or vector operators joined by '+' (VectorOpTraits::name, or ln, layer_norm, rms_norm).
/// Needed are `dtype` and, by class: m, n, k; heads, seq, head_dim; rows, cols. Left out, `b` is 1, `kv_heads`
/// `heads`, `kv_seq` `seq`, `causal` 0, `pass` forward, `traffic` (of a gemm) tiled. Words that the operator
/// has no use for are not read. What is missing is found before what is wrong. \throws ShapeError, also for a
/// shape of 2^63 bytes or flops.
Operator operator_of(const ShapeWords& words);

}  // namespace c3
