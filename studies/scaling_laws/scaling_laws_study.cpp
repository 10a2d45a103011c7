#include "studies/scaling_laws/scaling_laws_study.hpp"

#include <string_view>
#include <utility>

#include "studies/scaling_laws/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kName = "scaling_laws";

StudyOutcome reproduce_scaling_laws(const StudyInput& input, const PublishedFigures& published,
                                    const StudyProgress& progress) {
  PointsPart points(study_file(kName, "points.csv"));
  SimulationJobs jobs;
  points.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  StudyOutcome outcome{.report = points.sections(published)};
  outcome.report.push_back(tables_section(input.data, published));
  if (input.wants_rows) outcome.rows_csv = points.rows_csv();
  return outcome;
}

}  // namespace

Study scaling_laws_study() {
  return {
      .name = kName,
      .about = "Computation against communication as models grow: projections (arXiv 2302.02825), simulations",
      .files = {{"kernels/neusight_mi100_linear.csv", "GEMMs on an MI100"},
                {"kernels/neusight_mi100_vec.csv", "norms on an MI100"},
                {"kernels/gemm_a100_sxm.csv", "GEMMs on an A100"},
                {"kernels/gemm_h100_sxm.csv", "GEMMs on an H100"},
                {"collectives/nccl_single_node_a100_h100.csv", "collectives of 8 A100 and 8 H100"}},
      .run = reproduce_scaling_laws,
      .has_rows = true};
}

}}  // namespace c3::studies
