#include "studies/selection/selection_study.hpp"

#include <deque>
#include <utility>

#include "configs/preset_store.hpp"
#include "studies/convolutions/find_db.hpp"
#include "studies/selection/solver_choice.hpp"

namespace c3::inline studies {
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

StudyOutcome reproduce_selection(const StudyInput& input, const PublishedFigures& published,
                                 const StudyProgress& progress) {
  StudyOutcome outcome;
  std::deque<SolverTable> tables;
  Jobs features;
  add_solver_table(input, "MI100", "mi100", tables, features, outcome);
  add_solver_table(input, "MI210", "mi210", tables, features, outcome);
  run_jobs(features, progress);

  std::deque<SolverChoice> choices;
  Jobs training;
  for (const SolverTable& table : tables)
    choices.emplace_back(table).plan(training);
  run_jobs(training, progress);
  for (const SolverChoice& choice : choices) {
    outcome.report.push_back(choice.listed(published));
    outcome.report.push_back(choice.parts(published));
    outcome.report.push_back(choice.open(published));
  }
  return outcome;
}

}  // namespace

Study selection_study() {
  return {.name = "selection",
          .about = "Which kernel MIOpen takes for a convolution, learned from tables",
          .files = {{"kernels/miopen_convolution_mi100.csv", "times of MIOpen's solvers on MI100"},
                    {"kernels/miopen_convolution_mi210.csv", "the same on MI210"}},
          .run = reproduce_selection};
}

}  // namespace c3::studies
