#include "importers/machines/ib_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "importers/machines/ib_ports.hpp"
#include "importers/machines/ib_ports_report.hpp"

namespace c3 { inline namespace importers {
namespace {

/// What most of several are; the larger of those that are equally many.
template <class Value>
Value most_common(const std::map<Value, int>& counts) {
  return std::ranges::max_element(counts, {}, [](const auto& one) { return std::pair(one.second, one.first); })
      ->first;
}

/// What hangs at a switch, and where its uplinks lead.
struct Place {
  int level = 0;  ///< 1: NICs are at it
  int nics = 0;
  double down = 0.0;  ///< Gb/s of NICs, or of links to the level below
  double up = 0.0;    ///< Gb/s of links to the level above
  std::set<std::size_t> above = {}, below = {};
};

class TreeFinder {
 public:
  TreeFinder(const std::vector<IbSwitch>& switches, FileReading& reading)
      : switches_(switches), reading_(reading), places_(switches.size()) {
    for (std::size_t one = 0; one < switches.size(); ++one)
      number_[switches[one].id] = one;
  }

  SwitchTree find() && {
    count_nics();
    set_levels();
    sum_links();
    SwitchTree tree{.levels = levels_, .has_rails = has_rails(), .gigabits = most_common(nic_rates_)};
    describe_leaves(tree);
    if (levels_ > 2) describe_pods(tree);
    say_facts();
    return tree;
  }

 private:
  void count_nics() {
    for (std::size_t one = 0; one < switches_.size(); ++one) {
      for (const IbPort& port : switches_[one].ports) {
        if (port.is_switch) continue;
        if (port.reduces) {
          reduces_ = true;
          continue;
        }
        ++places_[one].nics;
        places_[one].down += port.gigabits;
        ++nic_rates_[port.gigabits];
        ++nics_of_[port.host];
        leaves_of_[port.host].insert(one);
      }
      if (places_[one].nics > 0) places_[one].level = 1;
    }
    if (nic_rates_.empty()) throw ConfigError(switches_.front().origin, "Switch", "no switch has a NIC");
    if (nic_rates_.size() > 1) {
      reading_.unmodelled.push_back(
          {.what = fmt::format("NICs of {} to {} Gb/s: all are taken to have {}", nic_rates_.begin()->first,
                               nic_rates_.rbegin()->first, most_common(nic_rates_))});
    }
  }

  /// A switch is one level above the lowest that it is joined to.
  void set_levels() {
    std::vector<std::size_t> reached;
    for (std::size_t one = 0; one < places_.size(); ++one) {
      if (places_[one].level == 1) reached.push_back(one);
    }
    leaves_ = reached.size();
    for (std::size_t next = 0; next < reached.size(); ++next) {
      const Place& place = places_[reached[next]];
      levels_ = std::max(levels_, place.level);
      for (const IbPort& port : switches_[reached[next]].ports) {
        if (!port.is_switch) continue;
        const std::size_t other = number_.at(port.peer);
        if (places_[other].level != 0) continue;
        places_[other].level = place.level + 1;
        reached.push_back(other);
      }
    }
    if (levels_ == 1 && leaves_ > 1)
      throw ConfigError(
          switches_.front().origin, "Switch",
          "several switches have NICs and none joins them without having some; c3sim has trees of "
          "leaves and spines");
  }

  void sum_links() {
    bool is_level = false;
    for (std::size_t one = 0; one < switches_.size(); ++one) {
      for (const IbPort& port : switches_[one].ports) {
        if (!port.is_switch) continue;
        const std::size_t other = number_.at(port.peer);
        is_level |= places_[other].level == places_[one].level;
        if (places_[other].level > places_[one].level) {
          places_[one].up += port.gigabits;
          places_[one].above.insert(other);
        } else if (places_[other].level < places_[one].level) {
          places_[one].down += port.gigabits;
          places_[one].below.insert(other);
        }
      }
    }
    if (is_level)
      reading_.unmodelled.push_back({.what = "links between switches of one level: they carry nothing"});
  }

  /// Whether NICs of one node are at different leaves, as far as nodes have several.
  bool has_rails() const {
    int spread = 0;
    int together = 0;
    for (const auto& [host, nics] : nics_of_) {
      if (nics < 2) continue;
      (leaves_of_.at(host).size() > 1 ? spread : together) += 1;
    }
    return spread >= together;
  }

  void describe_leaves(SwitchTree& tree) {
    std::map<int, int> nics;
    std::map<double, int> ratios;
    for (const Place& place : places_) {
      if (place.level != 1) continue;
      ++nics[place.nics];
      tree.leaf_nics = std::max(tree.leaf_nics, place.nics);
      tree.spines = std::max(tree.spines, static_cast<int>(place.above.size()));
      if (place.up > 0.0) ++ratios[place.down / place.up];
    }
    if (!ratios.empty()) tree.leaf_oversubscription = most_common(ratios);
    say_unlike("NICs at a leaf", nics.begin()->first, nics.rbegin()->first, tree.leaf_nics);
    if (ratios.size() > 1)
      say_unlike("oversubscription of leaves", ratios.begin()->first, ratios.rbegin()->first,
                 tree.leaf_oversubscription);
  }

