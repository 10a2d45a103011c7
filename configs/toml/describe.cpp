#include "configs/toml/describe.hpp"

#include <fmt/format.h>

#include <memory>
#include <queue>
#include <set>
#include <utility>

#include "configs/toml/section.hpp"

namespace c3 { inline namespace configs {
namespace {

/// The table that \p rule is, or whose list it is; nullptr for anything else.
TableRule* table_in(Rule& rule) {
  if (auto* list = std::get_if<ListRule>(&rule.form)) return table_in(*list->element);
  return std::get_if<TableRule>(&rule.form);
}

std::string dotted(const std::string& table, const std::string& key) {
  return table.empty() ? key : fmt::format("{}.{}", table, key);
}

/// Joins what the rehearsals of one reader have shown.
class Findings {
 public:
  TableRule rule;

  /// \param found by a rehearsal that had the optional keys \p present, \p added for the first time; empty for
  /// the one without any.
  void add(TableRule& found, const std::string& table, const std::set<std::string>& present,
           const std::string& added) {
    present_ = &present;
    merge(rule, found, table, added);
  }

  /// Optional keys seen by the latest rehearsal and by none before it.
  std::vector<std::string> take_new_optional() { return std::exchange(new_optional_, {}); }

 private:
  void merge(TableRule& known, TableRule& found, const std::string& table, const std::string& added) {
    known.has_one_key = known.has_one_key || found.has_one_key;
    for (KeyRule& key : found.keys) {
      const std::string name = dotted(table, key.key);
      KeyRule* old = known.find(key.key);
      if (old == nullptr) {
        old = &known.keys.emplace_back(key);
        note_owner(known, *old, table, added);
        note_optional(*old, name);
        continue;
      }
      drop_owners(*old, table);
      if (old->meaning.empty()) {
        old->meaning = key.meaning;
        old->otherwise = key.otherwise;
        old->used_if = key.used_if;
      }
      if (!old->rule && key.rule) {
        old->rule = key.rule;
        note_optional_inside(*old, name);
      } else if (old->rule && key.rule) {
        TableRule* inner = table_in(*old->rule);
        TableRule* found_inner = table_in(*key.rule);
        if (inner != nullptr && found_inner != nullptr) merge(*inner, *found_inner, name, added);
      }
    }
  }

  /// A key that turns up beside an optional one belongs to it, and when it is required the other needs it, too.
  void note_owner(TableRule& known, KeyRule& key, const std::string& table, const std::string& added) {
    for (KeyRule& owner : known.keys) {
      const bool is_owner = &owner != &key && dotted(table, owner.key) == added;
      if (!is_owner) continue;
      key.with.push_back(owner.key);
      was_owned_.emplace(dotted(table, key.key), owner.key);
      if (key.presence != Presence::required) continue;
      owner.with.push_back(key.key);
      key.presence = Presence::optional;
    }
  }

  /// A key that turns up without one that it seemed to belong to does not need it: another will do.
  void drop_owners(KeyRule& key, const std::string& table) const {
    std::erase_if(key.with, [&](const std::string& owner) {
      return was_owned_.contains({dotted(table, key.key), owner}) && !present_->contains(dotted(table, owner));
    });
  }

  void note_optional(KeyRule& key, const std::string& name) {
    if (key.presence == Presence::optional && !key.rule) new_optional_.push_back(name);
    note_optional_inside(key, name);
  }

  void note_optional_inside(KeyRule& key, const std::string& name) {
    TableRule* inner = key.rule ? table_in(*key.rule) : nullptr;
    if (inner == nullptr) return;
    for (KeyRule& inner_key : inner->keys)
      note_optional(inner_key, dotted(name, inner_key.key));
  }

  std::vector<std::string> new_optional_;
  std::set<std::pair<std::string, std::string>> was_owned_;  ///< a key by its dotted name, and its owner
  const std::set<std::string>* present_ = nullptr;           ///< keys of the rehearsal that is added
};

TableRule rehearse(const Rehearsal& rehearsal, const std::string& name, Provenance provenance,
                   const std::function<void(Section&)>& read) {
  TableRule found;
  Section section(std::make_shared<Draft>(rehearsal, found), name, {}, provenance);
  read(section);
  return found;
}

}  // namespace

TableRule describe(const std::string& name, Provenance provenance, const std::function<void(Section&)>& read,
                   const std::map<std::string, Node>& examples) {
  Findings findings;
  std::queue<std::pair<std::set<std::string>, std::string>> pending;  // keys present, and the last one of them
  pending.emplace();
  while (!pending.empty()) {
    const auto [present, added] = pending.front();
    pending.pop();
    TableRule found = rehearse({present, examples}, name, provenance, read);
    findings.add(found, name, present, added);
    for (const std::string& key : findings.take_new_optional()) {
      std::set<std::string> more = present;
      more.insert(key);
      pending.emplace(std::move(more), key);
    }
  }
  return findings.rule;
}

TableRule list_keys(const std::string& name, Provenance provenance, const std::function<void(Section&)>& read) {
  return rehearse({{}, {}, true}, name, provenance, read);
}

}}  // namespace c3::configs
