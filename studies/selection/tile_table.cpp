#include "studies/selection/tile_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "configs/presets/preset_store.hpp"
#include "engine/random.hpp"
#include "gpu/selection/problem_features.hpp"
#include "studies/checked_row.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 30U;
constexpr std::array<std::string_view, 3> kTypes = {"bf16", "fp16", "fp32"};
constexpr std::array kDTypes = {DType::bf16, DType::fp16, DType::fp32};
constexpr std::array<std::string_view, 4> kLayouts = {"TN", "NN", "NT",
                                                      "TT"};  // the first three as GemmLayout has them

/// A GPU as the table names it, with the table that it is in here.
struct NamedGpu {
  std::string_view name;
  std::size_t table;
  std::size_t gpu;
};
constexpr std::array<NamedGpu, 5> kGpus = {{{"MI100", 0, 0},
                                            {"MI210, 104 CUs", 1, 0},
                                            {"MI250X die, 110 CUs", 1, 1},
                                            {"MI300X", 2, 0},
                                            {"MI300A", 2, 1}}};

/// Six of MI300X's eight dies: 228 CUs (AMD MI300A data sheet).
GpuSpec mi300a() {
  GpuSpec gpu = load_gpu("mi300x");
  gpu.compute.xcds = 6;
  return gpu;
}

std::vector<TileTable> empty_tables() {
  std::vector<TileTable> tables;
  tables.push_back(
      {.name = "MI100", .words = "mi100", .gpus = {load_gpu("mi100")}, .problems = {}, .tokens = {}});
  tables.push_back({.name = "MI210 and MI250X",
                    .words = "mi200",
                    .gpus = {load_gpu("mi210"), load_gpu("mi250x-gcd")},
                    .problems = {},
                    .tokens = {}});
  tables.push_back({.name = "MI300X and MI300A",
                    .words = "mi300",
                    .gpus = {load_gpu("mi300x"), mi300a()},
                    .problems = {},
                    .tokens = {}});
  return tables;
}

const NamedGpu& gpu_in(const CheckedRow& row) {
  std::vector<std::string_view> names;
  for (const NamedGpu& gpu : kGpus)
    names.push_back(gpu.name);
  return kGpus[row.one_of("gpu", names)];
}

/// Rows and columns change places: rocBLAS computes column by column.
TileProblem problem_in(const CheckedRow& row, GemmLayout layout) {
  const auto whole = [&](std::string_view column) { return row.whole(column, kLargest); };
  TileProblem problem{.shape = {.m = whole("n"),
                                .n = whole("m"),
                                .k = whole("k"),
                                .dtype = kDTypes[row.one_of("dtype", kTypes)],
                                .batch = whole("batch"),
                                .layout = layout},
                      .gpu = gpu_in(row).gpu,
                      .sizes = 0,
                      .taken = {},
                      .sequence = {}};
  problem.sizes = stable_hash(
      fmt::format("{} {} {} {}", problem.shape.m, problem.shape.n, problem.shape.k, problem.shape.batch));
  const std::string_view instruction = row.cell("matrix_instruction");
  problem.taken = {std::to_string(whole("tile_n")), std::to_string(whole("tile_m")),
                   std::to_string(whole("depth_k")), std::to_string(whole("split_k")),
                   std::string(instruction.empty() ? kVectorInstruction : instruction)};
  return problem;
}

/// Shorter numbers first: all have no leading zeros.
bool is_before(const std::string& a, const std::string& b) {
  return std::pair(a.size(), std::string_view(a)) < std::pair(b.size(), std::string_view(b));
}

void number_tokens(TileTable& table) {
  for (std::size_t step = 0; step < kTileSteps.size(); ++step) {
    std::vector<std::string>& names = table.tokens[step];
    for (const TileProblem& problem : table.problems)
      names.push_back(problem.taken[step]);
    std::ranges::sort(names, is_before);
    names.erase(std::ranges::unique(names).begin(), names.end());
    for (TileProblem& problem : table.problems)
      problem.sequence.tokens.push_back(
          static_cast<int>(std::ranges::lower_bound(names, problem.taken[step], is_before) - names.begin()));
  }
}

}  // namespace

TileTables read_tile_tables(const std::filesystem::path& file) {
  TileTables found{.tables = empty_tables(), .skipped = 0, .broken = {}};
  read_rows(file, "of a product", found.broken, [&](const CheckedRow& row) {
    const std::size_t layout = row.one_of("layout", kLayouts);
    if (layout >= 3) {
      ++found.skipped;
      return;
    }
    found.tables[gpu_in(row).table].problems.push_back(problem_in(row, static_cast<GemmLayout>(layout)));
  });
  for (TileTable& table : found.tables)
    number_tokens(table);
  return found;
}

void add_features(TileTable& table, Jobs& jobs) {
  jobs.emplace_back([&table] {
    for (TileProblem& problem : table.problems) {
      problem.sequence.features = features_of(problem.shape, table.gpus[problem.gpu]);
      problem.sequence.kind = kind_of(problem.shape);
    }
  });
}

KernelSelector tile_selector(const TileTable& table, const Rows& rows, const TrainingOptions& options) {
  KernelSelector selector{
      .features = table.problems.front().sequence.features.size(), .steps = {}, .valid = {}};
  for (std::size_t step = 0; step < kTileSteps.size(); ++step)
    selector.steps.push_back(
        {.what = std::string(kTileSteps[step]), .tokens = table.tokens[step], .trees = {}});
  std::vector<TakenSequence> taken;
  std::map<std::string, std::vector<TokenSequence>> sequences;
  for (const std::size_t row : rows) {
    taken.push_back(table.problems[row].sequence);
    sequences[taken.back().kind].push_back(taken.back().tokens);
  }
  for (auto& [kind, of_kind] : sequences)
    selector.valid.emplace(kind, ValidSequences(std::move(of_kind)));
  train_steps(selector, taken, options);
  return selector;
}

}}  // namespace c3::studies
