#include "studies/collectives/systems_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/nearest_name.hpp"
#include "base/small_letters.hpp"
#include "base/trimmed.hpp"
#include "configs/presets/preset_store.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::array<std::string_view, 16> kColumns = {
    "file", "system", "nodes",   "fabric",   "algorithm",    "protocol", "launch", "gpus",
    "op",   "where",  "library", "channels", "min_channels", "qps",      "set",    "sets"};

template <class Names>
std::vector<std::string> list_of(const Names& names) {
  return {names.begin(), names.end()};
}

/// A name in the form of presets and algorithms: "NVLS Tree" is "nvls_tree".
std::string as_word(std::string_view cell) {
  std::string word = in_small_letters(cell);
  std::ranges::replace_if(
      word, [](char c) { return c == ' ' || c == '-'; }, '_');
  return word;
}

class EntryReader {
 public:
  EntryReader(const HeadedTable& table, const HeadedTable::Row& row) : table_(table), row_(row) {}

  MapEntry read() const {
    MapEntry entry;
    entry.file = cell("file");
    if (entry.file.empty()) fail("file", "is missing");
    entry.at = table_.place_of(row_, cell("file"));
    entry.system = preset("system", PresetKind::node);
    if (entry.system.empty()) fail("system", "is missing");
    entry.nodes = whole("nodes");
    entry.fabric = preset("fabric", PresetKind::fabric);
    entry.wish = {one_of("algorithm", kAlgorithms), one_of("protocol", kProtocols), limits()};
    entry.launch = one_of("launch", kLaunchPaths).value_or(LaunchPath::eager);
    entry.gpus = whole("gpus");
    entry.op = said("op");
    entry.op_at = table_.place_of(row_, cell("op"));
    entry.where = filters();
    entry.library = preset("library", PresetKind::library);
    entry.overrides = overrides();
    entry.set_at = table_.place_of(row_, cell("set"));
    entry.sets = cell("sets");
    return entry;
  }

 private:
  std::string_view cell(std::string_view column) const {
    const auto found = table_.find({column});
    return found ? row_.cells[*found] : std::string_view();
  }

  /// What the cell says, when it leaves nothing to choose.
  std::string said(std::string_view column) const {
    const std::string word = in_small_letters(cell(column));
    return word == "auto" || word == "default" ? "" : std::string(cell(column));
  }

  [[noreturn]] void fail(std::string_view column, std::string_view reason) const {
    throw table_.error(row_, cell(column), column, reason);
  }

  /// The value that the cell names; absent where it leaves the choice.
  template <class Values, class Value = std::ranges::range_value_t<Values>>
  std::optional<Value> one_of(std::string_view column, const Values& values) const {
    const std::string word = as_word(said(column));
    if (word.empty()) return std::nullopt;
    const auto found = std::ranges::find(values, word, [](Value value) { return name_of(value); });
    if (found != values.end()) return *found;
    std::vector<std::string> names;
    for (const Value value : values)
      names.emplace_back(name_of(value));
    fail(column, unknown_name(column, cell(column), names));
  }

  std::string preset(std::string_view column, PresetKind kind) const {
    std::string name = said(column);
    const auto names = preset_names(kind);
    if (!name.empty() && std::ranges::find(names, name) == names.end())
      fail(column, unknown_name(column, name, names));
    return name;
  }

  std::optional<int> whole(std::string_view column) const {
    const std::string written = said(column);
    if (written.empty()) return std::nullopt;
    const auto number = number_in(written);
    constexpr double kMost = 1e6;
    if (!number || *number < 1 || *number > kMost || *number != std::floor(*number))
      fail(column, fmt::format("must be a whole number from 1 on, not '{}'", written));
    return static_cast<int>(*number);
  }

  ChannelLimits limits() const {
    const ChannelLimits limits{whole("min_channels").value_or(0), whole("channels").value_or(0)};
    if (limits.most > 0 && limits.least > limits.most)
      fail("min_channels", fmt::format("must not be above channels ({})", limits.most));
    return limits;
  }

  struct Assignment {
    std::string key, value;
  };

  /// "key=value; key=value"
  std::vector<Assignment> assignments(std::string_view column, std::string_view form) const {
    std::vector<Assignment> found;
    for (std::string_view rest = cell(column); !rest.empty();) {
      const std::string_view whole = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(rest.size(), whole.size() + 1));
      const std::string_view part = trimmed(whole);
      if (part.empty()) continue;
      const std::size_t equals = part.find('=');
      if (equals == std::string_view::npos || equals == 0)
        fail(column, fmt::format("'{}' is not of the form {}", part, form));
      found.push_back(
          {std::string(trimmed(part.substr(0, equals))), std::string(trimmed(part.substr(equals + 1)))});
    }
    return found;
  }

  std::vector<CellFilter> filters() const {
    std::vector<CellFilter> found;
    for (Assignment& assignment : assignments("where", "column=value"))
      found.push_back({std::move(assignment.key), std::move(assignment.value)});
    return found;
  }

  /// Overrides in the form that --set takes, those of other columns first.
  std::vector<std::string> overrides() const {
    std::vector<std::string> found;
    if (const auto qps = whole("qps")) found.push_back(fmt::format("library.qps={}", *qps));
    for (const Assignment& assignment : assignments("set", "key=value"))
      found.push_back(fmt::format("{}={}", assignment.key, assignment.value));
    return found;
  }

  const HeadedTable& table_;
  const HeadedTable::Row& row_;
};

}  // namespace

SystemsMap read_systems_map(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const std::string& column : table.columns()) {
    if (std::ranges::find(kColumns, column) == kColumns.end())
      throw table.header_error(column, unknown_name("column", column, list_of(kColumns)));
  }
  const std::size_t files = table.need({"file"}, "the table of measurements");
  table.need({"system"}, "the node preset that it is of");
  SystemsMap map{.entries = {}, .broken = table.broken(), .files = {}};
  for (const HeadedTable::Row& row : table.rows()) {
    map.files.emplace_back(row.cells[files]);
    try {
      map.entries.push_back(EntryReader(table, row).read());
    } catch (const ConfigError& error) {
      map.broken.emplace_back(error.what());
    }
  }
  return map;
}

}}  // namespace c3::studies
