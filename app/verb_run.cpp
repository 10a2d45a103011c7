/// c3sim run: simulates every strategy of an experiment, prints its table, writes its file.

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/exit_code.hpp"
#include "app/notes.hpp"
#include "app/progress_line.hpp"
#include "app/verb.hpp"
#include "configs/experiment_reader.hpp"
#include "engine/interrupt.hpp"
#include "results/observer_fanout.hpp"
#include "results/result_file.hpp"
#include "results/shell_word.hpp"
#include "results/study_json.hpp"
#include "results/table.hpp"
#include "results/timeline_writer.hpp"
#include "results/trace_writer.hpp"
#include "workloads/execute/out_of_memory.hpp"
#include "workloads/execute/study.hpp"

namespace c3 {
namespace {

constexpr const char* kDefaultFolder = "out";

struct RunOptions {
  std::string file;
  std::vector<std::string> sets;
  std::string output;  ///< empty: out/<experiment>.h5
  std::string trace;   ///< folder; empty: no traces
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

/// By strategy, in the order of the experiment; empty without --trace.
using Traces = std::vector<std::unique_ptr<TraceWriter>>;

Traces open_traces(const RunOptions& options, const Experiment& experiment) {
  Traces traces;
  if (options.trace.empty()) return traces;
  for (const auto& strategy : experiment.strategies)
    traces.push_back(std::make_unique<TraceWriter>(options.trace, experiment, strategy));
  return traces;
}

/// Simulates the run behind every strategy's median once more, under observers that write it down.
void record(const ExperimentFactory& make, const StudyResult& study, ResultFile& file, const Traces& traces) {
  for (std::size_t i = 0; i < study.strategies.size(); ++i) {
    const auto& strategy = study.strategies[i];
    TimelineWriter timeline(file, strategy.name);
    ObserverFanout observers;
    observers.add(timeline);
    if (!traces.empty()) observers.add(*traces[i]);
    const auto collectives = record_run(make(strategy.recorded_draw), strategy, observers);
    timeline.finish(strategy, collectives);
    if (!traces.empty()) traces[i]->finish();
  }
}

void say_what_was_written(const RunOptions& options, const std::filesystem::path& output) {
  fmt::print(stderr, "wrote {0}; look into it with: c3sim inspect {0}\n", output.string());
  if (!options.trace.empty())
    fmt::print(stderr, "wrote {}/<strategy>/rank<r>.json for https://ui.perfetto.dev\n", options.trace);
}

int run(const RunOptions& options) {
  const auto configuration = ExperimentFile::load(options.file, options.sets);
  if (!options.quiet) print_notes(configuration.notes());
  const auto make = [&](std::optional<std::uint64_t> draw) { return configuration.make(draw); };
  if (const auto verdict = out_of_memory(make)) {
    fmt::print("{}", options.json ? out_of_memory_json(*verdict) : format_out_of_memory(*verdict));
    return kExitInfeasible;
  }
  const auto nominal = make(std::nullopt);
  const auto output = output_path(options, nominal.name);
  install_interrupt_handler();  // before there is a file to leave behind
  ResultFile file(output, run_header(nominal, configuration.resolved_toml(), options.command_line()));
  const auto traces = open_traces(options, nominal);

  const auto study = [&] {
    ProgressLine progress(options.quiet);
    return run_study(make, std::ref(progress));
  }();
  record(make, study, file, traces);
  for (const auto& trace : traces)
    trace->commit();
  file.commit();

  fmt::print("{}", options.json ? study_json(study, output) : format_study(study));
  if (!options.quiet) say_what_was_written(options, output);
  return kExitOk;
}

}  // namespace

void add_run_verb(CLI::App& app, VerbAction& action) {
  const auto options = std::make_shared<RunOptions>();
  auto* verb = app.add_subcommand("run", "Simulate every strategy of an experiment");
  verb->footer(
      "Prints one row a strategy: time (median, 5-95 % over seeds) and its lower bound, speedup over serial,\n"
      "share of the ideal speedup, and the loss split in us; of a training step also tokens/s, MFU, exposed\n"
      "communication, operators and memory. Writes the timeline to an HDF5 file, in ps. A step that does not\n"
      "fit in a GPU's memory is not simulated: that is the result, with exit code 4.\n"
      "Values of --set are TOML; quantities are texts with a unit.\n\n"
      "Examples:\n"
      "  c3sim run configs/experiments/c3_llama70b_mi300x.toml\n"
      "  c3sim run configs/experiments/c3_llama70b_mi300x.toml --set measure.seeds=32 -o /tmp/c3.h5 --json\n"
      "  c3sim run configs/experiments/c3_llama70b_mi300x.toml --trace out/traces");
  verb->add_option("FILE", options->file, "Experiment (TOML)")->required();
  verb->add_option("--set", options->sets,
                   "Override one key: key=value, as in --set measure.seed=2; repeatable")
      ->take_all()
      ->expected(1)
      ->type_name("KEY=VALUE");
  verb->add_option("-o,--output", options->output, "HDF5 file to write (default: out/<experiment>.h5)")
      ->type_name("OUT.h5");
  verb->add_option("--trace", options->trace,
                   "Also write timelines as Chrome JSON (us) for Perfetto and HolisticTraceAnalysis:\n"
                   "DIR/<strategy>/rank<r>.json")
      ->type_name("DIR");
  verb->add_flag_callback(
      "--exact", [options] { options->sets.emplace_back("measure.exact=true"); },
      "Simulate every layer and micro-batch of a training step instead of counting the repeating ones\n"
      "(as --set measure.exact=true)");
  verb->add_flag("--json", options->json, "The table as JSON; times in us");
  verb->callback([&app, &action, options] {
    options->quiet = app.count("--quiet") > 0;
    action = [options] { return run(*options); };
  });
}

}  // namespace c3
