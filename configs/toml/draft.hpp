#pragma once
/// A table that a reader describes by asking for its keys.

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "configs/toml/rule.hpp"

namespace c3 { inline namespace configs {

/// One reading of examples: which optional keys it pretends to find. Keys are dotted.
struct Rehearsal {
  std::set<std::string> present;
  std::map<std::string, Node> examples;  ///< instead of the rule's own
  bool has_all = false;                  ///< every optional key is present
};

/// A table that a reader describes by asking for its keys: what a Section is read from in a rehearsal.
class Draft {
 public:
  Draft(const Rehearsal& rehearsal, TableRule& rule) : rehearsal_(rehearsal), rule_(rule) {}

  const Node& example() const { return example_; }
  const Rehearsal& rehearsal() const { return rehearsal_; }

  /// Notes that \p key may be left out. \returns whether this rehearsal has it.
  bool ask(std::string_view key, const std::string& dotted);

  /// Notes what is allowed for \p key and puts an example of it. The first rule of a key stays.
  Rule& declare(std::string_view key, const std::string& dotted, const Rule& rule);

  /// Notes that the file chooses the names of further keys, all beginning with \p prefix. \returns one such
  /// name.
  std::string ask_chosen(const std::string& prefix = {});

  void explain(const KeyText& text);  ///< nothing happens where nobody asked for the key

  void allow_one_key() { rule_.has_one_key = true; }

 private:
  const Rehearsal& rehearsal_;
  TableRule& rule_;
  Node example_{Table{}, {}};
};

}}  // namespace c3::configs
