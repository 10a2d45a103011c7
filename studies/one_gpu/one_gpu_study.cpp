#include "studies/study_table.hpp"

#include <string_view>

#include "studies/one_gpu/parts.hpp"
#include "studies/simulations.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kName = "one_gpu";

}  // namespace

StudyOutcome reproduce_one_gpu(const StudyInput& input, const PublishedFigures& published,
                               const StudyProgress& progress) {
  const KernelsAlonePart alone(transformers_alone());
  const KernelsAlonePart layers(images_alone());
  const GpuPartsPart parts(study_file(kName, "parts.csv"));
  const LevelsPart levels(study_file(kName, "levels.csv"));
  const GroupedPart grouped(study_file(kName, "grouped.csv"));
  const AddingPart adding(study_file(kName, "adding.csv"));
  const BoardsPart boards(study_file(kName, "boards.csv"));
  const NamedKernels kernels(study_file(kName, "parts.csv"));
  const CopiesPart copies(study_file(kName, "engines.csv"), kernels);
  BesideBlocksPart beside(study_file(kName, "beside.csv"), kernels);
  StreamsPart streams(study_file(kName, "equal.csv"), study_file(kName, "mixed.csv"), kernels);
  SimulationJobs jobs;
  beside.plan(jobs);
  streams.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  StudyOutcome outcome{.report = {alone.section(published), layers.section(published),
                                  adding.section(published), grouped.section(published),
                                  parts.section(published), levels.section(published),
                                  boards.section(published), copies.section(published),
                                  beside.section(published), streams.section(published)}};
  if (input.wants_rows) outcome.rows_csv = std::string(kRowsHeader) + beside.rows_csv() + streams.rows_csv();
  return outcome;
}

}}  // namespace c3::studies
