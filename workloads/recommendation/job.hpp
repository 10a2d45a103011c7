#pragma once
/// A training step of a recommendation model: tables that are looked up, and layers that are multiplied.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "engine/units.hpp"
#include "gpu/kernels/embedding/embedding_shape.hpp"
#include "gpu/spec.hpp"
#include "workloads/program/operator_overheads.hpp"

namespace c3 { inline namespace workloads {

/// How a table is shared by the ranks.
enum class TableSharding : std::uint8_t {
  table,   ///< one rank has it
  column,  ///< several ranks have some of its columns each
  row,     ///< every rank has some of its rows, and sums of all are added up
  grid,    ///< every node has some of its columns, and in it every rank some of the rows
  data     ///< every rank has it whole, and gradients are added up
};
constexpr auto enum_names(TableSharding) {
  return std::to_array<EnumName<TableSharding>>({{"table", TableSharding::table},
                                                 {"column", TableSharding::column},
                                                 {"row", TableSharding::row},
                                                 {"grid", TableSharding::grid},
                                                 {"data", TableSharding::data}});
}

/// The memory that holds the rows of a table.
enum class TableMemory : std::uint8_t {
  gpu,
  host,  ///< but for those cached: what a batch looks up comes over the link, and goes back when it has changed
};
constexpr auto enum_names(TableMemory) {
  return std::to_array<EnumName<TableMemory>>({{"gpu", TableMemory::gpu}, {"host", TableMemory::host}});
}

struct EmbeddingTable {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t lookups = 1;  ///< of a sample, on average
  ReuseProfile reuse = ReuseProfile::uniform;
  ReuseHistogram histogram = {};  ///< where `reuse` is custom
  bool is_weighted = false;
  TableMemory memory = TableMemory::gpu;
  double cached = 0.0;        ///< share of a host's rows, the most often looked up, that the GPU holds
  bool is_projected = false;  ///< its sums are multiplied up to the width of the last bottom layer
  TableSharding sharding = TableSharding::table;
  std::vector<int> ranks = {};  ///< that have it: one by table, several by column; else empty

  bool operator==(const EmbeddingTable&) const = default;
};

/// How inputs come from the host, in PyTorch's words.
enum class InputCopies : std::uint8_t {
  non_blocking,  ///< a copy engine reads pinned memory while the host goes on
  blocking       ///< the host waits for each copy, as from pageable memory or with .to(device) alone
};
constexpr auto enum_names(InputCopies) {
  return std::to_array<EnumName<InputCopies>>(
      {{"non_blocking", InputCopies::non_blocking}, {"blocking", InputCopies::blocking}});
}

/// What overlaps of successive batches.
enum class InputPipeline : std::uint8_t {
  none,        ///< a step begins with the copies and the exchange of its inputs
  three_stage  ///< copies of the batch after the next, and the exchange of the next one's indices, beside the
               ///< step
};
constexpr auto enum_names(InputPipeline) {
  return std::to_array<EnumName<InputPipeline>>(
      {{"none", InputPipeline::none}, {"three_stage", InputPipeline::three_stage}});
}

/// Which rank gets a table by table that has none.
enum class Sharder : std::uint8_t {
  in_turn,  ///< one after another
  random,
  by_rows,  ///< these: largest first, to the rank that has least
  by_size,
  by_lookups,
  by_time,  ///< of its kernels
  search    ///< by_time, then moves and swaps that lower a bound
};
constexpr auto enum_names(Sharder) {
  return std::to_array<EnumName<Sharder>>({{"in_turn", Sharder::in_turn},
                                           {"random", Sharder::random},
                                           {"by_rows", Sharder::by_rows},
                                           {"by_size", Sharder::by_size},
                                           {"by_lookups", Sharder::by_lookups},
                                           {"by_time", Sharder::by_time},
                                           {"search", Sharder::search}});
}
/// All but the search.
inline constexpr std::array<Sharder, 6> kSharders = {Sharder::in_turn, Sharder::random,     Sharder::by_rows,
                                                     Sharder::by_size, Sharder::by_lookups, Sharder::by_time};

/// Ranks of several nodes, neighbours in each.
struct NodeRanks {
  int ranks = 1;
  int in_node = 1;

  int nodes() const { return ranks / in_node; }
};

struct RecommendationJob {
  std::int64_t batch = 1;                 ///< samples of all ranks together
  DType dtype = DType::fp32;              ///< of layers and tables
  std::vector<std::int64_t> bottom = {};  ///< widths, the first that of the dense inputs
  std::vector<std::int64_t> top =
      {};  ///< widths of its layers' outputs; the interaction's follows from the tables
  std::vector<EmbeddingTable> tables = {};
  RowUpdate update = RowUpdate::exact_sgd;
  Sharder sharder = Sharder::in_turn;
  InputCopies inputs = InputCopies::non_blocking;
  BytesPerSecond input_rate = {};  ///< most of copies from the host to a GPU; 0: what its link carries
  bool exchanges_inputs =
      true;  ///< ranks load their own samples' indices and send them to those who have the tables
  InputPipeline pipeline = InputPipeline::none;
  std::optional<OperatorOverheads> overheads = std::nullopt;  ///< absent: hosts are never late

  bool operator==(const RecommendationJob&) const = default;
};

}}  // namespace c3::workloads
