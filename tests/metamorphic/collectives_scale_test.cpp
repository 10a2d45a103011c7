// What nodes and channels may do to a collective's time, on every node preset that a fabric joins.
//
// Several nodes are never more than 10 % faster than one whose collective has as many channels: they do the
// same and more. And twice the channels take half of the time where channels are the limit. CI takes two nodes,
// one size and the largest differences in channels; C3SIM_ATTACK=whole all.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "configs/presets/scales.hpp"
#include "tests/support/pinned_collectives.hpp"

namespace c3::test::collectives_scale_test { namespace {

constexpr double kFaster = 1.10;
constexpr Bytes kSize{0x1p28};

/// What is not so, and why. Each must be found: who mends it takes it off the list.
struct Excused {
  std::string_view system;  ///< beginning of its name; empty: all
  std::string_view method;  ///< beginning, as in "gather direct"
  std::string_view reason;

  bool is_of(const ClusterSpec& cluster, const Pinned& pinned) const {
    return cluster.name.starts_with(system) && pinned.text().starts_with(method);
  }
};

constexpr std::string_view kPhases = "channels work in all phases at once, each time at their whole rate";
constexpr std::string_view kPublished = "trees go at what authors measured of all channels, however many run";
constexpr std::string_view kLastChunk =
    "pairs on one channel copy their last chunks in turn, which are smaller for more ranks";
constexpr std::string_view kOneCycle = "one node has one cycle of its four GPUs, not all wires";
constexpr std::string_view kCutOpen = "rings over nodes are cut open where a closed one has its slowest wire";

constexpr auto kFasterOverNodes = std::to_array<Excused>({
    {"", "all_reduce hierarchical", kPhases},
    {"", "all_gather hierarchical", kPhases},
    {"", "reduce_scatter hierarchical", kPhases},
    {"", "all_reduce collnet", kPhases},
    {"gb200-nvl72", "all_to_all direct", kLastChunk},
    {"gb200-nvl72", "gather direct", kLastChunk},
    {"gb200-nvl72", "scatter direct", kLastChunk},
    {"gb300-nvl72", "all_to_all direct", kLastChunk},
    {"gb300-nvl72", "gather direct", kLastChunk},
    {"gb300-nvl72", "scatter direct", kLastChunk},
    {"v100-sxm2-8", "gather direct", kLastChunk},
    {"h100-sxm-4", "all_reduce tree", kOneCycle},
    {"h200-sxm-4", "all_reduce tree", kOneCycle},
    {"mi250x-8", "all_reduce tree", kCutOpen},
    {"mi250x-8", "all_gather ring", kCutOpen},
    {"mi250x-8", "reduce_scatter ring", kCutOpen},
    {"mi250x-8", "gather direct", kCutOpen},
    {"mi250x-8", "send_receive direct", kCutOpen},
});
constexpr auto kNotHalved = std::to_array<Excused>({
    {"", "all_reduce hierarchical", kPhases},
    {"", "all_gather hierarchical", kPhases},
    {"", "reduce_scatter hierarchical", kPhases},
    {"", "all_reduce collnet", kPhases},
    {"", "all_reduce tree", kPublished},
});

/// What is checked, and what of it is excused.
class Findings {
 public:
  explicit Findings(std::span<const Excused> excused) : excused_(excused) {}

  void fail(const ClusterSpec& cluster, const Pinned& pinned, const std::string& text) {
    const auto excuse =
        std::ranges::find_if(excused_, [&](const Excused& e) { return e.is_of(cluster, pinned); });
    if (excuse == excused_.end()) FAIL_CHECK(title_of(cluster) << ": " << pinned.text() << " " << text);
    if (excuse != excused_.end()) found_.insert(&*excuse);
  }
  void check_excused() const {
    for (const Excused& excused : excused_)
      CHECK_MESSAGE(found_.contains(&excused),
                    excused.system << " " << excused.method << " is mended: " << excused.reason);
  }
  int checked = 0;
  std::set<std::string> systems, methods;

