#pragma once
/// What [sweep] of an experiment file says (configs/README.md, "A sweep").

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "configs/sweeps/sweep_filter.hpp"
#include "configs/toml/section.hpp"
#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

/// What is swept, and its values. A name with a dot, `system`, `nodes` or `fabric` is a key of the file; any
/// other is a variable, for `${name}` in [sweep.set], for filters and for tables.
struct SweepAxis {
  std::string name;
  std::string key;  ///< key that takes the values; empty for a variable
  std::vector<Node> values;
  Origin origin;
};

/// Axes with as many values each, that go together.
using SweepGroup = std::vector<SweepAxis>;

/// A key that is set for each point, with the point's values in place of `${name}`.
struct SweepSetting {
  std::string key;
  Node value;
};

struct SweepDescription {
  std::vector<SweepGroup> groups;  ///< crossed, the last varies fastest: the seeds, where there are several
  std::vector<SweepSetting> settings;
  std::vector<SweepFilter> filters;
};

/// Takes `sweep` out of \p document, read; absent when it has none. \throws ConfigError
std::optional<SweepDescription> take_sweep(Node& document);

/// What varies in \p table, which is called \p name and has the keys of [sweep] but `seeds`. \param read_more
/// reads its other keys, first. \throws ConfigError
SweepDescription read_varied(const Node& table, const std::string& name,
                             const std::function<void(Section&)>& read_more);

/// Says to a rehearsal what `sweep` of \p root may hold.
void declare_sweep(Section& root);
/// Says to a rehearsal which keys of \p table say what varies.
void declare_varied(Section& table);

/// \p value with what \p value_of gives for each `${name}`: the value itself where a text is nothing else, its
/// text within a longer one. In lists and tables and in their keys, too. \throws ConfigError for an unknown
/// name.
Node substitute(const Node& value, const std::vector<std::string>& names,
                const std::function<const Node&(std::size_t)>& value_of);

}}  // namespace c3::configs
