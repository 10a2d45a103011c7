#include "studies/study_table.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "studies/interference/parts.hpp"
#include "studies/simulations.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kTiles = "interference/hipblaslt_tiles_mi300x.csv";
constexpr std::string_view kPairs = "interference/tritonblas_rccl_sweep_8192.csv";

}  // namespace

StudyOutcome reproduce_interference(const StudyInput& input, const PublishedFigures& published,
                                    const StudyProgress& progress) {
  const TilesPart tiles(input.data / kTiles);
  PairsPart pairs(input.data / kPairs);
  SimulationJobs jobs;
  pairs.plan(jobs);
  PairHypotheses on(pairs);
  on.plan(jobs);
  HeldPart held(study_file("interference", "held_h100.csv"));
  held.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  StudyOutcome outcome{.report = {tiles.section(published)}};
  std::ranges::move(pairs.sections(published), std::back_inserter(outcome.report));
  std::ranges::move(on.sections(published), std::back_inserter(outcome.report));
  outcome.report.push_back(held.section(published));
  return outcome;
}

}}  // namespace c3::studies
