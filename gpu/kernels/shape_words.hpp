#pragma once
/// An operator's shape in words, as a row of a table of shapes or the options of a command give them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/enum_names.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

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
  layout,
  warm,
  scales,
  result,
  value_dim,
  channels,
  filters,
  height,
  width,
  filter_h,
  filter_w,
  pad_h,
  pad_w,
  stride_h,
  stride_w,
  dilation_h,
  dilation_w,
  groups,
  solver,
  tables,
  lookups,
  update,
  reuse,
  values,
  stage,
  chunk,
  window,
  initial,
  selected,
};

/// By their number.
inline constexpr std::array<std::string_view, 45> kShapeKeys = {
    "op",         "dtype",    "b",        "m",       "n",         "k",        "heads",    "kv_heads",
    "seq",        "kv_seq",   "head_dim", "causal",  "pass",      "rows",     "cols",     "traffic",
    "layout",     "warm",     "scales",   "result",  "value_dim", "channels", "filters",  "height",
    "width",      "filter_h", "filter_w", "pad_h",   "pad_w",     "stride_h", "stride_w", "dilation_h",
    "dilation_w", "groups",   "solver",   "tables",  "lookups",   "update",   "reuse",    "values",
    "stage",      "chunk",    "window",   "initial", "selected"};

constexpr std::string_view name_of(ShapeKey key) { return kShapeKeys.at(static_cast<std::size_t>(key)); }

/// Whether a word, rather than a number or a flag, stands under \p key.
constexpr bool is_text(ShapeKey key) {
  using enum ShapeKey;
  return key == op || key == dtype || key == pass || key == traffic || key == layout || key == warm ||
         key == scales || key == result || key == solver || key == update || key == reuse || key == values ||
         key == stage || key == initial;
}

/// A word for each key, or a number that never was one; neither: not given.
class ShapeWords {
 public:
  std::string_view& operator[](ShapeKey key) { return words_[static_cast<std::size_t>(key)]; }
  std::string_view operator[](ShapeKey key) const { return words_[static_cast<std::size_t>(key)]; }

  std::optional<std::int64_t>& number(ShapeKey key) { return numbers_[static_cast<std::size_t>(key)]; }
  std::optional<std::int64_t> number(ShapeKey key) const { return numbers_[static_cast<std::size_t>(key)]; }

  bool has(ShapeKey key) const { return number(key).has_value() || !(*this)[key].empty(); }

 private:
  std::array<std::string_view, kShapeKeys.size()> words_;
  std::array<std::optional<std::int64_t>, kShapeKeys.size()> numbers_;  ///< a flag is 0 or 1
};

/// What a shape has under one key.
struct ShapeField {
  ShapeKey key;
  std::variant<std::int64_t, bool, std::string_view> value;  ///< a text is static
};

/// A word that is missing or not valid.
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

/// \throws ShapeError
[[noreturn]] void refuse(ShapeKey key, const std::string& reason);

/// Refuses the first of \p keys for which there is no word. \param op what needs them, for the error.
void need(const ShapeWords& words, std::string_view op, std::initializer_list<ShapeKey> keys);

// Each reads one word and refuses what is not valid; an absent word means \p otherwise.
std::int64_t extent(const ShapeWords& words, ShapeKey key);  ///< 1 to 2^40, also as "4096.0"
std::int64_t extent_or(const ShapeWords& words, ShapeKey key, std::int64_t otherwise);
std::int64_t count_or(const ShapeWords& words, ShapeKey key, std::int64_t otherwise);  ///< an extent, or 0
bool flag_or(const ShapeWords& words, ShapeKey key, bool otherwise);                   ///< 0, 1, false, true
[[noreturn]] void refuse_name(const ShapeWords& words, ShapeKey key, const std::vector<std::string>& known);

/// The value of an enumeration with this name.
template <NamedEnum E>
E chosen(const ShapeWords& words, ShapeKey key) {
  if (const std::optional<E> value = value_named<E>(words[key])) return *value;
  refuse_name(words, key, names_listed<E>());
}
template <NamedEnum E>
E chosen_or(const ShapeWords& words, ShapeKey key, E otherwise) {
  return words[key].empty() ? otherwise : chosen<E>(words, key);
}

/// Refuses what 64-bit counts cannot hold: 2^63 bytes or flops.
void refuse_absurd(ShapeKey key, double bytes, double flops);

}}  // namespace c3::gpu
