/// c3sim run: simulates every strategy of an experiment, prints a table and writes a result file.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/command/current_work.hpp"
#include "app/command/exit_code.hpp"
#include "app/command/progress_line.hpp"
#include "app/command/verb.hpp"
#include "app/notes.hpp"
#include "app/run/run_progress.hpp"
#include "app/sweep/table_placement.hpp"
#include "app/time_limit.hpp"
#include "base/options.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "engine/errors.hpp"
#include "engine/interrupt.hpp"
#include "results/observer_fanout.hpp"
#include "results/result_file.hpp"
#include "results/shell_word.hpp"
#include "results/study_json.hpp"
#include "results/table.hpp"
#include "results/timeline_writer.hpp"
#include "results/trace_writer.hpp"
#include "workloads/analysis/heuristics.hpp"
#include "workloads/analysis/impossible_strategies.hpp"
#include "workloads/analysis/out_of_memory.hpp"
#include "workloads/analysis/study.hpp"
#include "workloads/execute/folding.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr const char* kDefaultFolder = "out";

struct RunOptions {
  std::string file;
  std::vector<std::string> sets;
  std::string output;        ///< empty: out/<experiment>.h5
  std::string trace;         ///< folder; empty: no traces
  std::string timeout = {};  ///< spelled as written; empty: none
  bool json = false;
  bool quiet = false;

  /// What makes the same file again.
  std::string command_line() const {
    auto line = "c3sim run " + shell_word(file);
    for (const auto& set : sets)
      line += " --set " + shell_word(set);
    return line;
  }
};

std::filesystem::path output_path(const RunOptions& options, const std::string& experiment) {
  if (!options.output.empty()) return options.output;
  std::filesystem::create_directories(kDefaultFolder);
  return std::filesystem::path(kDefaultFolder) / (experiment + ".h5");
}

/// One per strategy, in the order of the experiment; empty without --trace.
using Traces = std::vector<std::unique_ptr<TraceWriter>>;

Traces open_traces(const RunOptions& options, const Experiment& experiment) {
  Traces traces;
  if (options.trace.empty()) return traces;
  for (const auto& strategy : experiment.strategies)
    traces.push_back(std::make_unique<TraceWriter>(options.trace, experiment, strategy));
  return traces;
}

std::vector<std::string> names_of(const std::vector<ImpossibleStrategy>& impossible) {
  std::vector<std::string> names;
  std::ranges::transform(impossible, std::back_inserter(names), &ImpossibleStrategy::name);
  return names;
}

/// Why they are not in the file.
std::string reason_text(const std::vector<ImpossibleStrategy>& impossible) {
  std::vector<std::string> reasons;
  for (const ImpossibleStrategy& strategy : impossible)
    reasons.push_back(fmt::format("{} cannot run: {}", strategy.name, strategy.why));
  return fmt::format("{}", fmt::join(reasons, "; "));
}

/// The files of a run. A strategy is written as soon as it is finished, so that a stop costs only those that
/// are not.
class RunOutput : public StudyRecorder {
 public:
  /// \param nominal with the strategies that can run \param recording what the experiment repeats, if it does
  RunOutput(const RunOptions& options, const Experiment& nominal, const RunHeader& header,
            std::optional<PlacedRun> recording)
      : path_(output_path(options, nominal.name)),
        file_(path_, header),
        recording_(std::move(recording)),
        traces_(open_traces(options, nominal)),
        strategies_(nominal.strategies) {
    study_ = {.experiment = nominal.name,
              .seed = nominal.measure.seed,
              .conditions = conditions_of(nominal),
              .strategies = {}};
  }

  const std::filesystem::path& path() const { return path_; }
  /// The results of the strategies that are finished.
  const StudyResult& study() const { return study_; }

  /// The part of a training step that the timelines show; empty: all of it.
  const std::string& shortened() const { return shortened_; }

  std::vector<std::string> missing() const {
    std::vector<std::string> names;
    for (std::size_t i = study_.strategies.size(); i < strategies_.size(); ++i)
      names.push_back(strategies_[i].name);
    return names;
  }

  RunListeners begin(const Strategy& strategy, const Experiment& recorded,
                     const std::string& shortened) override {
    OpenStrategy& open = open_.try_emplace(strategy.name, file_, strategy.name).first->second;
    if (!shortened.empty()) shortened_ = shortened;
    open.timeline.add_buffers(recorded);
    if (!traces_.empty()) {
      open.trace = traces_.at(index_of(strategy.name)).get();
      open.trace->begin(recorded, shortened);
      open.observers.add(*open.trace);
    }
    return {&open.observers, open.trace};
  }

  void finish(const StrategyResult& result, const std::vector<CollectiveRecord>& collectives) override {
    OpenStrategy& open = open_.at(result.name);
    if (recording_) open.timeline.add_recording(*recording_);
    open.timeline.finish(result, collectives);
    if (open.trace != nullptr) open.trace->finish();
    open_.erase(result.name);
    study_.strategies.push_back(result);
  }

