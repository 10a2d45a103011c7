#include "results/sweep/swept_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace c3 { inline namespace results {
namespace {

constexpr std::string_view kSeed = "seed";

SweptKey text_axis(const ColumnSpec& spec, const std::vector<std::string>& texts) {
  SweptKey axis{.name = spec.name};
  for (const std::string& text : texts) {
    const auto found = std::ranges::find(axis.labels, text);
    axis.level.push_back(static_cast<std::size_t>(found - axis.labels.begin()));
    if (found == axis.labels.end()) axis.labels.push_back(text);
  }
  return axis;
}

SweptKey number_axis(const ColumnSpec& spec, const auto& values, const LevelLabels& label) {
  SweptKey axis{.name = spec.name, .units = spec.units};
  for (const auto value : values)
    axis.numbers.push_back(static_cast<double>(value));
  std::vector<double> sorted = axis.numbers;
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (const double value : axis.numbers)
    axis.level.push_back(static_cast<std::size_t>(std::ranges::lower_bound(sorted, value) - sorted.begin()));
  axis.numbers = std::move(sorted);
  if (label) {
    axis.labels = label(spec.units, axis.numbers);
  } else {
    for (const double value : axis.numbers)
      axis.labels.push_back(fmt::format("{}", value));
  }
  return axis;
}

/// Whether every value of \p a goes with one value of \p b.
bool determines(const SweptKey& a, const SweptKey& b) {
  std::vector<std::optional<std::size_t>> partner(a.levels());
  for (std::size_t row = 0; row < a.level.size(); ++row) {
    auto& known = partner[a.level[row]];
    if (!known) known = b.level[row];
    if (*known != b.level[row]) return false;
  }
  return true;
}

void find_followers(std::vector<SweptKey>& axes, const std::vector<std::string>& preferred) {
  std::vector<SweptKey*> order;
  for (SweptKey& axis : axes)
    if (axis.levels() > 1) order.push_back(&axis);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](const SweptKey* axis) {
    return std::pair(axis->levels(), std::ranges::find(preferred, axis->name) != preferred.end());
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t leader = 0; leader < i && order[i]->follows.empty(); ++leader) {
      if (order[leader]->follows.empty() && determines(*order[leader], *order[i]))
        order[i]->follows = order[leader]->name;
    }
  }
}

/// Strategies, and [training] of a training step, determine how a job is run.
bool is_choice(const std::string& key) { return key.starts_with("strategy.") || key.starts_with("training."); }

bool is_of_machine(const std::string& key) {
  constexpr std::array<std::string_view, 6> kTables{"system", "nodes", "gpu", "node", "fabric", "library"};
  return std::ranges::find(kTables, std::string_view(key).substr(0, key.find('.'))) != kTables.end();
}

/// Whether a key for which \p is_counted holds is set otherwise in \p one than in \p other.
bool differ(const std::string& one, const std::string& other, bool (*is_counted)(const std::string&)) {
  const auto a = sets_of(one), b = sets_of(other);
  const auto is_missing_in = [&](const auto& sets) {
    return [&](const auto& set) { return is_counted(set.first) && std::ranges::find(sets, set) == sets.end(); };
  };
  return std::ranges::any_of(a, is_missing_in(b)) || std::ranges::any_of(b, is_missing_in(a));
}

/// Compares two points that differ in the value of \p axis alone, and in what follows it.
void find_role(SweptKey& axis, const std::vector<SweptKey>& axes, const std::vector<std::string>& commands) {
  std::map<std::vector<std::size_t>, std::size_t> first;
  for (std::size_t row = 0; row < commands.size(); ++row) {
    std::vector<std::size_t> others;
    for (const SweptKey& other : axes)
      if (other.name != axis.name && other.is_free()) others.push_back(other.level[row]);
    const std::size_t reference = first.try_emplace(others, row).first->second;
    if (axis.level[row] == axis.level[reference]) continue;
    const auto is_given = [](const std::string& key) { return !is_choice(key); };
    axis.is_given = differ(commands[row], commands[reference], is_given);
    axis.is_machine = differ(commands[row], commands[reference], is_of_machine);
    return;
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> sets_of(const std::string& command) {
  std::vector<std::string> words{""};
  bool is_quoted = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == '\'') {
      is_quoted = !is_quoted;
    } else if (c == '\\' && !is_quoted && i + 1 < command.size()) {
      words.back() += command[++i];
    } else if (c == ' ' && !is_quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::vector<std::pair<std::string, std::string>> sets;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] != "--set") continue;
    const std::string& set = words[i + 1];
    const std::size_t end = std::min(set.find('='), set.size());
    sets.emplace_back(set.substr(0, end), set.substr(std::min(end + 1, set.size())));
  }
  return sets;
}

std::size_t level_of(const SweptKey& axis, std::string_view label) {
  const auto bare = [](std::string_view text) {
    std::string kept;
    std::ranges::copy_if(text, std::back_inserter(kept), [](char c) { return c != ' '; });
    return kept;
  };
  const auto is_it = [&](const std::string& known) { return bare(known) == bare(label); };
  return static_cast<std::size_t>(std::ranges::find_if(axis.labels, is_it) - axis.labels.begin());
}

SweepTable only_rows(const SweepTable& table, const std::vector<SweptKey>& axes,
                     const std::vector<std::pair<std::string, std::string>>& only) {
  const auto is_kept = [&](std::size_t row) {
    return std::ranges::all_of(axes, [&](const SweptKey& axis) {
      bool is_asked = false;
      for (const auto& [key, label] : only) {
        if (key != axis.name) continue;
        if (level_of(axis, label) == axis.level[row]) return true;
        is_asked = true;
      }
      return !is_asked;
    });
  };
  SweepTable kept{.attributes = table.attributes, .columns = {}, .axes = table.axes};
  for (const ColumnData& column : table.columns) {
    const auto filtered = [&](const auto& values) {
      std::decay_t<decltype(values)> result;
      for (std::size_t row = 0; row < values.size(); ++row)
        if (is_kept(row)) result.push_back(values[row]);
      return ColumnData{.spec = column.spec, .values = std::move(result)};
    };
    kept.columns.push_back(std::visit(filtered, column.values));
  }
  return kept;
}

std::vector<SweptKey> swept_keys(const SweepTable& table, const LevelLabels& label,
                                 const std::vector<std::string>& preferred) {
  std::vector<SweptKey> axes;
  for (std::size_t i = 1; i <= table.axes; ++i) {
    const ColumnData& column = table.columns[i];
    if (column.spec.name == kSeed && i == table.axes) continue;
    if (const auto* texts = std::get_if<std::vector<std::string>>(&column.values)) {
      axes.push_back(text_axis(column.spec, *texts));
    } else if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&column.values)) {
      axes.push_back(number_axis(column.spec, *whole, label));
    } else {
      axes.push_back(number_axis(column.spec, std::get<std::vector<double>>(column.values), label));
    }
  }
  find_followers(axes, preferred);
  for (SweptKey& axis : axes)
    find_role(axis, axes, table.texts("command"));
  return axes;
}

}}  // namespace c3::results
