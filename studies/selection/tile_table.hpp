#pragma once
/// Products with the kernels that rocBLAS takes for them, from its own tables.

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/calibration/row_groups.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/selection/kernel_selector.hpp"
#include "gpu/spec.hpp"
#include "studies/selection/growing/selector_training.hpp"
#include "studies/study_part.hpp"

namespace c3 { inline namespace studies {

/// Places of a kernel's sequence of tokens. Rows of a tile are those of C[m,n] here, whose transpose rocBLAS
/// computes.
inline constexpr std::array<std::string_view, 5> kTileSteps = {"tile_m", "tile_n", "depth_k", "split_k",
                                                               "instruction"};
/// The instruction of a kernel that has none of the matrix units.
inline constexpr std::string_view kVectorInstruction = "vector";

struct TileProblem {
  GemmShape shape;
  std::size_t gpu = 0;               ///< place in TileTable::gpus
  std::uint64_t sizes = 0;           ///< equal for all types, layouts and GPUs of a product
  std::array<std::string, 5> taken;  ///< by step
  TakenSequence sequence;            ///< the same as numbers, with features
};

/// All GPUs of one instruction set, whose kernels are the same.
struct TileTable {
  std::string name;   ///< "gfx90a: MI210, MI250X"
  std::string words;  ///< in ids of figures: "mi200"
  std::vector<GpuSpec> gpus;
  std::vector<TileProblem> problems;
  std::array<std::vector<std::string>, 5> tokens;  ///< by step, numbers in rising order
};

struct TileTables {
  std::vector<TileTable> tables;
  std::size_t skipped = 0;          ///< products of two transposed operands, which no layout here is
  std::vector<std::string> broken;  ///< rows that say nothing sensible, each with its place
};

/// Features are still missing: \p add_features makes the jobs that add them. \throws ConfigError for a table
/// without a column, IoError
TileTables read_tile_tables(const std::filesystem::path& file);
void add_features(TileTable& table, Jobs& jobs);

/// Trained on \p rows, whose sequences are what is valid.
KernelSelector tile_selector(const TileTable& table, const Rows& rows, const TrainingOptions& options);

/// Chooses for each fifth of the sizes by what the other four fifths teach; all types, layouts and GPUs of a
/// product are on one side. If a table has too few sizes, its figures stay without a number. \param table
/// outlives it
std::unique_ptr<StudyPart> tile_choice(const TileTable& table);

inline constexpr TrainingOptions kManyTiles{
    .trees = 60, .leaves = 63, .rate = 0.2, .least_rows = 5, .features = 0.7};
/// What configs/selection/ has: few and small trees, so that its table is short.
inline constexpr TrainingOptions kShippedTiles{.trees = 30, .rate = 0.35, .least_rows = 5, .features = 0.7};

}}  // namespace c3::studies
