#include "studies/study_table.hpp"

#include <algorithm>
#include <iterator>

#include "studies/kernels/clock_part.hpp"
#include "studies/kernels/mechanisms_part.hpp"
#include "studies/kernels/models_part.hpp"
#include "studies/kernels/newer_part.hpp"
#include "studies/kernels/parts.hpp"
#include "studies/kernels/tuned_part.hpp"

namespace c3 { inline namespace studies {

StudyOutcome reproduce_kernels(const StudyInput& input, const PublishedFigures& published,
                               const StudyProgress& progress) {
  const std::filesystem::path kernels = input.data / "kernels";
  ModelsPart models(kernels);
  Fp32Part fp32(kernels);
  MatrixPart matrix(kernels);
  AttentionPart attention(kernels);
  ClockPart clock(kernels);
  NewerPart newer(kernels);
  MechanismsPart mechanisms(kernels);
  TunedPart tuned(kernels);

  Jobs jobs;
  matrix.plan(jobs);
  attention.plan(jobs);
  clock.plan(jobs);
  newer.plan(jobs);
  mechanisms.plan(jobs);
  tuned.plan(jobs);
  fp32.plan(jobs);
  models.plan(jobs);
  run_jobs(jobs, progress);

  StudyReport report = fp32.sections(published);
  for (StudyReport part : {matrix.sections(published), clock.sections(published),
                           mechanisms.sections(published), newer.sections(published), tuned.sections(published),
                           attention.sections(published), models.sections(published)})
    std::ranges::move(part, std::back_inserter(report));
  return {.report = std::move(report), .broken = {}, .rows_csv = {}, .notices = {}};
}

}}  // namespace c3::studies