  /// \param impossible strategies, which are not in the file
  void commit(const std::vector<ImpossibleStrategy>& impossible) {
    if (!impossible.empty()) file_.mark_incomplete(reason_text(impossible), names_of(impossible));
    commit();
  }

  /// Keeps what is finished. \param reason "interrupted"
  void commit_incomplete(const std::string& reason, const std::vector<ImpossibleStrategy>& impossible) {
    remove_open();
    std::vector<std::string> names = missing();
    std::ranges::move(names_of(impossible), std::back_inserter(names));
    file_.mark_incomplete(
        fmt::format("{}: {} of {} strategies", reason, study_.strategies.size(), strategies_.size()), names);
    commit();
  }

 private:
  /// One whose run has begun.
  struct OpenStrategy {
    OpenStrategy(ResultFile& file, const std::string& name) : timeline(file, name) { observers.add(timeline); }

    TimelineWriter timeline;
    TraceWriter* trace = nullptr;
    ObserverFanout observers;
  };

  void commit() {
    for (std::size_t i = 0; i < std::min(traces_.size(), study_.strategies.size()); ++i)
      traces_[i]->commit();
    file_.commit();
  }

  std::size_t index_of(const std::string& strategy) const {
    const auto found = std::ranges::find(strategies_, strategy, &Strategy::name);
    return static_cast<std::size_t>(found - strategies_.begin());
  }

  /// What is written of strategies that are not finished.
  void remove_open() {
    while (!open_.empty()) {
      const std::string name = open_.extract(open_.begin()).key();
      file_.remove_strategy(name);
    }
  }

  std::filesystem::path path_;
  ResultFile file_;
  std::optional<PlacedRun> recording_;
  Traces traces_;
  std::vector<Strategy> strategies_;
  StudyResult study_;
  std::string shortened_;
  std::map<std::string, OpenStrategy> open_;  ///< keyed by strategy
};

void say_what_was_written(const RunOptions& options, const RunOutput& output) {
  fmt::print(stderr, "wrote {0}; look into it with: c3sim inspect {0}\n", output.path().string());
  if (!options.trace.empty())
    fmt::print(stderr, "wrote {}/<strategy>/rank<r>.json for https://ui.perfetto.dev\n", options.trace);
  if (!output.shortened().empty())
    fmt::print(stderr, "timelines show {}: add --exact for the whole step\n", output.shortened());
}

std::string stop_text(const RunOptions& options) {
  return stop_reason() == StopReason::time_limit ? fmt::format("stopped by --timeout {}", options.timeout)
                                                 : "interrupted";
}

/// Keeps and prints what is finished. \returns the exit code
int end_early(const RunOptions& options, RunOutput& output, const std::vector<ImpossibleStrategy>& impossible) {
  const StudyResult& study = output.study();
  const std::string reason = stop_text(options);
  if (study.strategies.empty()) {
    fmt::print(stderr, "c3sim: {} before the first of {} strategies was finished, nothing was written\n",
               reason, output.missing().size());
  } else {
    output.commit_incomplete(reason, impossible);
    std::vector<std::string> names;
    for (const StrategyResult& strategy : study.strategies)
      names.push_back(strategy.name);
    fmt::print("{}", options.json ? study_json(study, output.path(), output.missing(), impossible)
                                  : format_study(study, impossible));
    fmt::print(stderr, "c3sim: {} after {} of {} strategies: {} {} in {}\n", reason, names.size(),
               names.size() + output.missing().size(), fmt::join(names, ", "), names.size() == 1 ? "is" : "are",
               output.path().string());
  }
  return stop_reason() == StopReason::time_limit ? kExitTimeout : kExitInterrupted;
}

/// What a run holds in memory, for the message when there is not enough.
std::string size_text(const Experiment& experiment) {
  const std::size_t operations = experiment.program.operations();
  const bool is_folded = std::ranges::all_of(
      experiment.strategies, [&](const Strategy& strategy) { return folds(experiment, strategy); });
  const int gpus = experiment.cluster.ranks();
  return fmt::format("simulating {}: {} GPUs{} with {} operations each, {} draws", experiment.name, gpus,
                     is_folded ? " (one simulated for all)" : ", each simulated,", operations,
                     std::max(1, experiment.measure.draws));
}

/// The study of \p output with what a runtime's heuristics pick; without, where a stop comes in between: all
/// else is written by then.
StudyResult with_heuristics(const ExperimentFactory& make, StudyResult study) {
  try {
    study.heuristics = heuristic_picks(make, study.strategies);
  } catch (const InterruptedError&) {
    study.heuristics.clear();
  }
  return study;
}

