#include "importers/machines/slurm_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/nearest_name.hpp"
#include "base/small_letters.hpp"
#include "importers/machines/host_list.hpp"
#include "importers/machines/text_lines.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::size_t kMostMistakes = 20;
constexpr std::size_t kMostSwitches = 20'000;

/// Keys of a line. Source: SchedMD/slurm, doc/man/man5/topology.conf.5 at 033ad9c0.
const std::vector<std::string> kKeys = {"SwitchName", "Nodes", "Switches", "LinkSpeed"};

struct Switch {
  Origin origin;
  std::set<std::string> nodes = {};
  std::vector<std::string> below = {};  ///< switches
  int level = 0;                        ///< 1: a leaf; 0: not known yet
  bool has_parent = false;
};

class SlurmReader {
 public:
  SlurmReader(const ForeignFile& file, FileReading& reading)
      : lines_(file.text, file.name), reading_(reading) {}

  SwitchTree read() && {
    while (lines_.next())
      read_line();
    if (mistakes_.empty()) check();
    if (!mistakes_.empty()) throw ConfigError(mistakes_);
    return tree();
  }

 private:
  void fail(const Origin& at, std::string_view key, std::string_view message) {
    if (mistakes_.size() < kMostMistakes) mistakes_.emplace_back(at, key, message);
  }

  void read_line() {
    Switch one;
    std::string name;
    for (const std::string_view word : lines_.words()) {
      if (word.starts_with('#')) break;
      if (name.empty()) one.origin = lines_.place(word);
      const std::size_t equals = std::min(word.find('='), word.size());
      const std::string key = in_small_letters(word.substr(0, equals));
      const std::string_view value = word.substr(std::min(equals + 1, word.size()));
      read_key(word, key, value, one, name);
    }
    if (name.empty()) return;
    if (!one.nodes.empty() && !one.below.empty())
      fail(one.origin, name, "has Nodes and Switches; a switch has nodes or other switches below it");
    else if (one.nodes.empty() && one.below.empty())
      fail(one.origin, name, "has neither Nodes nor Switches");
    if (switches_.size() == kMostSwitches)
      throw ConfigError(one.origin, name, "is one of more than 20,000 switches");
    if (!switches_.try_emplace(name, std::move(one)).second)
      fail(lines_.place(lines_.words()[0]), name, "is there already");
  }

  void read_key(std::string_view word, const std::string& key, std::string_view value, Switch& one,
                std::string& name) {
    if (key == "switchname")
      name = value;
    else if (key == "nodes")
      one.nodes = distinct(expand(word, "Nodes", value));
    else if (key == "switches")
      one.below = expand(word, "Switches", value);
    else if (key == "linkspeed")
      ignore_speed();
    else if (key == "blockname" || key == "blocksizes" || key == "ringname")
      fail(lines_.place(word), word.substr(0, key.size()),
           "is of another plug-in than topology/tree, which has switches");
    else
      fail(lines_.place(word), word.substr(0, key.size()),
           unknown_name("key", word.substr(0, key.size()), kKeys));
    if (key == "switchname" && value.empty()) fail(lines_.place(word), "SwitchName", "has no name");
  }

  static std::set<std::string> distinct(const std::vector<std::string>& names) {
    return {names.begin(), names.end()};
  }

  void ignore_speed() {
    if (!std::exchange(has_speed_, true))
      reading_.ignored.push_back(
          {.from = "LinkSpeed", .why = "Slurm does not say in which unit, and does not use it"});
  }

  std::vector<std::string> expand(std::string_view word, std::string_view key, std::string_view list) {
    try {
      std::vector<std::string> names = expand_hosts(list);
      named_ += names.size();
      if (named_ > kMostHosts * 2)
        throw ConfigError(lines_.place(word), key, "the file names more than 200,000 nodes");
      return names;
    } catch (const std::invalid_argument& error) {
      fail(lines_.place(word), key, error.what());
      return {"?"};
    }
  }

