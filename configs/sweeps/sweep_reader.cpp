#include "configs/sweeps/sweep_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "base/nearest_name.hpp"
#include "configs/sweeps/sweep_range.hpp"
#include "configs/toml/toml_text.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr KeyText kSeedsKey = {"seeds", "repetitions of each point, each with its measure.seed",
                               std::int64_t{1}};
constexpr auto kVariedKeys = std::to_array<KeyText>({
    {"product",
     "keys and variables whose combinations run: lists, { from, to, step }, { from, to, factor } or { from, "
     "to, "
     "count, scale }"},
    {"zip", "keys and variables whose values go together one by one"},
    {"set", "keys whose values contain variables, as in \"${cus}\""},
    {"where", "conditions of points, as in \"cus <= 64 or backend == 'cu'\""},
});

constexpr std::string_view kSweep = "sweep";
constexpr std::string_view kSeed = "seed";
constexpr std::string_view kSeedKey = "measure.seed";
constexpr std::int64_t kMostSeeds = 1000;
constexpr std::array<std::string_view, 4> kColumns = {"id", "status", "error", "command"};
constexpr std::array<std::string_view, 3> kRootKeys = {"system", "nodes", "fabric"};

/// Calls \p found for every value of \p node that is no table of further keys, with its dotted name.
template <class Found>
void each_leaf(const Node& node, const std::string& prefix, Found found) {
  for (const Member& member : node.table()->members()) {
    const std::string name = prefix.empty() ? member.key : fmt::format("{}.{}", prefix, member.key);
    if (member.value.table() != nullptr && !is_axis(member.value)) {
      each_leaf(member.value, name, found);
    } else {
      found(name, member.origin, member.value);
    }
  }
}

const Node& table_at(const Node& node, std::string_view key) {
  if (node.table() == nullptr) throw ConfigError(node.origin, key, "must be a table of keys and their values");
  return node;
}

bool is_key(std::string_view name) {
  return name.find('.') != std::string::npos || std::ranges::find(kRootKeys, name) != kRootKeys.end();
}

class SweepReader {
 public:
  SweepReader(const Node& table, std::string name) : section_(table, name), table_(std::move(name)) {}

  /// \param read_more reads the keys that do not say what varies
  SweepDescription read(const std::function<void(SweepReader&)>& read_more) {
    if (section_.has("zip")) read_zips();
    if (section_.has("product")) read_product();
    read_more(*this);
    if (description_.groups.empty())
      section_.fail("product",
                    fmt::format("there is nothing to {0}: name keys in [{0}.product] or [{0}.zip]{1}", table_,
                                table_ == kSweep ? ", or seeds" : ""));
    if (section_.has("set")) read_settings();
    if (section_.has("where")) read_filters();
    section_.finish();
    refuse_idle_variables();
    return std::move(description_);
  }

  Section& section() { return section_; }

  /// Adds an axis of seeds to every point; the first seed is \p first_seed.
  void add_seeds(std::int64_t first_seed) {
    if (!section_.has("seeds")) return;
    const std::int64_t seeds = section_.integer("seeds", 1, kMostSeeds);
    if (seeds == 1) return;
    if (std::ranges::find(names_, kSeedKey) != names_.end())
      section_.fail("seeds", fmt::format("'{}' is swept already", kSeedKey));
    const Origin at = section_.node("seeds", {AnythingRule{}}).origin;
    SweepAxis axis{.name = std::string(kSeed), .key = std::string(kSeedKey), .values = {}, .origin = at};
    for (std::int64_t i = 0; i < seeds; ++i)
      axis.values.push_back({first_seed + i, at});
    names_.push_back(axis.name);
    description_.groups.push_back({std::move(axis)});
  }

 private:
  SweepAxis axis(const std::string& name, const Origin& at, const Node& values, const std::string& table) {
    const std::string dotted = fmt::format("{}.{}", table, name);
    if (std::ranges::find(names_, name) != names_.end()) throw ConfigError(at, dotted, "is swept already");
    if (name == kSeed)
      throw ConfigError(at, dotted, "is what 'seeds' counts; take 'measure.seed' or another name");
    if (std::ranges::find(kColumns, name) != kColumns.end())
      throw ConfigError(at, dotted, "is a column that every sweep's table has; take another name");
    names_.push_back(name);
    return {.name = name, .key = is_key(name) ? name : "", .values = axis_values(values, dotted), .origin = at};
  }

