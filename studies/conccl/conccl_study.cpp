#include "studies/study_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "configs/jobs/experiment_reader.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/cases/found_tables.hpp"
#include "studies/conccl/characterisation_part.hpp"
#include "studies/conccl/heuristics_part.hpp"
#include "studies/conccl/ladder_part.hpp"
#include "studies/conccl/page.hpp"
#include "studies/conccl/scenarios.hpp"
#include "studies/conccl/sensitivity_part.hpp"
#include "studies/simulations.hpp"

namespace c3 { inline namespace studies {
namespace {

namespace fs = std::filesystem;

/// Share of its speed that a GEMM loses while any collective is in flight. Set from results of what runs
/// together, so nothing that comes of it is a prediction.
constexpr double kOverlapLoss = 0.14;

/// The only place where the fitted term comes in.
Experiment calibrated(Experiment experiment) {
  experiment.cluster.gpu.hypotheses.overlap_loss = kOverlapLoss;
  return experiment;
}

/// Checks that \p experiment has what a ladder needs: a stream with a kernel, one with a collective, and the
/// strategies.
void check(const Experiment& experiment, const fs::path& file) {
  const Origin at{std::make_shared<const std::string>(file.string()), 1, 1};
  std::size_t kernels = 0, collectives = 0;
  for (std::size_t stream = 0; stream < experiment.program.streams.size(); ++stream)
    ++(content_of(experiment.program, stream).collectives ? collectives : kernels);
  if (kernels != 1 || collectives != 1)
    throw ConfigError(at, "stream",
                      "the study needs one stream that runs a kernel and one that runs a collective");
  for (const std::string_view name : kLadderStrategies) {
    if (std::ranges::find(experiment.strategies, name, &Strategy::name) == experiment.strategies.end())
      throw ConfigError(at, "strategy", fmt::format("the study needs a strategy '{}'", name));
  }
}

/// Each once.
std::vector<GemmShape> memory_bound(const std::vector<Scenario>& scenarios) {
  std::vector<GemmShape> gemms;
  for (const Scenario& scenario : scenarios) {
    const bool is_new = std::ranges::find(gemms, scenario.gemm) == gemms.end();
    if (scenario.gemm.traffic == GemmTraffic::streamed && is_new) gemms.push_back(scenario.gemm);
  }
  return gemms;
}

/// A case for each row of hypotheses.csv: the experiment \p file with what the row sets.
class Mechanisms {
 public:
  Mechanisms(const std::vector<Scenario>& scenarios, const fs::path& file)
      : table_(study_file("conccl", "hypotheses.csv")), cases_(scenarios, all_but_orders()) {
    for (const HeadedTable::Row& row : table_.rows()) {
      const std::vector<std::string> sets = listed(Cells(table_, row).text("${set}", "set"));
      cases_.add(ExperimentFile::load(file, sets).make(std::nullopt), kSeed);
    }
  }

  void plan(SimulationJobs& jobs) { cases_.plan(jobs); }

  void add_found(FoundNumbers& found) const {
    for (std::size_t i = 0; i < cases_.size(); ++i)
      found[Cells(table_, table_.rows()[i]).text("${id}", "id")] = {
          .nominal = {cases_.numbers(i)}, .texts = {{"scenarios", std::to_string(cases_.scenarios().size())}}};
  }

 private:
  static constexpr std::uint64_t kSeed = 0;  // the same for all: what differs is the mechanism

  static RungSet all_but_orders() {
    return all_rungs().reset(index_of(Rung::base_random_order)).reset(index_of(Rung::rp_lookup));
  }

  HeadedTable table_;
  LadderCases cases_;
};

}  // namespace

// Everything is simulated in one go: the last of one part runs beside the first of the next.
StudyOutcome reproduce_conccl(const StudyInput& input, const PublishedFigures& published,
                              const StudyProgress& progress) {
  const ScenarioList list = read_scenarios(study_file("conccl", "scenarios.csv"));
  StudyOutcome outcome{.report = {}, .broken = list.broken};
  if (!outcome.broken.empty()) return outcome;
  const std::vector<Scenario>& scenarios = list.scenarios;
  const fs::path path = study_file("conccl", "one.toml");
  const ExperimentFile file = ExperimentFile::load(path);
  const Experiment nominal = file.make(std::nullopt);
  check(nominal, path);

  const LadderSize size{.draws = input.draws, .seeds = nominal.measure.seeds};
  const DrawnExperiment predicted = [&](std::optional<std::uint64_t> draw) { return file.make(draw); };
  const DrawnExperiment with_loss = [&](std::optional<std::uint64_t> draw) {
    return calibrated(file.make(draw));
  };
  CharacterisationPart alone(predicted, input.draws, memory_bound(scenarios));
  LadderPart ladder(scenarios, predicted, size);
  std::optional<LadderPart> fitted;
  if (input.calibrated) fitted.emplace(scenarios, with_loss, size);
  Mechanisms mechanisms(scenarios, path);
  SensitivityPart sensitivity(input.tornado ? scenarios : stratified(scenarios), file);

  SimulationJobs jobs;
  alone.plan(jobs);
  ladder.plan(jobs);
  if (fitted) fitted->plan(jobs);
  mechanisms.plan(jobs);
  sensitivity.plan(jobs);
  run_simulations(jobs, progress, input.processes);

  FoundNumbers found = {{"ladder", ladder.found()}};
  alone.add_found(found);
  add_regrets(found, ladder);
  mechanisms.add_found(found);
  const auto append = [&](StudyReport part) { std::ranges::move(part, std::back_inserter(outcome.report)); };
  append(found_sections(input.card, found, published));
  if (fitted)
    append(
        found_sections(input.card, {{"ladder", fitted->found()}}, published,
                       {.id = "calibrated.", .heading = "Calibrated (fitted): ", .kind = FigureKind::fitted}));
  append(sensitivity.sections(published, found.at("ladder").draws));

  if (input.wants_rows)
    outcome.rows_csv = fmt::format("{}\n{}{}", LadderPart::row_columns(), ladder.rows_as_csv("predicted"),
                                   fitted ? fitted->rows_as_csv("calibrated") : "");
  if (input.wants_page)
    outcome.page = study_page({.conditions = found.at("ladder").texts.at("conditions"),
                               .report = outcome.report,
                               .plots = alone.plots(published),
                               .scenarios = scenario_shares(ladder.cases())});
  return outcome;
}

}}  // namespace c3::studies
