#include "configs/jobs/shard_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include <fmt/format.h>

#include "base/nearest_name.hpp"
#include "configs/toml/rank_list.hpp"
#include "workloads/recommendation/placement.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::int64_t kMostPlacements = 1'048'576;
constexpr std::int64_t kLargestSeed = std::int64_t{1} << 40U;

constexpr auto kShardKeys = std::to_array<KeyText>({
    {"sharders", "to try, in order; default: all"},
    {"placements", "to simulate, at most", std::int64_t{40}},
    {"seed", "of random ones", std::int64_t{0}},
    {"placement", "instead: rank of each"},
});

std::vector<Sharder> read_sharders(Section& section) {
  const std::vector<std::string> known = names_listed<Sharder>();
  const Rule rule{ListRule{std::make_shared<Rule>(Rule{ChoiceRule{known}})}};
  const Node& written = section.node("sharders", rule);
  if (section.is_rehearsal()) return {Sharder::search};
  const Array* names = written.array();
  if (names == nullptr || names->empty())
    section.fail("sharders",
                 fmt::format("must be a list of sharders, as in [\"search\", \"{}\"]", known.back()));
  std::vector<Sharder> sharders;
  for (const Node& name : *names) {
    const auto sharder = name.text() == nullptr ? std::nullopt : value_named<Sharder>(*name.text());
    if (!sharder)
      throw ConfigError(name.origin, section.dotted("sharders"),
                        unknown_name("sharder", name.text() == nullptr ? "" : *name.text(), known));
    sharders.push_back(*sharder);
  }
  return sharders;
}

Placement read_placement(Section& section, std::size_t tables, int ranks) {
  const std::vector<int> placement = optional_ranks(section, "placement");
  if (placement.empty() || section.is_rehearsal()) return {};
  if (placement.size() != tables)
    section.fail("placement",
                 fmt::format("must have a rank for each of the {} tables without ranks (it has {})", tables,
                             placement.size()));
  const auto lacks = std::ranges::find_if(placement, [ranks](int rank) { return rank >= ranks; });
  if (lacks != placement.end())
    section.fail("placement", fmt::format("there is no rank {} of {}", *lacks, ranks));
  return placement;
}

}  // namespace

std::optional<WrittenShard> read_shard(Section& root, const RecommendationJob& job, int ranks) {
  if (!root.has("shard")) return std::nullopt;
  Section section = root.table("shard");
  root.explain("shard", "a search of tables' placements");
  const auto tables = static_cast<std::size_t>(std::ranges::count_if(job.tables, is_free));
  if (tables == 0)
    root.refuse("shard", "requires tables by table without ranks, which it places (there are none)");
  WrittenShard shard;
  if (section.has("sharders")) shard.plan.sharders = read_sharders(section);
  if (section.has("placements"))
    shard.plan.placements = static_cast<int>(section.integer("placements", 1, kMostPlacements));
  if (section.has("seed"))
    shard.plan.seed = static_cast<std::uint64_t>(section.integer("seed", 0, kLargestSeed));
  shard.placement = read_placement(section, tables, ranks);
  section.explain(kShardKeys);
  section.finish();
  return shard;
}

}}  // namespace c3::configs