  /// Every switch below another is there and is below no other; all are in one tree.
  void check() {
    if (switches_.empty()) {
      fail(lines_.begin(), "SwitchName", "no line names a switch");
      return;
    }
    for (const auto& [name, one] : switches_) {
      for (const std::string& below : one.below) {
        const auto found = switches_.find(below);
        if (found == switches_.end())
          fail(one.origin, name, fmt::format("its switch '{}' has no line", below));
        else if (std::exchange(found->second.has_parent, true))
          fail(one.origin, name, fmt::format("its switch '{}' is below another, too", below));
      }
    }
    std::vector<const std::string*> tops;
    for (const auto& [name, one] : switches_) {
      if (!one.has_parent) tops.push_back(&name);
    }
    if (!mistakes_.empty()) return;
    if (tops.empty())
      fail(lines_.begin(), "Switches", "go round in a ring: no switch is at the top");
    else if (tops.size() > 1)
      fail(switches_.at(*tops[1]).origin, *tops[1], fmt::format("no switch joins it and '{}'", *tops[0]));
    else
      set_levels(*tops[0]);
  }

  /// Each switch has one parent, so what is below the top is a tree; what is not below it is a ring.
  void set_levels(const std::string& top) {
    std::vector<std::string> order = {top};
    for (std::size_t next = 0; next < order.size(); ++next) {
      const std::vector<std::string>& below = switches_.at(order[next]).below;
      order.insert(order.end(), below.begin(), below.end());
    }
    if (order.size() < switches_.size()) {
      fail(lines_.begin(), "Switches", "some go round in a ring that the top does not reach");
      return;
    }
    for (std::size_t next = order.size(); next-- > 0;) {
      Switch& one = switches_.at(order[next]);
      one.level = 1;
      for (const std::string& below : one.below)
        one.level = std::max(one.level, switches_.at(below).level + 1);
    }
  }

  SwitchTree tree() {
    SwitchTree tree{.knows_uplinks = false};
    int leaves = 0;
    std::size_t links = 0;
    std::set<std::string> nodes;
    std::set<int> sizes;
    for (const auto& [name, one] : switches_) {
      tree.levels = std::max(tree.levels, one.level);
      const auto in_leaf = static_cast<int>(one.nodes.size());
      tree.leaf_nics = std::max(tree.leaf_nics, in_leaf);
      if (one.level == 2) tree.pod_leaves = std::max(tree.pod_leaves, static_cast<int>(one.below.size()));
      if (in_leaf == 0) continue;
      ++leaves;
      links += one.nodes.size();
      nodes.insert(one.nodes.begin(), one.nodes.end());
      sizes.insert(in_leaf);
    }
    tree.spines = tree.leaf_nics;
    tree.spine_cores = tree.pod_leaves;
    reading_.facts.push_back(
        fmt::format("{} nodes at {} leaf switches, levels of switches: {}", nodes.size(), leaves, tree.levels));
    if (links > nodes.size())
      reading_.unmodelled.push_back(
          {.what = fmt::format("{} of {} entries name a node that another leaf switch has, "
                               "too: each leaf is taken to have nodes of its own",
                               links - nodes.size(), links)});
    if (sizes.size() > 1) {
      reading_.unmodelled.push_back({.what = fmt::format("leaves of {} to {} nodes: all are taken to have {}",
                                                         *sizes.begin(), *sizes.rbegin(), *sizes.rbegin())});
    }
    return tree;
  }

  TextLines lines_;
  FileReading& reading_;
  std::map<std::string, Switch> switches_;
  std::vector<ConfigError> mistakes_;
  std::size_t named_ = 0;
  bool has_speed_ = false;
};

}  // namespace

bool is_slurm_topology(std::string_view text) {
  const std::string none;
  TextLines lines(text, none);
  while (lines.next()) {
    if (lines.words().empty() || lines.words().front().starts_with('#')) continue;
    const std::string_view word = lines.words().front();
    const std::string key = in_small_letters(word.substr(0, std::min(word.find('='), word.size())));
    const bool is_first = key == "switchname" || key == "blockname" || key == "ringname";
    return is_first && key.size() < word.size();
  }
  return false;
}

SwitchTree read_slurm_tree(const ForeignFile& file, FileReading& reading) {
  return SlurmReader(file, reading).read();
}

FileReading read_slurm_topology(const ForeignFile& file) {
  FileReading reading{.file = file.name, .what = std::string(kSlurmTopologyFile)};
  const SwitchTree tree = read_slurm_tree(file, reading);
  add_fabric(reading, tree, "SwitchName");
  return reading;
}

}}  // namespace c3::importers