/// \p written with its tables placed, where it has [shard].
ExperimentFile search_placement(const ExperimentFile& written, bool quiet) {
  PlacedFile placed = [&] {
    ProgressLine progress(quiet, "placements");
    return with_placed_tables(written, std::ref(progress));
  }();
  if (!quiet && !placed.note.empty()) print_notes({placed.note});
  return std::move(placed.file);
}

int run(const RunOptions& options) {
  install_interrupt_handler();  // before there is a file to leave behind
  const auto limit = read_time_limit("--timeout", options.timeout);
  if (limit) stop_after(*limit);
  std::optional<RunOutput> output;
  StudyResult study;
  std::vector<ImpossibleStrategy> impossible;
  try {
    RunProgress progress(options.quiet);
    const auto written = ExperimentFile::load(options.file, options.sets);
    if (!options.quiet) print_notes(written.notes());
    const ExperimentFile configuration = search_placement(written, options.quiet);
    const Experiment written_nominal = configuration.nominal();
    const ExperimentFactory make = [&](std::optional<std::uint64_t> draw) {
      return without(draw ? configuration.make(draw) : written_nominal, impossible);
    };
    if (const auto verdict = out_of_memory(make)) {
      fmt::print("{}", options.json ? out_of_memory_json(*verdict) : format_out_of_memory(*verdict));
      return kExitInfeasible;
    }
    set_current_work(size_text(written_nominal));
    impossible = impossible_strategies(written_nominal);
    const Experiment nominal = make(std::nullopt);
    output.emplace(options, nominal, run_header(nominal, configuration.resolved_toml(), options.command_line()),
                   configuration.recording(nominal.cluster));
    run_study(make, {.progress = std::ref(progress), .recorder = &*output});
    output->commit(impossible);
    study = with_heuristics(make, output->study());
  } catch (const InterruptedError&) {
    if (output) return end_early(options, *output, impossible);
    fmt::print(stderr, "c3sim: {}, nothing was written\n", stop_text(options));
    return stop_reason() == StopReason::time_limit ? kExitTimeout : kExitInterrupted;
  }
  fmt::print(
      "{}", options.json ? study_json(study, output->path(), {}, impossible) : format_study(study, impossible));
  if (!options.quiet) say_what_was_written(options, *output);
  return impossible.empty() ? kExitOk : kExitPartial;
}

}  // namespace

void add_run_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<RunOptions>();
  Command& verb = app.add_command("run", "Simulate every strategy of an experiment");
  verb.set_footer(
      "Prints a row for each strategy: time (median and 5-95 % over seeds), lower bound, speedup over serial,\n"
      "share of the ideal speedup, and the loss split in us; for a training step also tokens/s, MFU, exposed\n"
      "communication, operators and memory, for steps of other models images, samples or sequences a second.\n"
      "Writes the timelines to an HDF5 file, in ps. A step that does not fit in a GPU's memory is not\n"
      "simulated: that is the result, with exit code 4. A strategy that cannot run is named with its reason,\n"
      "and the others are simulated (exit code 5; 4 when none can run).\n"
      "Long runs print the time left. After Ctrl-C (exit code 130), or when --timeout is up (124), the file\n"
      "holds the strategies that are finished and states that it is incomplete.\n"
      "Values of --set are TOML; quantities are strings with a unit.\n"
      "docs/glossary.md explains the words of the tables.\n\n"
      "Examples:\n"
      "  c3sim run configs/experiments/c3_llama70b_mi300x.toml\n"
      "  c3sim run configs/experiments/c3_llama70b_mi300x.toml --set measure.seeds=32 -o /tmp/c3.h5 --json\n"
      "  c3sim run configs/experiments/c3_llama70b_mi300x.toml --trace out/traces");
  verb.add_option("FILE", options->file, "Experiment (TOML)").required();
  verb.add_option("--set", options->sets, "Override one key: key=value, as in --set measure.seed=2; repeatable")
      .repeated()
      .type_name("KEY=VALUE");
  verb.add_option("-o,--output", options->output, "HDF5 file to write (default: out/<experiment>.h5)")
      .type_name("OUT.h5");
  verb.add_option("--trace", options->trace,
                  "Also write timelines as Chrome JSON (us) for Perfetto and HolisticTraceAnalysis:\n"
                  "DIR/<strategy>/rank<r>.json")
      .type_name("DIR");
  verb.add_option("--timeout", options->timeout,
                  "Stop after this time, as Ctrl-C does, with exit code 124: seconds, or 90s, 2m, 1.5h")
      .type_name("TIME");
  verb.add_flag(
      "--exact", [options] { options->sets.emplace_back("measure.estimate=none"); },
      "Simulate every layer and micro-batch of a training step instead of extrapolating from a few\n"
      "(as --set measure.estimate=none)");
  verb.add_flag("--json", options->json, "The table as JSON; times in us");
  verb.when_parsed([&app, &action, options] {
    options->quiet = app.was_given("--quiet");
    action = [options] { return run(*options); };
  });
}

}}  // namespace c3::app