  void read_zip(const Node& zip) {
    SweepGroup group;
    each_leaf(table_at(zip, within("zip")), "",
              [&](const std::string& name, const Origin& at, const Node& values) {
                group.push_back(axis(name, at, values, within("zip")));
                const std::size_t wanted = group.front().values.size();
                if (group.back().values.size() != wanted) {
                  throw ConfigError(values.origin, fmt::format("{}.{}", within("zip"), name),
                                    fmt::format("has {} values where '{}' has {}: they go together one by one",
                                                group.back().values.size(), group.front().name, wanted));
                }
              });
    if (!group.empty()) description_.groups.push_back(std::move(group));
  }

  void read_zips() {
    const Node& zip = section_.node("zip", {AnythingRule{}});
    if (zip.array() == nullptr) return read_zip(zip);
    for (const Node& group : *zip.array())
      read_zip(group);
  }

  void read_product() {
    const Node& product = section_.node("product", {AnythingRule{}});
    each_leaf(table_at(product, within("product")), "",
              [&](const std::string& name, const Origin& at, const Node& values) {
                description_.groups.push_back({axis(name, at, values, within("product"))});
              });
  }

  void read_settings() {
    const Node& settings = section_.node("set", {AnythingRule{}});
    each_leaf(table_at(settings, within("set")), "",
              [&](const std::string& name, const Origin&, const Node& value) {
                description_.settings.push_back({name, value});
                substitute(value, names_, [&](std::size_t used) -> const Node& {
                  used_.push_back(names_[used]);
                  return value;
                });
              });
  }

  void read_filters() {
    const Node& where = section_.node("where", {AnythingRule{}});
    const Array conditions = where.array() == nullptr ? Array{where} : *where.array();
    for (const Node& condition : conditions) {
      if (condition.text() == nullptr)
        section_.fail("where", "must be a condition or a list of them, as texts");
      description_.filters.emplace_back(condition, names_, within("where"));
    }
  }

  /// A variable that nothing depends on is a key that was misspelled; beside others it may name a point.
  void refuse_idle_variables() const {
    for (const SweepGroup& group : description_.groups) {
      const SweepAxis& axis = group.front();
      const bool is_used = std::ranges::find(used_, axis.name) != used_.end();
      if (group.size() > 1 || !axis.key.empty() || is_used) continue;
      const std::vector<std::string> keys(kRootKeys.begin(), kRootKeys.end());
      const std::string nearest = nearest_name(axis.name, keys);
      throw ConfigError(
          axis.origin, fmt::format("{}.{}", within("product"), axis.name),
          fmt::format("changes nothing: it is no key (as gpu.hbm_read or system), and ${{{}}} stands "
                      "nowhere in [{}]{}",
                      axis.name, within("set"),
                      nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
    }
  }

  std::string within(const char* key) const { return fmt::format("{}.{}", table_, key); }

  Section section_;
  std::string table_;  ///< its name
  SweepDescription description_;
  std::vector<std::string> names_;  ///< names of all axes
  std::vector<std::string> used_;   ///< names used in [sweep.set]
};

/// `${name}` in texts replaced by values.
class Substitution {
 public:
  Substitution(const std::vector<std::string>& names, const std::function<const Node&(std::size_t)>& value_of)
      : names_(names), value_of_(value_of) {}

  Node in(const Node& node) const {
    if (const Array* array = node.array()) {
      Array list;
      for (const Node& element : *array)
        list.push_back(in(element));
      return {std::move(list), node.origin};
    }
    if (const Table* table = node.table()) {
      Table out;
      for (const Member& member : table->members())
        out.put(in_text(member.key, member.origin), member.origin, in(member.value));
      return {std::move(out), node.origin};
    }
    if (node.text() == nullptr) return node;
    const std::string& text = *node.text();
    const bool is_whole = text.starts_with(kOpen) && text.find('}') == text.size() - 1;
    if (!is_whole) return {in_text(text, node.origin), node.origin};
    return {named(text.substr(kOpen.size(), text.size() - kOpen.size() - 1), node.origin).value, node.origin};
  }

 private:
  static constexpr std::string_view kOpen = "${";

  const Node& named(std::string_view name, const Origin& at) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) throw ConfigError(at, "sweep.set", unknown_name("swept key", name, names_));
    return value_of_(static_cast<std::size_t>(found - names_.begin()));
  }

