/// A step is simulated, written as a trace and imported; what a change does to the import is compared with what
/// it does to the step.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/statistics.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/jobs/replay_experiment.hpp"
#include "files/io_error.hpp"
#include "files/temporary_file.hpp"
#include "files/unpacked_file.hpp"
#include "results/program_file.hpp"
#include "results/trace_writer.hpp"
#include "studies/traces/parts.hpp"
#include "workloads/analysis/periodic_power.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/traces/kineto_reader.hpp"
#include "workloads/traces/order_ranks.hpp"
#include "workloads/traces/rank_copies.hpp"
#include "workloads/traces/replay/record_run.hpp"

namespace c3 { inline namespace studies {
namespace {

namespace fs = std::filesystem;

using Sets = std::vector<std::string>;

constexpr std::string_view kRecorded = "concurrent";  ///< strategy of the steps that is recorded
constexpr std::uint64_t kSeeds = 3;

/// A folder that goes with it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (fs::temp_directory_path() / "c3sim-round-trip-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw IoError(pattern, "create", std::generic_category().message(errno));
    path_ = pattern;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

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

/// As `c3sim run --trace` does.
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

/// As `c3sim import -o` does. \returns the experiment that runs it
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

/// Something that a user may want to try, on the step and on its import. Streams of an import have numbers.
struct Change {
  std::string_view id;
  std::string_view label;
  Sets on_step;
  Sets on_import;
};

struct RoundTrip {
  std::string_view id;
  std::string_view label;
  std::string_view experiment;
  Sets on_import;  ///< what the step's experiment has beside what runs and on what
  std::vector<Change> changes;
};

std::vector<RoundTrip> round_trips() {
  const Sets other_gpu{R"(system="h100-sxm-8")"};
  return {
      {"layers",
       "feed-forward blocks, TP 8",
       "layers_mi300x.toml",
       {},
       {{"none", "none", {}, {}},
        {"priority",
         "collectives go first",
         {"strategy.concurrent.reduce.priority=1", "strategy.concurrent.gather.priority=1"},
         {"strategy.replay.stream8.priority=1", "strategy.replay.stream9.priority=1"}},
        {"dma",
         "all-gathers on copy engines",
         {R"(strategy.concurrent.gather.backend="dma")"},
         {R"(strategy.replay.stream9.backend="dma")"}},
        {"gpu", "on H100", other_gpu, other_gpu}}},
      {"fsdp",
       "training step, FSDP",
       "fsdp_mi300x.toml",
       {R"(measure.vector_grain="fluid")"},  // as training steps have it
       {{"none", "none", {}, {}},
        {"priority",
         "collectives go first",
         {"strategy.concurrent.all_gather.priority=1", "strategy.concurrent.reduce_scatter.priority=1"},
         {"strategy.replay.stream8.priority=1", "strategy.replay.stream9.priority=1"}},
        {"dma",
         "all-gathers on copy engines",
         {R"(strategy.concurrent.all_gather.backend="dma")"},
         {R"(strategy.replay.stream8.backend="dma")"}},
        {"gpu", "on H100", other_gpu, other_gpu}}},
  };
}

/// What a change gives, by both ways.
struct Outcome {
  StepTimes direct, imported;

  double step_error() const { return 100.0 * (imported.time / direct.time - 1.0); }
  /// Of what is exposed; of a hundredth of the step where less is, which is as good as nothing.
  double exposed_error() const {
    return 100.0 * (imported.exposed - direct.exposed) / std::max(direct.exposed, 0.01 * direct.time);
  }
};

Outcome outcome_of(const RoundTrip& trip, const fs::path& step, const Change& change, const fs::path& import) {
  const Experiment direct = ExperimentFile::load(step, change.on_step).make(std::nullopt);
  Sets sets = trip.on_import;
  sets.insert(sets.end(), change.on_import.begin(), change.on_import.end());
  sets.emplace_back(R"(trace.replay="modelled")");
  const Experiment imported = ExperimentFile::load(import, sets).make(std::nullopt);
  return {simulated(direct, kRecorded), simulated(imported, "replay")};
}

StudyLine line_of(const PublishedFigures& published, const RoundTrip& trip, const Change& change,
                  std::string_view what, double error, double direct, double imported) {
  StudyLine line{.figure = {.of = published.find(fmt::format("roundtrip.{}.{}.{}", trip.id, change.id, what))},
                 .label = fmt::format("{}, {}", trip.label, change.label)};
  line.figure.simulated = error;
  line.rows = kSeeds;
  line.beside = {{"direct [us]", direct}, {"imported [us]", imported}};
  return line;
}

}  // namespace

StudyReport round_trip_sections(const PublishedFigures& published) {
  StudySection steps{
      .heading = "Round trip of a change: the step, imported against direct",
      .lines = {},
      .notes = {"Simulated, written as a trace, imported, changed, simulated again with replay = "
                "\"modelled\"; against the changed step itself."},
      .value = "here",
      .decimals = 2};
  StudySection exposed{.heading = "The same: communication that no kernel hides",
                       .lines = {},
                       .notes = {},
                       .value = "here",
                       .decimals = 2};
  for (const RoundTrip& trip : round_trips()) {
    const ScratchFolder scratch;
    const fs::path step = experiment_of_study("traces", trip.experiment);
    const Experiment unchanged = ExperimentFile::load(step).make(std::nullopt);
    write_traces(unchanged, scratch.path());
    const fs::path import = import_traces(scratch.path() / kRecorded, scratch.path(), unchanged.cluster.name);
    for (const Change& change : trip.changes) {
      const Outcome of = outcome_of(trip, step, change, import);
      steps.lines.push_back(
          line_of(published, trip, change, "step", of.step_error(), of.direct.time, of.imported.time));
      exposed.lines.push_back(line_of(published, trip, change, "exposed", of.exposed_error(), of.direct.exposed,
                                      of.imported.exposed));
    }
  }
  return {steps, exposed};
}

}}  // namespace c3::studies
