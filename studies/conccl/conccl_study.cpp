#include "studies/study_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "configs/jobs/experiment_reader.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/conccl/characterisation_part.hpp"
#include "studies/conccl/heuristics_part.hpp"
#include "studies/conccl/hypotheses_part.hpp"
#include "studies/conccl/ladder_part.hpp"
#include "studies/conccl/page.hpp"
#include "studies/conccl/scenarios.hpp"
#include "studies/conccl/sensitivity_part.hpp"
#include "studies/simulations.hpp"

namespace c3 { inline namespace studies {
namespace {

namespace fs = std::filesystem;

/// Of a GEMM's speed while any collective is in flight. Set from results of what runs together, so nothing that
/// comes of it is a prediction.
constexpr double kOverlapLoss = 0.14;

/// The only place where the fitted term comes in.
Experiment calibrated(Experiment experiment) {
  experiment.cluster.gpu.hypotheses.overlap_loss = kOverlapLoss;
  return experiment;
}

/// That \p experiment has what a ladder needs: a stream with a kernel, one with a collective, and the
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

/// Everything that is simulated, in one go: the last of one part run beside the first of the next.
class ConcclStudy {
 public:
  /// \param path of \p file
  ConcclStudy(const StudyInput& input, std::vector<Scenario> scenarios, ExperimentFile file,
              const fs::path& path)
      : scenarios_(std::move(scenarios)), file_(std::move(file)) {
    const Experiment nominal = file_.make(std::nullopt);
    const LadderSize size{.draws = input.draws, .seeds = nominal.measure.seeds};
    const DrawnExperiment predicted = [this](std::optional<std::uint64_t> draw) { return file_.make(draw); };
    characterisation_.emplace(predicted, input.draws, memory_bound(scenarios_));
    ladder_.emplace(scenarios_, predicted, size, LadderRole::predicted);
    if (input.calibrated) {
      const DrawnExperiment make = [this](std::optional<std::uint64_t> draw) {
        return calibrated(file_.make(draw));
      };
      calibrated_.emplace(scenarios_, make, size, LadderRole::calibrated);
    }
    hypotheses_.emplace(scenarios_, path);
    sensitivity_.emplace(input.tornado ? scenarios_ : stratified(scenarios_), file_);
  }

  void run(const StudyInput& input, const StudyProgress& progress) {
    SimulationJobs jobs;
    characterisation_->plan(jobs);
    ladder_->plan(jobs);
    if (calibrated_) calibrated_->plan(jobs);
    hypotheses_->plan(jobs);
    sensitivity_->plan(jobs);
    run_simulations(jobs, progress, input.processes);
  }

  StudyReport report(const PublishedFigures& published) const {
    StudyReport report;
    const auto append = [&report](StudyReport part) { std::ranges::move(part, std::back_inserter(report)); };
    append(characterisation_->sections(published));
    append(ladder_->sections(published));
    append(HeuristicsPart(*ladder_).sections(published));
    if (calibrated_) append(calibrated_->sections(published));
    append(hypotheses_->sections(published));
    append(sensitivity_->sections(published, *ladder_));
    return report;
  }

  std::string rows_csv() const {
    std::string text = fmt::format("{}\n{}", LadderPart::row_columns(), ladder_->rows_as_csv());
    if (calibrated_) text += calibrated_->rows_as_csv();
    return text;
  }

  std::string page(const PublishedFigures& published) const {
    return study_page({.conditions = ladder_->conditions(),
                       .report = report(published),
                       .plots = characterisation_->plots(published),
                       .scenarios = scenario_shares(ladder_->cases(), 0)});
  }

 private:
  std::vector<Scenario> scenarios_;  ///< the parts refer to it
  ExperimentFile file_;
  std::optional<CharacterisationPart> characterisation_;
  std::optional<LadderPart> ladder_, calibrated_;
  std::optional<HypothesesPart> hypotheses_;
  std::optional<SensitivityPart> sensitivity_;
};

}  // namespace

StudyOutcome reproduce_conccl(const StudyInput& input, const PublishedFigures& published,
                              const StudyProgress& progress) {
  ScenarioList list = read_scenarios(study_file("conccl", "scenarios.csv"));
  StudyOutcome outcome{.report = {}, .broken = std::move(list.broken)};
  if (!outcome.broken.empty()) return outcome;
  const fs::path file = study_file("conccl", "one.toml");
  ExperimentFile experiment = ExperimentFile::load(file);
  check(experiment.make(std::nullopt), file);
  ConcclStudy study(input, std::move(list.scenarios), std::move(experiment), file);
  study.run(input, progress);
  outcome.report = study.report(published);
  if (input.wants_rows) outcome.rows_csv = study.rows_csv();
  if (input.wants_page) outcome.page = study.page(published);
  return outcome;
}

}}  // namespace c3::studies