 private:
  std::span<const Excused> excused_;
  std::set<const Excused*> found_;
};

std::vector<int> widths() { return takes_all() ? std::vector{1, 2, 4, 8, 16} : std::vector{1, 8}; }
std::vector<int> node_counts() { return takes_all() ? std::vector{2, 3, 4, 8} : std::vector{2}; }

struct Fastest {
  Seconds time{std::numeric_limits<double>::infinity()};
  std::string by;
};

Fastest fastest_on(const ClusterSpec& cluster, CollectiveKind kind, int channels) {
  Fastest fastest;
  for (const Pinned& pinned : pinned_methods(kind)) {
    const auto measured = time_pinned(cluster, pinned, kSize, channels);
    if (measured && measured->time < fastest.time) fastest = {measured->time, pinned.text()};
  }
  return fastest;
}

/// NICs may spare pairs the way between the processors of a node that has no links of its own.
bool go_by_nics(const ClusterSpec& cluster, const Pinned& pinned) {
  return pinned.algorithm == Algorithm::direct && !cluster.node.host.sockets.empty();
}

/// \p several nodes beside one, all methods of \p kind.
void compare(const ClusterSpec& several, const Fastest& one, CollectiveKind kind, int channels,
             Findings& found) {
  for (const Pinned& pinned : pinned_methods(kind)) {
    if (go_by_nics(several, pinned)) continue;
    const auto measured = time_pinned(several, pinned, kSize, channels);
    if (!measured) continue;
    ++found.checked;
    found.methods.insert(pinned.text());
    found.systems.insert(several.name);
    if (measured->time * kFaster >= one.time) continue;
    found.fail(several, pinned,
               fmt::format("on {} channels takes {:.1f} us, one node by {} {:.1f}", channels,
                           measured->time / 1.0_us, one.by, one.time / 1.0_us));
  }
}

/// Each shipped node with its own fabric, and one whose switches add.
std::vector<std::pair<std::string, std::string>> joined_systems() {
  std::vector<std::pair<std::string, std::string>> systems{{"h100-sxm-8", "ib-ndr-sharp"}};
  for (const std::string& name : preset_names(PresetKind::node))
    systems.emplace_back(name, "");
  return systems;
}

TEST_CASE("several nodes are never more than 10 % faster than one at as many channels") {
  const PresetSnapshot presets;
  Findings found(kFasterOverNodes);
  for (const auto& [system, fabric] : joined_systems()) {
    const std::optional<ClusterSpec> one = shipped(system, 1);
    if (!one || one->ranks() < 2) continue;
    for (const int nodes : node_counts()) {
      const std::optional<ClusterSpec> several = shipped(system, nodes, fabric);
      if (!several) continue;
      for (const CollectiveKind kind : sized_kinds()) {
        for (const int channels : widths())
          compare(*several, fastest_on(*one, kind, channels), kind, channels, found);
      }
    }
  }
  MESSAGE(found.checked << " times over several nodes: " << found.methods.size() << " collectives, "
                        << found.systems.size() << " systems");
  CHECK(found.systems.size() > 25);
  found.check_excused();
}

/// With links, NICs and memory so fast that only channels, latencies and what the library's authors published
/// are left; what its search finds stays as it is.
ClusterSpec limited_by_channels(ClusterSpec cluster) {
  constexpr double kFast = 64.0;
  const BytesPerSecond searched = cluster.library.tuner_bandwidth;
  scale_links(cluster.node, kFast);
  scale_links(cluster.library, kFast);
  if (cluster.fabric) scale_links(*cluster.fabric, kFast);
  cluster.library.tuner_bandwidth = searched;
  cluster.node.host.memory = cluster.node.host.memory * kFast;
  return cluster;
}

/// All methods of \p kind on one channel and on two. A lane is whole: three on two channels take two turns, 1.5
/// times fewer than on one.
void double_channels(const ClusterSpec& cluster, CollectiveKind kind, Findings& found) {
  constexpr double kHalves = 1.45;
  for (const Pinned& pinned : pinned_methods(kind)) {
    const auto few = time_pinned(cluster, pinned, kSize, 1);
    const auto more = few ? time_pinned(cluster, pinned, kSize, 2) : std::nullopt;
    if (!more) continue;
    ++found.checked;
    found.methods.insert(pinned.text());
    found.systems.insert(cluster.name);
    if (few->time > more->time * kHalves) continue;
    found.fail(cluster, pinned,
               fmt::format("takes {:.1f} us on one channel, {:.1f} on two ({})", few->time / 1.0_us,
                           more->time / 1.0_us, more->limit));
  }
}

TEST_CASE("a time that channels limit halves when they double") {
  const PresetSnapshot presets;
  Findings found(kNotHalved);
  for (const auto& [system, fabric] : joined_systems()) {
    for (const int nodes : {1, 2}) {
      const std::optional<ClusterSpec> cluster = shipped(system, nodes, nodes > 1 ? fabric : "");
      if (!cluster || cluster->ranks() < 2) continue;
      for (const CollectiveKind kind : sized_kinds())
        double_channels(limited_by_channels(*cluster), kind, found);
    }
  }
  MESSAGE(found.checked << " times that channels limit: " << found.methods.size() << " collectives, "
                        << found.systems.size() << " systems");
  CHECK(found.checked > 500);
  found.check_excused();
}

}}  // namespace c3::test::collectives_scale_test
