#include "configs/presets/straggler_reader.hpp"

#include <fmt/format.h>

#include "configs/fields/straggler_fields.hpp"
#include "configs/toml/rank_list.hpp"

namespace c3 { inline namespace configs {
namespace {

/// Each rank is there, and in one table.
void check_ranks(const Section& section, const Straggler& straggler, const ClusterSpec& cluster,
                 std::vector<bool>& is_taken) {
  for (const int rank : straggler.ranks) {
    if (rank >= cluster.ranks())
      section.fail("ranks", fmt::format("there is no rank {} of {}", rank, cluster.ranks()));
    if (is_taken[static_cast<std::size_t>(rank)])
      section.fail("ranks", fmt::format("rank {} is listed twice under [straggler]", rank));
    is_taken[static_cast<std::size_t>(rank)] = true;
  }
}

}  // namespace

std::vector<Straggler> read_stragglers(Section& root, const ClusterSpec& cluster, const Sampling& sampling) {
  std::vector<Straggler> stragglers;
  const bool is_there = root.has("straggler");
  root.explain("straggler", "ranks whose hardware is not as good as that of the others");
  if (!is_there) return stragglers;
  Section section = root.table("straggler", sampling);
  std::vector<bool> is_taken(static_cast<std::size_t>(cluster.ranks()));
  for (const ChosenKey& key : section.chosen_keys()) {
    Section entry = section.table(key.name, sampling);
    Straggler& straggler =
        stragglers.emplace_back(Straggler{.name = key.name, .ranks = read_ranks(entry, "ranks")});
    read_fields(entry, straggler.condition, kStragglerFields);
    entry.explain("ranks", "which they are: a list, or \"0-3,6\"");
    entry.finish();
    if (!entry.is_rehearsal()) check_ranks(entry, straggler, cluster, is_taken);
    if (cluster.node.gpus == 1 && entry.has("links"))
      entry.refuse("links", "there is one GPU in a node, which has no links to others");
    if (cluster.nodes == 1 && entry.has("nics"))
      entry.refuse("nics", "there is one node, whose ranks use no NIC");
    section.explain(key.name, "such ranks, by a name of your own");
  }
  return stragglers;
}

}}  // namespace c3::configs
