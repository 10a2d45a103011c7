#include "studies/camping/sections.hpp"
#include "studies/study_table.hpp"

namespace c3 { inline namespace studies {

StudyOutcome reproduce_camping(const StudyInput& input, const PublishedFigures& published,
                               const StudyProgress&) {
  StudyOutcome outcome{.report = {laws(published), buffers(published), phases(published)}};
  if (input.wants_rows) outcome.rows_csv = channel_loads();
  return outcome;
}

}}  // namespace c3::studies
