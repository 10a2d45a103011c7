// Better hardware never lengthens a collective: every key of GPU, node, library and fabric that is a rate or a
// latency, from the tables of keys, and every what-if factor, from the rules of presets.
//
// With algorithm, protocol and channels held, by no more than 0.1 %, or 2 % where flows may meet at other
// instants. Where the library chooses it may choose for
// the worse, as NCCL's tuner does, and then the choice is named (better_choice).
// CI draws; C3SIM_ATTACK=whole draws twenty times as many.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "collectives/better_choice.hpp"
#include "collectives/library/tuner.hpp"
#include "configs/fields/fabric_fields.hpp"
#include "configs/fields/gpu_fields.hpp"
#include "configs/fields/library_fields.hpp"
#include "configs/fields/node_fields.hpp"
#include "tests/support/pinned_collectives.hpp"

namespace c3::test::collectives_monotony_test { namespace {

constexpr double kLonger = 1.001;
/// A shorter latency moves the instants at which flows meet, and with them what they share, as a faster link
/// does where phases of a collective go on at once, and where ways of unlike length share wires of PCIe.
constexpr double kLongerWhereFlowsMeet = 1.03;
/// What a link in the node carries says, beside library.link_payload, how many bytes a payload takes of every
/// link there: raised alone it is a worse protocol. node.link_scale raises all of them.
constexpr std::string_view kIsNoRate = "node.link";
constexpr int kDrawn = 400;  // of a kind
const std::vector<int> kChannels = {1, 2, 4, 8, 16, 24, 32};

/// A system, and how it is loaded.
struct System {
  std::string name;
  int nodes = 1;
  std::string fabric;
  ClusterSpec cluster;
};

/// Each node preset alone and two of it; each fabric with three nodes of the first preset that it joins.
std::vector<System> all_systems() {
  std::vector<System> systems;
  const auto add = [&](const std::string& name, int nodes, const std::string& fabric) {
    const std::optional<ClusterSpec> cluster = shipped(name, nodes, fabric);
    if (cluster && cluster->ranks() > 1) systems.push_back({name, nodes, fabric, *cluster});
    return cluster.has_value();
  };
  const std::vector<std::string> names = preset_names(PresetKind::node);
  for (const std::string& name : names) {
    add(name, 1, "");
    add(name, 2, "");
  }
  for (const std::string& fabric : preset_names(PresetKind::fabric)) {
    const bool is_joined =
        std::ranges::any_of(names, [&](const std::string& name) { return add(name, 3, fabric); });
    CHECK(is_joined);
  }
  return systems;
}

/// "fabric.nic" of "fabric.nic_one_way": the rates of a link are improved together. If both directions share a
/// resource, a rate that is raised alone takes from the other.
std::string without_direction(std::string key) {
  for (const std::string_view end : {"raw", "one_way", "both_ways"}) {
    if (key.ends_with(end)) return key.substr(0, key.size() - end.size() - 1);
  }
  return key;
}

template <class Visit>
void each_key(ClusterSpec& cluster, const Visit& visit) {
  const auto in = [&](const char* table) {
    return [&visit, table](const std::string& key, QuantityOf quantity) {
      const std::string name = without_direction(fmt::format("{}.{}", table, key));
      if (quantity.dimension != Dimension::bytes && name != kIsNoRate) visit(name, quantity);
    };
  };
  each_quantity(cluster.gpu, in("gpu"));
  each_quantity(cluster.node, in("node"));
  each_quantity(cluster.library, in("library"));
  if (cluster.fabric) each_quantity(*cluster.fabric, in("fabric"));
}

/// What-if factors, and the number of NICs.
std::vector<std::string> counted_keys(bool has_fabric) {
  std::vector<std::string> keys;
  const auto add = [&](PresetKind kind) {
    for (const KeyRule& rule : preset_rule(kind).keys)
      if (rule.key.ends_with("scale")) keys.push_back(fmt::format("{}.{}", noun_of(kind), rule.key));
  };
  add(PresetKind::gpu);
  add(PresetKind::node);
  if (!has_fabric) return keys;
  add(PresetKind::fabric);
  keys.emplace_back("fabric.nics");
  return keys;
}

std::set<std::string> keys_of(System& system) {
  std::set<std::string> keys;
  each_key(system.cluster, [&](const std::string& key, QuantityOf) { keys.insert(key); });
  for (std::string& key : counted_keys(system.cluster.fabric.has_value()))
    keys.insert(std::move(key));
  return keys;
}

bool is_latency(const System& system, const std::string& key) {
  ClusterSpec cluster = system.cluster;
  bool is_duration = false;
  each_key(cluster, [&](const std::string& name, QuantityOf quantity) {
    is_duration |= name == key && quantity.dimension == Dimension::duration;
  });
  return is_duration;
}

/// Absent where it cannot be.
std::optional<ClusterSpec> improved(const System& system, const std::string& key, double factor) {
  ClusterSpec cluster = system.cluster;
  bool is_quantity = false;
  each_key(cluster, [&](const std::string& name, QuantityOf quantity) {
    if (name != key) return;
    is_quantity = true;
    *quantity.value *= quantity.dimension == Dimension::duration ? 1.0 / factor : factor;
  });
  if (is_quantity) return cluster;
  const bool is_scale = key.ends_with("scale");
  const std::string value = is_scale ? fmt::format("{}", factor)
                                     : fmt::format("{}", cluster.fabric->nics_per_node * std::lround(factor));
  return shipped(system.name, system.nodes, system.fabric, {key + "=" + value});
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[random_() % all.size()];
  }
  double between(double low, double high) {
    return low * std::pow(high / low, static_cast<double>(random_()) / 0x1p64);
  }

