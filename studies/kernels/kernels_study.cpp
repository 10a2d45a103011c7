#include "studies/kernels/parts.hpp"
#include "studies/study_table.hpp"

namespace c3 { inline namespace studies {

StudyOutcome reproduce_kernels(const StudyInput& input, const PublishedFigures& published,
                               const StudyProgress& progress) {
  StudyParts parts;
  Jobs jobs;
  for (MakePart* const make : {fp32_part, matrix_part, clock_part, mechanisms_part, newer_part, tuned_part,
                               attention_part, scan_part, models_part}) {
    parts.push_back(make(input.data / "kernels"));
    parts.back()->plan(jobs);
  }
  run_jobs(jobs, progress);
  return {.report = sections_of(parts, published)};
}

}}  // namespace c3::studies
