#include "studies/one_gpu/one_gpu_study.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "studies/one_gpu/parts.hpp"
#include "studies/simulations.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kName = "one_gpu";

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
  StepsPart steps(study_file(kName, "steps.csv"));
  ImageStepsPart image_steps(study_file(kName, "images.csv"));
  BesideBlocksPart beside(study_file(kName, "beside.csv"), kernels);
  StreamsPart streams(study_file(kName, "equal.csv"), study_file(kName, "mixed.csv"), kernels);
  SimulationJobs jobs;
  steps.plan(jobs);
  image_steps.plan(jobs);
  beside.plan(jobs);
  streams.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  StudyOutcome outcome{.report = {alone.section(published), layers.section(published),
                                  adding.section(published), grouped.section(published),
                                  parts.section(published), levels.section(published),
                                  boards.section(published), copies.section(published),
                                  beside.section(published), streams.section(published)}};
  std::ranges::move(steps.sections(published), std::back_inserter(outcome.report));
  outcome.report.push_back(image_steps.section(published));
  if (input.wants_rows) outcome.rows_csv = std::string(kRowsHeader) + beside.rows_csv() + streams.rows_csv();
  return outcome;
}

}  // namespace

Study one_gpu_study() {
  return {.name = kName,
          .about =
              "H100 and H200, measured by this project: kernels, what runs beside them, clock, "
              "layers of images, training steps",
          .files = {},
          .run = reproduce_one_gpu,
          .has_rows = true};
}

}}  // namespace c3::studies
