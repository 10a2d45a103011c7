#pragma once
/// One table of a configuration, read key by key with types, ranges and units.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/enum_names.hpp"
#include "base/nearest_name.hpp"
#include "configs/toml/config_error.hpp"
#include "configs/toml/draft.hpp"
#include "configs/toml/rule.hpp"
#include "configs/toml/sampling.hpp"
#include "configs/toml/tree.hpp"
#include "engine/units.hpp"

namespace c3 { inline namespace configs {

/// The names that a key may take and what they mean.
template <class E>
using Names = std::span<const std::pair<std::string_view, E>>;

/// A key or a text that the file chose, and where.
struct ChosenKey {
  std::string name;
  Origin origin;
};
using PlacedText = ChosenKey;

/// Whether \p text is what slug_rule allows.
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

  /// A rehearsal.
  Section(std::shared_ptr<Draft> draft, std::string name, const Sampling& sampling, Provenance provenance);

  /// Whether the key is there: asked before it is read, it may be left out. Otherwise its getter throws.
  bool has(std::string_view key);

  /// Whether the file has the key, which no reader takes: for keys that are refused by name.
  bool holds(std::string_view key) const { return find(key) != nullptr; }

  /// The value as it is written, for a caller that reads it by \p rule itself.
  const Node& node(std::string_view key, const Rule& rule);

  /// Like node(), with a rule that takes long to make: only a rehearsal needs it.
  template <class MakeRule>
    requires std::is_invocable_r_v<Rule, MakeRule>
  const Node& node(std::string_view key, const MakeRule& rule) {
    return node(key, is_rehearsal() ? rule() : Rule{});
  }

  Section table(std::string_view key) { return table(key, sampling_); }
  Section table(std::string_view key, const Sampling& sampling);
  std::vector<Section> tables(std::string_view key, std::size_t most);  ///< [[key]], at least one

  /// Every key that was not asked for before: the file chooses their names.
  std::vector<ChosenKey> chosen_keys();

  /// Keys whose names the file chooses, after a prefix: `share_` of `share_ampere`. Not those asked for before.
  std::vector<ChosenKey> keys_beginning(std::string_view prefix);

  /// The one key of a table that has exactly one, of \p known. \param what it names, for the error.
  std::string only_key(std::string_view what, std::span<const std::string_view> known);

  std::string text(std::string_view key) { return text(key, {TextRule{}}); }  ///< not empty
  std::string text(std::string_view key, const Rule& rule);                   ///< not empty, read by the caller
  std::string text(std::string_view key, Rule (*rule)()) {  ///< the same, made for a rehearsal
    return text(key, is_rehearsal() ? rule() : Rule{});
  }
  std::string slug(std::string_view key);  ///< fit for file and group names: letters, digits, `_`, `-`, `.`
  std::string preset_name();               ///< the slug at `name`
  std::string sourced_slug(std::string_view key);  ///< with its provenance, as a number has it
  bool flag(std::string_view key);
  bool sourced_flag(std::string_view key);  ///< with its provenance, as a number has it
  /// A list of texts such as \p element allows, with the provenance of them all. The caller reads the texts.
  std::vector<PlacedText> sourced_texts(std::string_view key, const PatternRule& element);
  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high);  ///< both ends allowed
  /// Any value in [low, high].
  double fraction(std::string_view key, double high = 1.0, double low = 0.0);

  Bytes bytes(std::string_view key);          ///< > 0
  Bytes bytes_or_none(std::string_view key);  ///< >= 0
  Seconds duration(std::string_view key);     ///< >= 0
  Seconds positive_duration(std::string_view key);
  BytesPerSecond bandwidth(std::string_view key);  ///< > 0
  FlopsPerSecond flop_rate(std::string_view key);  ///< > 0
  Hertz frequency(std::string_view key);           ///< > 0
  Watts power(std::string_view key);               ///< > 0

  /// One of an enumeration's names.
  template <NamedEnum E>
  E choice(std::string_view key) {
    return choice<E>(key, Names<E>(kEnumNames<E>));
  }

  /// One of \p names.
  template <class E>
  E choice(std::string_view key, Names<E> names) {
    std::vector<std::string> known;
    for (const auto& [name, meaning] : names)
      known.emplace_back(name);
    return names[chosen(key, known)].second;
  }

  /// Makes refuse() continue, also in tables that are read out of this one, so that a user learns of all
  /// conflicts at once; settle() and finish() end it. A reader that calls it must not rely on refuse() to stop.
  void gather_conflicts();
  /// This section's conflicts are \p other's.
  void gather_conflicts_with(const Section& other) { conflicts_ = other.conflicts_; }
  /// Throws the conflicts that were gathered, if there are any: what follows relies on there being none.
  void settle() const;
  /// Refuses keys that nobody asked for, suggesting the nearest one that somebody did, and settles what this
  /// section began to gather.
  void finish() const;

  /// Says what keys mean, for those who describe the reader. Has no effect on keys that were not asked for.
  void explain(const KeyText& text);
  void explain(std::string_view key, std::string_view meaning) { explain(KeyText{key, meaning}); }
  void explain(std::span<const KeyText> texts);

  ConfigError error(std::string_view key, std::string_view message) const;
  [[noreturn]] void fail(std::string_view key, std::string_view message) const;  ///< at the key's value
  /// Like fail(), where keys contradict each other. Examples may contradict each other, so a rehearsal goes on,
  /// and so does a reader that gathers conflicts.
  void refuse(std::string_view key, std::string_view message) const;
  /// Whether examples are read to describe the reader: only for what cannot be done with examples at all.
  bool is_rehearsal() const { return draft_ != nullptr; }
  const Origin& origin() const { return node_->origin; }
  std::string dotted(std::string_view key) const;

 private:
  const Node* find(std::string_view key) const { return node_->table()->find(key); }
  double quantity(std::string_view key, Dimension dimension, Sign sign);
  std::size_t chosen(std::string_view key, std::span<const std::string> known);
  void ask(std::string_view key);
  void check_provenance(std::string_view key, const Node& number) const;
  const Node& sourced_node(std::string_view key, const Rule& rule);

  template <class Parse>
  Range range(std::string_view key, const Rule& rule, Parse parse);

  Section nested(const Node& node, std::string_view key, const Sampling& sampling) const;

  std::shared_ptr<Draft> draft_;                         ///< the rehearsal's draft; nullptr when a file is read
  std::shared_ptr<std::vector<ConfigError>> conflicts_;  ///< nullptr: the first one ends the reading
  bool gathers_ = false;                                 ///< this section called gather_conflicts()
  const Node* node_;
  std::string name_;
  Sampling sampling_;
  Provenance provenance_;
  std::vector<std::string> asked_;
};

}}  // namespace c3::configs
