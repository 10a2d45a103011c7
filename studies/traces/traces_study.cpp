/// A step is simulated, written as a trace and imported; what a change does to the import is compared with what
/// it does to the step. Everything else of the study is in its tables.

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/statistics.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/jobs/replay_experiment.hpp"
#include "files/scratch_folder.hpp"
#include "files/temporary_file.hpp"
#include "files/unpacked_file.hpp"
#include "results/program_file.hpp"
#include "results/trace_writer.hpp"
#include "studies/cases/source.hpp"
#include "studies/checked_row.hpp"
#include "studies/figure_line.hpp"
#include "studies/study_table.hpp"
#include "workloads/analysis/periodic_power.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/traces/kineto_reader.hpp"
#include "workloads/traces/order_ranks.hpp"
#include "workloads/traces/rank_copies.hpp"
#include "workloads/traces/replay/record_run.hpp"

namespace c3 { inline namespace studies {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRecorded = "concurrent";  ///< strategy of the steps that is recorded
constexpr std::uint64_t kSeeds = 3;

/// Medians over seeds.
struct StepTimes {
  double time = 0, exposed = 0;  ///< [us]
};

const Strategy& strategy_of(const Experiment& experiment, std::string_view name) {
  return *std::ranges::find(experiment.strategies, name, &Strategy::name);
}

StepTimes simulated(const Experiment& experiment, std::string_view strategy) {
  constexpr double kMicroseconds = 1e6;
  std::vector<double> times, exposed;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    RunSetup setup;
    setup.seed = seed;
    setup.power = periodic_start(experiment, strategy_of(experiment, strategy), setup);
    const RunResult result = run_once(experiment, strategy_of(experiment, strategy), setup);
    times.push_back(result.time.value * kMicroseconds);
    exposed.push_back(result.classes.front().times.exposed.value * kMicroseconds);
  }
  return {upper_median(times), upper_median(exposed)};
}

/// Does what `c3sim run --trace` does.
void write_traces(const Experiment& experiment, const fs::path& folder) {
  const Strategy& strategy = strategy_of(experiment, kRecorded);
  TraceWriter writer(folder, experiment, strategy);
  writer.begin(experiment, "");
  RunSetup setup;
  setup.observer = &writer;
  setup.launches = &writer;
  setup.power = periodic_start(experiment, strategy, setup);
  run_once(experiment, strategy, setup);
  writer.finish();
  writer.commit();
}

/// Does what `c3sim import -o` does. \returns the experiment that runs it
fs::path import_traces(const fs::path& traces, const fs::path& folder, const std::string& system) {
  std::vector<Rank> ranks;
  for (const fs::directory_entry& entry : fs::directory_iterator(traces)) {
    UnpackedFile file(entry.path());
    for (Trace& trace : traces_of_ranks(
             read_kineto(entry.path().string(), [&file](std::span<char> part) { return file.read(part); })))
      ranks.emplace_back(std::move(trace));
  }
  order_ranks(ranks, /*allow_missing=*/false);
  const RecordedRun run = record_run(ranks);
  write_program_file(folder / "program.h5", run, "c3sim reproduce traces");
  const fs::path experiment = folder / "experiment.toml";
  TemporaryFile text(experiment);
  text.append(replay_experiment(run, {.system = system}));
  text.rename_to_target();
  return experiment;
}

/// A step of ours, recorded and imported.
struct RoundTrip {
  explicit RoundTrip(const std::string& file) : step(experiment_of_study("traces", file)) {
    const Experiment unchanged = ExperimentFile::load(step).make(std::nullopt);
    write_traces(unchanged, scratch.path());
    import = import_traces(scratch.path() / kRecorded, scratch.path(), unchanged.cluster.name);
  }

  ScratchFolder scratch;
  fs::path step, import;  ///< experiments
};

/// How far the changed import is from the changed step.
class ChangeLines {
 public:
  ChangeLines(const CheckedRow& row, const RoundTrip& trip)
      : id_(fmt::format("roundtrip.{}.{}", row.text("trip"), row.text("change"))),
        label_(fmt::format("{}, {}", row.text("step"), row.text("label"))) {
    const Experiment step = ExperimentFile::load(trip.step, listed(row.cell("on_step"))).make(std::nullopt);
    std::vector<std::string> sets = listed(row.cell("on_import"));
    sets.emplace_back(R"(trace.replay="modelled")");
    const Experiment import = ExperimentFile::load(trip.import, sets).make(std::nullopt);
    direct_ = simulated(step, kRecorded);
    imported_ = simulated(import, "replay");
  }

  StudyLine step(const PublishedFigures& published) const {
    return line(published, ".step", imported_.time / direct_.time - 1.0, direct_.time, imported_.time);
  }

  /// Error relative to what is exposed, or to a hundredth of the step where less is, which is as good as
  /// nothing.
  StudyLine exposed(const PublishedFigures& published) const {
    const double error = (imported_.exposed - direct_.exposed) / std::max(direct_.exposed, 0.01 * direct_.time);
    return line(published, ".exposed", error, direct_.exposed, imported_.exposed);
  }

 private:
  StudyLine line(const PublishedFigures& published, const char* what, double error, double direct,
                 double imported) const {
    StudyLine line = figure_line(published, id_ + what, label_, 100.0 * error,
                                 {{"direct [us]", direct}, {"imported [us]", imported}});
    line.rows = kSeeds;
    return line;
  }

  std::string id_, label_;
  StepTimes direct_, imported_;
};

}  // namespace

StudyOutcome reproduce_traces(const StudyInput&, const PublishedFigures& published, const StudyProgress&) {
  StudySection steps{
      .heading = "Round trip of a change: the step, imported against direct",
      .notes = {"Simulated, written as a trace, imported, changed, simulated again with replay = "
                "\"modelled\"; against the changed step itself."},
      .decimals = 2};
  StudySection exposed{.heading = "The same: communication that no kernel hides", .decimals = 2};
  StudyOutcome outcome;
  std::optional<RoundTrip> trip;
  std::string recorded;
  read_rows(study_file("traces", "changes.csv"), "of a change", outcome.broken, [&](const CheckedRow& row) {
    if (const std::string file = row.text("experiment"); file != recorded) trip.emplace(recorded = file);
    const ChangeLines lines(row, *trip);
    steps.lines.push_back(lines.step(published));
    exposed.lines.push_back(lines.exposed(published));
  });
  outcome.report = {steps, exposed};
  return outcome;
}

}}  // namespace c3::studies