  template <class Value>
  void say_unlike(std::string_view what, Value least, Value most, Value taken) {
    if (least == most) return;
    reading_.unmodelled.push_back({.what = fmt::format("{}: {:.4} to {:.4}, all are taken to have {:.4}", what,
                                                       static_cast<double>(least), static_cast<double>(most),
                                                       static_cast<double>(taken))});
  }

  /// A pod is what leaves and spines join without cores.
  void describe_pods(SwitchTree& tree) {
    std::vector<std::size_t> pod(places_.size());
    std::iota(pod.begin(), pod.end(), std::size_t{0});
    const auto root = [&](std::size_t one) {
      while (pod[one] != one) {
        pod[one] = pod[pod[one]];
        one = pod[one];
      }
      return one;
    };
    for (std::size_t one = 0; one < places_.size(); ++one) {
      if (places_[one].level != 2) continue;
      for (const std::size_t leaf : places_[one].below)
        pod[root(leaf)] = root(one);
    }
    std::map<std::size_t, int> leaves;
    std::map<double, int> ratios;
    for (std::size_t one = 0; one < places_.size(); ++one) {
      const Place& place = places_[one];
      if (place.level == 1) ++leaves[root(one)];
      if (place.level != 2) continue;
      tree.spine_cores = std::max(tree.spine_cores, static_cast<int>(place.above.size()));
      if (place.up > 0.0) ++ratios[place.down / place.up];
    }
    for (const auto& [number, count] : leaves)
      tree.pod_leaves = std::max(tree.pod_leaves, count);
    if (!ratios.empty()) tree.pod_oversubscription = most_common(ratios);
  }

  void say_facts() {
    reading_.facts.push_back(
        fmt::format("{} NICs of {} nodes at {} leaf switches of {}, levels of switches: {}",
                    std::accumulate(nic_rates_.begin(), nic_rates_.end(), 0,
                                    [](int sum, const auto& one) { return sum + one.second; }),
                    nics_of_.size(), leaves_, switches_.size(), levels_));
    reading_.ignored.push_back(
        {.from = "Ca", .why = "each NIC is taken from the port of the switch that it is at"});
    reading_.ignored.push_back(
        {.from = "vendid, devid, GUIDs, LIDs", .why = "they change nothing that is simulated"});
    if (reduces_) {
      reading_.ignored.push_back(
          {.from = "Aggregation Node",
           .why = "the switches can add (SHARP), which jobs must ask for: switch_reduces = true"});
    }
  }

  const std::vector<IbSwitch>& switches_;
  FileReading& reading_;
  std::vector<Place> places_;
  std::unordered_map<std::string_view, std::size_t> number_;
  std::map<double, int> nic_rates_;
  std::unordered_map<std::string_view, int> nics_of_;
  std::unordered_map<std::string_view, std::set<std::size_t>> leaves_of_;
  std::size_t leaves_ = 0;
  int levels_ = 1;
  bool reduces_ = false;
};

bool has_sections(std::string_view text) {
  constexpr std::string_view kBegin = "Switch";
  constexpr std::string_view kBlanks = " \t";
  for (std::size_t at = text.find(kBegin); at != std::string_view::npos; at = text.find(kBegin, at + 1)) {
    if (at > 0 && text[at - 1] != '\n') continue;
    const std::size_t number = text.find_first_not_of(kBlanks, at + kBegin.size());
    const std::size_t behind = std::min(text.find_first_not_of("0123456789", number), text.size());
    const std::size_t id = std::min(text.find_first_not_of(kBlanks, behind), text.size());
    const bool has_number = number > at + kBegin.size() && number < behind;
    if (has_number && id > behind && text.substr(id).starts_with("\"S-")) return true;
  }
  return false;
}

}  // namespace

bool is_ib_network(std::string_view text) { return has_sections(text) || is_ib_ports_report(text); }

SwitchTree read_ib_tree(const ForeignFile& file, FileReading& reading) {
  const std::vector<IbSwitch> switches =
      is_ib_ports_report(file.text) ? read_ib_ports_report(file) : read_ib_switches(file);
  return TreeFinder(switches, reading).find();
}

FileReading read_ib_network(const ForeignFile& file) {
  FileReading reading{.file = file.name, .what = std::string(kIbNetworkFile)};
  const SwitchTree tree = read_ib_tree(file, reading);
  add_fabric(reading, tree, "Switch");
  return reading;
}

}}  // namespace c3::importers