 private:
  std::mt19937_64 random_;
};

/// One collective on one system, and what is made better of it.
struct Case {
  const System* system;
  std::string key;
  double factor;
  CollectiveKind kind;
  Bytes bytes;

  std::string text() const {
    return fmt::format("{}: {} of {} B, {} x {:.3g}", title_of(system->cluster), name_of(kind), bytes.value,
                       key, factor);
  }
};

class Coverage {
 public:
  explicit Coverage(std::string_view what) : what_(what) {}
  ~Coverage() {
    MESSAGE(what_ << ": " << cases_ << " cases, " << moved_ << " of which changed a time; " << keys.size()
                  << " keys, " << methods_.size() << " collectives, " << systems.size() << " systems");
  }
  Coverage(const Coverage&) = delete;
  Coverage& operator=(const Coverage&) = delete;

  void add(const Case& drawn, const std::string& method, Seconds before, Seconds after) {
    ++cases_;
    moved_ += before == after ? 0 : 1;
    keys.insert(drawn.key);
    methods_.insert(method);
    systems.insert(title_of(drawn.system->cluster));
  }

  std::set<std::string> keys, systems;

 private:
  std::string_view what_;
  std::set<std::string> methods_;
  int cases_ = 0, moved_ = 0;
};

/// \returns whether the case can run
bool check_pinned(const Case& drawn, const Pinned& pinned, int channels, Coverage& all) {
  const auto before = time_pinned(drawn.system->cluster, pinned, drawn.bytes, channels);
  const std::optional<ClusterSpec> better =
      before ? improved(*drawn.system, drawn.key, drawn.factor) : std::nullopt;
  const auto after = better ? time_pinned(*better, pinned, drawn.bytes, channels) : std::nullopt;
  if (!after) return false;
  all.add(drawn, pinned.text(), before->time, after->time);
  const bool meets = is_latency(*drawn.system, drawn.key) || pinned.algorithm == Algorithm::hierarchical ||
                     pinned.algorithm == Algorithm::collnet || !drawn.system->cluster.node.host.sockets.empty();
  if (after->time > before->time * (meets ? kLongerWhereFlowsMeet : kLonger))
    FAIL_CHECK(drawn.text() << " by " << pinned.text() << " on " << channels
                            << " channels: " << before->time / 1.0_us << " us, then " << after->time / 1.0_us);
  return true;
}

/// \returns whether the library's choice is worse than the one before, and named
bool check_chosen(const Case& drawn, Coverage& all) {
  constexpr double kNamed = kLonger / (1.0 - kWorthAWord);
  const CollectiveCall call{.kind = drawn.kind, .bytes = drawn.bytes};
  const auto chosen = [&](const ClusterSpec& cluster) {
    return MeasuredMethod{.method = choose_method(call, cluster), .grain = grain_on(cluster)};
  };
  const std::optional<ClusterSpec> better = improved(*drawn.system, drawn.key, drawn.factor);
  if (!better) return false;
  const ClusterSpec& cluster = drawn.system->cluster;
  const Seconds before = measure_collective(cluster, call, chosen(cluster)).time;
  const CollectiveMeasurement after = measure_collective(*better, call, chosen(*better));
  all.add(drawn, std::string(name_of(drawn.kind)), before, after.time);
  if (after.time <= before * kNamed) return false;
  const auto found = better_choice(*better, call, chosen(*better), {}, after);
  if (found && found->of_better.time <= before * kLonger) return true;
  FAIL_CHECK(drawn.text() << ": " << before / 1.0_us << " us, then " << after.time / 1.0_us << " us by "
                          << name_of(chosen(*better).method.algorithm) << " "
                          << name_of(chosen(*better).method.protocol) << ", and nothing is said");
  return false;
}

// Every key in turn, each on a system that has it; four turns for those that are not a GPU's, which matter
// more.
TEST_CASE("with algorithm, protocol and channels held a better rate or latency never lengthens a collective") {
  const PresetSnapshot presets;
  std::vector<System> systems = all_systems();
  std::map<std::string, std::vector<const System*>> by_key;
  for (System& system : systems) {
    for (const std::string& key : keys_of(system))
      by_key[key].push_back(&system);
  }
  std::vector<std::string> turns;
  for (const auto& [key, systems_with_key] : by_key)
    turns.insert(turns.end(), key.starts_with("gpu.") && !key.ends_with("scale") ? 1 : 4, key);
  const int wanted = kDrawn * (takes_all() ? 20 : 1);
  Draw draw(1);
  Coverage all("held");
  for (const CollectiveKind kind : sized_kinds()) {
    const std::vector<Pinned> methods = pinned_methods(kind);
    std::size_t turn = 0;
    int cases = 0;
    for (int tries = 0; cases < wanted && tries < 100 * wanted; ++tries) {
      const std::string& key = turns[turn % turns.size()];
      const Case drawn{draw.one_of(by_key.at(key)), key, draw.between(1.02, 4.0), kind,
                       Bytes{std::round(draw.between(0x1p10, 0x1p30))}};
      if (!check_pinned(drawn, draw.one_of(methods), draw.one_of(kChannels), all)) continue;
      ++cases;
      ++turn;
    }
    CHECK(cases == wanted);
  }
  CHECK(all.keys.size() == by_key.size());
  CHECK(all.systems.size() > 80);
}

TEST_CASE("where a library chooses for the worse on faster links or NICs the better choice is named") {
  const PresetSnapshot presets;
  const std::vector<double> sizes =
      takes_all() ? std::vector{0x1p16, 0x1p20, 0x1p24, 0x1p28, 0x1p32} : std::vector{0x1p20, 0x1p28};
  const std::vector<System> systems = all_systems();
  Coverage all("chosen");
  int named = 0;
  for (const System& system : systems) {
    for (const std::string& key : counted_keys(system.nodes > 1)) {
      if (key.starts_with("gpu.")) continue;
      for (const double factor : {2.0, 4.0}) {
        for (const CollectiveKind kind : sized_kinds()) {
          for (const double size : sizes)
            named += check_chosen({&system, key, factor, kind, Bytes{size}}, all) ? 1 : 0;
        }
      }
    }
  }
  MESSAGE(named << " choices are worse than those without the faster links, and named");
  CHECK(named > 0);
}

}}  // namespace c3::test::collectives_monotony_test
