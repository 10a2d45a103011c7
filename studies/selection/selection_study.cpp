#include "studies/study_table.hpp"

#include <fmt/format.h>

#include <deque>
#include <memory>
#include <string_view>
#include <utility>

#include "configs/presets/preset_store.hpp"
#include "configs/presets/selector_file.hpp"
#include "studies/convolutions/find_db.hpp"
#include "studies/selection/solver_table.hpp"
#include "studies/selection/tile_table.hpp"

namespace c3 { inline namespace studies {
namespace {

/// The find-db of a GPU. \param outcome gets what of it could not be used
void add_solver_table(const StudyInput& input, const std::string& name, const std::string& preset,
                      std::deque<SolverTable>& tables, Jobs& jobs, StudyOutcome& outcome) {
  const FindDb db = read_find_db(input.data / "kernels" / ("miopen_convolution_" + preset + ".csv"));
  outcome.broken.insert(outcome.broken.end(), db.broken.begin(), db.broken.end());
  tables.push_back(
      {.name = name, .words = preset, .gpu = as_in_find_db(load_gpu(preset)), .problems = {}, .tokens = {}});
  read_solver_table(db, tables.back(), jobs);
}

constexpr std::string_view kComment =
    "Weights of boosted trees: c3sim reproduce selection --weights. Trained on tables of ";

/// Jobs that train on all rows of \p table, as the sort of its GPU's CUs calls it.
void train_all(const SolverTable& table, SelectorTable& trained, Jobs& jobs) {
  if (table.problems.empty()) return;
  for (const ConvolutionPass pass : kConvolutionPasses) {
    KernelSelector& selector = trained[fmt::format("{}.{}", table.gpu.family.name, name_of(pass))];
    jobs.emplace_back([&table, &selector, pass] {
      selector = solver_selector(table, every_row(table.problems.size()), pass, kShippedSolvers);
    });
  }
}

void train_all(const TileTable& table, SelectorTable& trained, Jobs& jobs) {
  if (table.problems.empty()) return;
  KernelSelector& selector = trained[table.gpus.front().family.name];
  jobs.emplace_back([&table, &selector] {
    selector = tile_selector(table, every_row(table.problems.size()), kShippedTiles);
  });
}

}  // namespace

StudyOutcome reproduce_selection(const StudyInput& input, const PublishedFigures& published,
                                 const StudyProgress& progress) {
  StudyOutcome outcome;
  std::deque<SolverTable> tables;
  Jobs features;
  add_solver_table(input, "MI100", "mi100", tables, features, outcome);
  add_solver_table(input, "MI210", "mi210", tables, features, outcome);
  TileTables tiles = read_tile_tables(input.data / "kernels" / "rocblas_tile_choice.csv");
  outcome.broken.insert(outcome.broken.end(), tiles.broken.begin(), tiles.broken.end());
  for (TileTable& table : tiles.tables)
    add_features(table, features);
  run_jobs(features, progress);

  StudyParts choices;
  for (const SolverTable& table : tables)
    choices.push_back(solver_choice(table));
  for (const TileTable& table : tiles.tables)
    choices.push_back(tile_choice(table));
  Jobs training;
  for (const std::unique_ptr<StudyPart>& choice : choices)
    choice->plan(training);
  SelectorTable solvers, products;
  if (input.wants_weights) {
    for (const SolverTable& table : tables)
      train_all(table, solvers, training);
    for (const TileTable& table : tiles.tables)
      train_all(table, products, training);
  }
  run_jobs(training, progress);
  if (input.wants_weights) {
    outcome.weights["miopen.csv"] =
        selectors_text(solvers, fmt::format("{}ROCm/MIOpen commit 2d1fd997, src/kernels (MIT)", kComment));
    outcome.weights["rocblas.csv"] = selectors_text(
        products,
        fmt::format("{}ROCm/rocBLAS commit b520bc83, library/src/blas3/Tensile/Logic (MIT)", kComment));
  }
  outcome.report = sections_of(choices, published);
  if (tiles.skipped > 0)
    outcome.notices.push_back(
        fmt::format("c3sim: {} products of two transposed operands were left out", tiles.skipped));
  return outcome;
}

}}  // namespace c3::studies
