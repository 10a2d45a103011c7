#include "studies/study_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/t3/speedup_part.hpp"
#include "studies/t3/sublayer_results.hpp"
#include "studies/t3/t3_sensitivity.hpp"
#include "studies/t3/traffic_part.hpp"

namespace c3 { inline namespace studies {
namespace {

std::string rows_of(std::span<const SublayerResult> results) {
  std::string text =
      "group,model,tp,sublayer,gemm_us,reduce_scatter_us,all_gather_us,t3_us,t3_mca_us,t3_mca_gemm_us\n";
  for (const auto& [sublayer, t] : results) {
    text += fmt::format("{},{},{},{}", sublayer->group, sublayer->model, sublayer->tp, sublayer->name);
    for (const Seconds time : {t.gemm, t.reduce, t.gather, t.t3, t.t3_mca, t.fused_gemm})
      text += fmt::format(",{:.3f}", time / 1.0_us);
    text += '\n';
  }
  return text;
}

/// Checks that \p experiment has what the study runs.
void check(const Experiment& experiment, const std::filesystem::path& file) {
  const Origin at{std::make_shared<const std::string>(file.string()), 1, 1};
  for (const std::string_view name : kT3Streams) {
    if (!experiment.program.stream_named(std::string(name)))
      throw ConfigError(at, "stream", fmt::format("the study needs a stream '{}'", name));
  }
  for (const std::string_view name : kT3Strategies) {
    if (std::ranges::find(experiment.strategies, name, &Strategy::name) == experiment.strategies.end())
      throw ConfigError(at, "strategy", fmt::format("the study needs a strategy '{}'", name));
  }
}

}  // namespace

StudyOutcome reproduce_t3(const StudyInput& input, const PublishedFigures& published,
                          const StudyProgress& progress) {
  SublayerList list = read_sublayers(study_file("t3", "sublayers.csv"));
  StudyOutcome outcome{.report = {}, .broken = std::move(list.broken)};
  if (!outcome.broken.empty()) return outcome;
  const std::filesystem::path file = study_file("t3", "one.toml");
  Experiment nominal = ExperimentFile::load(file).make(std::nullopt);
  check(nominal, file);
  SublayerTable table(list.sublayers, std::move(nominal));
  TrafficPart traffic(table);
  T3Sensitivity sensitivity(list.sublayers, file, table);
  SimulationJobs jobs;
  table.plan(jobs);
  traffic.plan(jobs);
  sensitivity.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  outcome.report = {summary_section(published, table.results()),
                    structure_section(published, table.results()),
                    traffic.movement(published),
                    traffic.classes(published),
                    traffic.split(published),
                    end_to_end_section(published, table.results()),
                    sublayer_section(published, table.results()),
                    sensitivity.section(published)};
  std::erase_if(outcome.report, [](const StudySection& section) { return section.lines.empty(); });
  if (input.wants_rows) outcome.rows_csv = rows_of(table.results());
  return outcome;
}

}}  // namespace c3::studies
