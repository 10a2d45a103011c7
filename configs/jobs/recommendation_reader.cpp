#include "configs/jobs/recommendation_reader.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "configs/presets/spec_readers.hpp"
#include "configs/toml/rank_list.hpp"
#include "workloads/recommendation/placement.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::int64_t kMostSamples = 16'777'216;
constexpr std::int64_t kWidest = 1'048'576;
constexpr std::int64_t kMostRows = std::int64_t{1} << 40U;
constexpr std::int64_t kMostLookups = 1'048'576;
constexpr std::int64_t kMostAlike = 4096;
constexpr std::size_t kMostTables = 4096;

constexpr auto kKeys = std::to_array<KeyText>({
    {"batch", "samples of all ranks"},
    {"dtype", "of layers and tables"},
    {"bottom", "widths of the dense inputs and bottom layers"},
    {"top", "widths of the top layers"},
    {"update", "of tables", "exact_sgd"},
    {"sharder", "of tables without ranks", "in_turn"},
    {"inputs", "blocking: the host waits for its copies", "non_blocking"},
    {"input_rate", "most of a copy; default: the link's"},
    {"exchange_inputs", "ranks load and exchange their samples' indices", true},
    {"pipeline", "three_stage: inputs beside the step before", "none"},
    {"table", "embedding tables"},
});

constexpr auto kTableKeys = std::to_array<KeyText>({
    {"name", "of the table"},
    {"count", "tables alike", std::int64_t{1}},
    {"rows", "of the table"},
    {"cols", "elements of a row"},
    {"lookups", "of a sample, on average"},
    {"reuse", "of rows", "uniform"},
    {"histogram", "instead of reuse: shares of lookups to rows used 1, 2, 3-4, .. times"},
    {"recorded", "lookups of the histogram's batch"},
    {"weighted", "whether each lookup has a weight", false},
    {"memory", "that has its rows", "gpu"},
    {"cached", "share of a host's rows that the GPU has", 0.0},
    {"projected", "whether sums are widened", false},
    {"sharding", "how ranks share it", "table"},
    {"ranks", "that have it; default: in turn, or all"},
});

Rule list_of(const Rule& element) { return {ListRule{std::make_shared<Rule>(element)}}; }

std::vector<std::int64_t> read_widths(Section& section, std::string_view key) {
  const Node& written = section.node(key, list_of({IntegerRule{1, kWidest}}));
  if (section.is_rehearsal()) return {1, 1};
  std::vector<std::int64_t> widths;
  if (const Array* numbers = written.array()) {
    for (const Node& number : *numbers) {
      const auto* width = std::get_if<std::int64_t>(&number.value);
      if (width != nullptr && *width >= 1 && *width <= kWidest) widths.push_back(*width);
    }
    if (!widths.empty() && widths.size() == numbers->size()) return widths;
  }
  section.fail(key, fmt::format("must be a list of widths from 1 to {}, as in [512, 256, 64]", kWidest));
}

ReuseHistogram read_histogram(Section& section) {
  const Node& written = section.node("histogram", list_of({FractionRule{}}));
  ReuseHistogram histogram{.recorded = static_cast<double>(section.integer("recorded", 1, kMostRows))};
  if (section.is_rehearsal()) return histogram;
  const Array* shares = written.array();
  if (shares == nullptr || shares->size() != ReuseHistogram::kBins)
    section.fail("histogram",
                 fmt::format("must have {} shares: of rows used once, twice, 3 to 4 times, .., more than "
                             "32,768 times (it has {})",
                             ReuseHistogram::kBins, shares == nullptr ? 0 : shares->size()));
  for (std::size_t i = 0; i < ReuseHistogram::kBins; ++i) {
    const Node& share = (*shares)[i];
    const auto* real = std::get_if<double>(&share.value);
    const auto* whole = std::get_if<std::int64_t>(&share.value);
    const double value = real != nullptr ? *real : whole != nullptr ? static_cast<double>(*whole) : -1.0;
    if (!(value >= 0.0 && value <= 1.0)) section.fail("histogram", "a share must be a number from 0 to 1");
    histogram.lookups.at(i) = value;
  }
  const double sum = std::accumulate(histogram.lookups.begin(), histogram.lookups.end(), 0.0);
  if (std::abs(sum - 1.0) > 0.01)
    section.fail("histogram",
                 fmt::format("the shares must add up to 1, within 0.01 (they add up to {:.3f})", sum));
  return histogram;
}

/// Tables alike, under one name.
struct WrittenTables {
  EmbeddingTable table;
  std::int64_t count = 1;
};

void check_ranks(const Section& section, const EmbeddingTable& table, NodeRanks grid) {
  const auto lacks = std::ranges::find_if(table.ranks, [grid](int rank) { return rank >= grid.ranks; });
  if (lacks != table.ranks.end())
    section.fail("ranks", fmt::format("there is no rank {} of {}", *lacks, grid.ranks));
  const bool by_rank = table.sharding == TableSharding::table || table.sharding == TableSharding::column;
  if (!table.ranks.empty() && !by_rank)
    section.refuse("ranks", fmt::format("cannot be given with sharding = \"{}\", where all ranks have a part",
                                        name_of(table.sharding)));
  if (table.sharding == TableSharding::table && table.ranks.size() > 1)
    section.refuse("ranks",
                   "must be one rank with sharding = \"table\"; use sharding = \"column\" for several");
  const auto parts = table.ranks.empty() ? grid.ranks : std::ssize(table.ranks);
  if (table.sharding == TableSharding::column && table.cols % parts != 0)
    section.refuse("cols", fmt::format("must be divisible by the {} ranks that have columns (it is {})", parts,
                                       table.cols));
  if (table.sharding != TableSharding::grid) return;
  if (grid.nodes() < 2)
    section.refuse(
        "sharding",
        "grid requires several nodes, which have some columns each (there is one); row divides rows alone");
  if (table.cols % grid.nodes() != 0)
    section.refuse("cols", fmt::format("must be divisible by the {} nodes that have columns (it is {})",
                                       grid.nodes(), table.cols));
}

