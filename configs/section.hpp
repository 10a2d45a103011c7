#pragma once
/// One table of a configuration, read key by key with types, ranges and units.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/nearest_name.hpp"
#include "configs/quantity_text.hpp"
#include "configs/sampling.hpp"
#include "configs/tree.hpp"
#include "engine/units.hpp"

namespace c3 {

/// Whether every number must say where it comes from. Presets must; an experiment speaks for itself.
enum class Provenance { optional, required };

/// The names that a key may take and what they mean.
template <class E>
using Names = std::span<const std::pair<std::string_view, E>>;

/// \returns whether \p text is letters, digits, `_`, `-` and `.` only, and begins with none of the last two.
bool is_slug(std::string_view text);

/// Remembers which keys were asked for, so that `finish` can refuse the others. Every getter throws ConfigError
/// at the value's position, naming the dotted key and what is allowed. A number is written plainly (`64`, `"2
/// us"`) or with its provenance: `{ value = "4.73 TB/s", kind = "measured", source = ".." }`, or as a range
/// `{ low = .., nominal = .., high = .., kind = "assumed", source = ".." }`, from which \p sampling takes one
/// value. The node must outlive the section.
class Section {
 public:
  Section(const Node& node, std::string name, const Sampling& sampling = {},
          Provenance provenance = Provenance::optional);

  bool has(std::string_view key);
  const Node& node(std::string_view key);  ///< \throws ConfigError when absent, as every getter below
  Section table(std::string_view key);
  const std::vector<Member>& members() const { return node_->table()->members(); }  ///< for keys that are names

  std::string text(std::string_view key);  ///< not empty
  std::string slug(
      std::string_view key);  ///< a text fit for file and group names: letters, digits, `_`, `-`, `.`
  bool flag(std::string_view key);
  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high);  ///< both ends allowed
  double fraction(std::string_view key, double high = 1.0);  ///< in [0, high], a TOML float

  Bytes bytes(std::string_view key);               ///< > 0
  Bytes bytes_or_none(std::string_view key);       ///< >= 0
  Seconds duration(std::string_view key);          ///< >= 0
  BytesPerSecond bandwidth(std::string_view key);  ///< > 0
  FlopsPerSecond flop_rate(std::string_view key);  ///< > 0
  Hertz frequency(std::string_view key);           ///< > 0

  /// One of \p names.
  template <class E>
  E choice(std::string_view key, Names<E> names) {
    std::vector<std::string> known;
    for (const auto& [name, meaning] : names)
      known.emplace_back(name);
    return names[chosen(key, known)].second;
  }

  /// Refuses keys that nobody asked for, suggesting the nearest one that somebody did.
  void finish() const;

  [[noreturn]] void fail(std::string_view key, std::string_view message) const;  ///< at the key's value
  const Origin& origin() const { return node_->origin; }
  std::string dotted(std::string_view key) const;

 private:
  enum class Sign { positive, not_negative };

  const Node* find(std::string_view key) const { return node_->table()->find(key); }
  double quantity(std::string_view key, Dimension dimension, Sign sign);
  std::size_t chosen(std::string_view key, std::span<const std::string> known);
  void check_provenance(std::string_view key, const Node& number) const;

  template <class Parse>
  Range range(std::string_view key, Parse parse);

  const Node* node_;
  std::string name_;
  Sampling sampling_;
  Provenance provenance_;
  std::vector<std::string> asked_;
};

}  // namespace c3