  std::string in_text(std::string_view text, const Origin& at) const {
    std::string out;
    for (;;) {
      const std::size_t open = text.find(kOpen);
      out += text.substr(0, open);
      if (open == std::string_view::npos) return out;
      const std::size_t close = text.find('}', open);
      if (close == std::string_view::npos) throw ConfigError(at, "sweep.set", "a '}' is missing behind '${'");
      const Node& value = named(text.substr(open + kOpen.size(), close - open - kOpen.size()), at);
      out += value.text() == nullptr ? write_value(value) : *value.text();
      text.remove_prefix(close + 1);
    }
  }

  const std::vector<std::string>& names_;
  const std::function<const Node&(std::size_t)>& value_of_;
};

/// The seed that \p document has, else the default of [measure]; a wrong one is refused with the experiment.
std::int64_t seed_of(const Node& document) {
  const Node* measure = document.table()->find("measure");
  const Node* seed =
      measure == nullptr || measure->table() == nullptr ? nullptr : measure->table()->find(kSeed);
  const auto* written = seed == nullptr ? nullptr : std::get_if<std::int64_t>(&seed->value);
  return written == nullptr ? static_cast<std::int64_t>(Measure{}.seed) : *written;
}

}  // namespace

std::optional<SweepDescription> take_sweep(Node& document) {
  const Node* sweep = document.table()->find("sweep");
  if (sweep == nullptr) return std::nullopt;
  const std::int64_t first_seed = seed_of(document);
  SweepDescription description =
      SweepReader(*sweep, std::string(kSweep)).read([&](SweepReader& reader) { reader.add_seeds(first_seed); });
  document.table()->erase("sweep");
  return description;
}

SweepDescription read_varied(const Node& table, const std::string& name,
                             const std::function<void(Section&)>& read_more) {
  return SweepReader(table, name).read([&](SweepReader& reader) { read_more(reader.section()); });
}

void declare_varied(Section& table) {
  const Rule text_or_texts = {
      AnyOfRule{{Rule{TextRule{}}, Rule{ListRule{std::make_shared<Rule>(Rule{TextRule{}})}}}}};
  TableRule axes;
  axes.keys.push_back({.key = slug_rule().example,
                       .presence = Presence::chosen,
                       .rule = Rule{AnythingRule{}},
                       .meaning = "a key of the file, by its path, or a variable"});
  const Rule table_or_tables = {AnyOfRule{{Rule{axes}, Rule{ListRule{std::make_shared<Rule>(Rule{axes})}}}}};
  if (table.has("product")) table.node("product", {axes});
  if (table.has("zip")) table.node("zip", table_or_tables);
  if (table.has("set")) table.node("set", {axes});
  if (table.has("where")) table.node("where", text_or_texts);
  table.explain(kVariedKeys);
}

void declare_sweep(Section& root) {
  const bool is_there = root.has(kSweep);
  root.explain(kSweep, "values of keys, for each of which `c3sim sweep` runs the experiment");
  if (!is_there) return;
  Section sweep = root.table(kSweep);
  if (sweep.has("seeds")) sweep.integer("seeds", 1, kMostSeeds);
  sweep.explain(kSeedsKey);
  declare_varied(sweep);
}

Node substitute(const Node& value, const std::vector<std::string>& names,
                const std::function<const Node&(std::size_t)>& value_of) {
  return Substitution(names, value_of).in(value);
}

}}  // namespace c3::configs
