#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/enum_names.hpp"
#include "configs/presets/preset_store.hpp"
#include "studies/checked_row.hpp"
#include "studies/interference/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kWhat = "for a product and its tile";
constexpr std::int64_t kLargest = std::int64_t{1} << 30U;
constexpr std::array<std::string_view, 1> kGpus = {"MI300X"};
constexpr std::array<std::string_view, 1> kTypes = {"bf16"};

/// `operand_cdna3` was set from the tile of 8192^3.
FigureKind kind_of(const GemmShape& shape) {
  const bool was_set_from = shape.m == 8192 && shape.n == 8192 && shape.k == 8192;
  return was_set_from ? FigureKind::fitted : FigureKind::predicted;
}

}  // namespace

TilesPart::TilesPart(const std::filesystem::path& file) {
  const GpuSpec gpu = load_gpu("mi300x");
  const HeadedTable table(file);
  for (const HeadedTable::Row& table_row : table.rows()) {
    const CheckedRow row(table, table_row, kWhat);
    row.one_of("gpu", kGpus);
    row.one_of("dtype", kTypes);
    const GemmShape shape{.m = row.whole("m", kLargest),
                          .n = row.whole("n", kLargest),
                          .k = row.whole("k", kLargest),
                          .dtype = DType::bf16};
    rows_.push_back(
        {shape, row.whole("tile_m", kLargest), row.whole("tile_n", kLargest), plan_gemm(shape, gpu)});
  }
}

StudySection TilesPart::section(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Tiles of products on MI300X: hipBLASLt's and the fastest by our model",
      .lines = {},
      .notes = {"Same: one product with one tile, the fastest by waves, loads and fill. The wave "
                "count of a product follows from its tile, and so does what lost CUs cost it."},
      .value = "same",
      .decimals = 0};
  StudyLine all{
      .figure = {.reference = published.find("tiles.same"), .kind = FigureKind::fitted, .simulated = 0.0},
      .label = "all products",
      .rows = rows_.size()};
  for (const Row& row : rows_) {
    const GemmTile& tile = row.ours.tile;
    const bool same = tile.m == row.tile_m && tile.n == row.tile_n && row.ours.split == 1;
    *all.figure.simulated += same ? 1.0 : 0.0;
    section.lines.push_back(
        {.figure = {.reference = published.find("tiles.same.one"),
                    .kind = kind_of(row.shape),
                    .simulated = same ? 1.0 : 0.0},
         .label = fmt::format("{} x {} x {}: {} x {}, here {} x {}", row.shape.m, row.shape.n, row.shape.k,
                              row.tile_m, row.tile_n, tile.m, tile.n),
         .rows = 1,
         .beside = {{"tiles here [1]", static_cast<double>(row.ours.work_groups)}}});
  }
  section.lines.push_back(std::move(all));
  return section;
}

}}  // namespace c3::studies