void check_memory(Section& section, const EmbeddingTable& table) {
  const bool is_hosts = table.memory == TableMemory::host;
  if (section.has("cached") && !is_hosts)
    section.refuse("cached", "requires memory = \"host\": tables of the GPU's memory are whole there");
  if (is_hosts && table.sharding == TableSharding::data)
    section.refuse("memory",
                   "host cannot be combined with sharding = \"data\", where every rank changes all rows");
}

WrittenTables read_table(Section& section, std::size_t number, NodeRanks grid) {
  WrittenTables written;
  EmbeddingTable& table = written.table;
  section.gather_conflicts();
  table.name = section.has("name") ? section.text("name") : fmt::format("table{}", number);
  if (section.has("count")) written.count = section.integer("count", 1, kMostAlike);
  table.rows = section.integer("rows", 1, kMostRows);
  table.cols = section.integer("cols", 1, kWidest);
  table.lookups = section.integer("lookups", 1, kMostLookups);
  const bool has_histogram = section.has("histogram");
  if (section.has("reuse")) {
    table.reuse = section.choice<ReuseProfile>("reuse");
    if (has_histogram) section.refuse("reuse", "cannot be given with histogram");
    if (table.reuse == ReuseProfile::custom)
      section.refuse("reuse", "custom is said by histogram and recorded");
  }
  if (has_histogram) {
    table.reuse = ReuseProfile::custom;
    table.histogram = read_histogram(section);
  }
  if (section.has("weighted")) table.is_weighted = section.flag("weighted");
  if (section.has("memory")) table.memory = section.choice<TableMemory>("memory");
  if (section.has("cached")) table.cached = section.fraction("cached");
  if (section.has("projected")) table.is_projected = section.flag("projected");
  if (section.has("sharding")) table.sharding = section.choice<TableSharding>("sharding");
  table.ranks = optional_ranks(section, "ranks");
  section.explain(kTableKeys);
  if (!section.is_rehearsal()) {
    check_ranks(section, table, grid);
    check_memory(section, table);
  }
  section.finish();
  return written;
}

/// The interaction multiplies sums that are as wide as the \p width of the last bottom layer.
void check_width(const Section& section, const EmbeddingTable& table, std::int64_t width) {
  if (table.is_projected && table.cols >= width)
    section.fail("cols",
                 fmt::format("must be less than the {} of the last bottom layer, to which the projection "
                             "widens sums (it is {})",
                             width, table.cols));
  if (table.is_projected || table.cols == width) return;
  section.fail("cols",
               fmt::format("must be the {} of the last bottom layer, with which the interaction multiplies "
                           "sums (it is {}){}",
                           width, table.cols, table.cols < width ? "; or say projected = true" : ""));
}

void read_tables(Section& section, RecommendationJob& job, NodeRanks grid) {
  for (Section& entry : section.tables("table", kMostTables)) {
    WrittenTables written = read_table(entry, job.tables.size(), grid);
    if (!entry.is_rehearsal()) check_width(entry, written.table, job.bottom.back());
    for (std::int64_t i = 0; i < written.count; ++i) {
      EmbeddingTable& table = job.tables.emplace_back(written.table);
      if (written.count > 1) table.name += fmt::format(".{}", i);
    }
    if (job.tables.size() > kMostTables)
      entry.fail("count", fmt::format("there are more than {} tables", kMostTables));
  }
}

}  // namespace

RecommendationJob read_recommendation(Section& root, const Sampling& sampling, const ClusterSpec& cluster) {
  Section section = root.table("recommendation", sampling);
  root.explain("recommendation", "a training step of a recommendation model; in place of [[stream]]");
  RecommendationJob job;
  const int ranks = cluster.ranks();
  job.batch = section.integer("batch", 1, kMostSamples);
  if (!section.is_rehearsal() && job.batch % ranks != 0)
    section.fail("batch", fmt::format("must be divisible by the {} ranks (it is {})", ranks, job.batch));
  job.dtype = read_dtype(section, "dtype");
  job.bottom = read_widths(section, "bottom");
  if (job.bottom.size() < 2)
    section.fail("bottom", "needs the width of the dense inputs and of one layer at least");
  job.top = read_widths(section, "top");
  if (section.has("update")) job.update = section.choice<RowUpdate>("update");
  if (section.has("sharder")) {
    job.sharder = section.choice<Sharder>("sharder");
    if (root.holds("shard")) section.refuse("sharder", "cannot be given with [shard], which says what to try");
  }
  if (section.has("inputs")) job.inputs = section.choice<InputCopies>("inputs");
  if (section.has("input_rate")) job.input_rate = section.bandwidth("input_rate");
  if (section.has("exchange_inputs")) job.exchanges_inputs = section.flag("exchange_inputs");
  if (section.has("pipeline")) job.pipeline = section.choice<InputPipeline>("pipeline");
  read_tables(section, job, node_ranks_of(cluster));
  section.explain(kKeys);
  job.overheads = read_overheads(root, section, sampling);
  section.finish();
  return job;
}

}}  // namespace c3::configs
