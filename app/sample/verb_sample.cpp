/// c3sim sample: which kernels or iterations stand for all, with an error bound.

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/command/verb.hpp"
#include "app/sample/sample_request.hpp"
#include "base/options.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::int64_t kMostSeeds = 100'000;

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const SamplingMethod& method : sampling_methods())
    names.emplace_back(method.name);
  return names;
}

void add_column_options(Command& verb, TimedColumns& columns, const std::string& key, const std::string& keys) {
  verb.add_option(key, columns.key, "Column of " + keys).type_name("COLUMN");
  verb.add_option("--time", columns.time, "Column of times (default: duration, time, latency, .., or ms)")
      .type_name("COLUMN");
  verb.add_option("--unit", columns.unit, "Unit of times where their column names none (default: us)")
      .one_of({"ns", "us", "ms", "s"});
}

void add_kernels(Command& sample, Command& app, VerbAction& action) {
  const auto request = std::make_shared<SampleKernelsRequest>();
  Command& verb = sample.add_command("kernels", "Choose kernels that stand for a whole table or trace");
  verb.add_option("FILE", request->files,
                  "A CSV file of names and durations (also .csv.gz), Kineto traces, a result of c3sim run "
                  "(.h5) or the program.h5 of c3sim import")
      .required();
  verb.add_option("--strategy", request->strategy, "Of a result: which strategy's kernels (default: the first)")
      .type_name("NAME");
  verb.add_option("--method", request->method, "How kernels are chosen").one_of(method_names()).show_default();
  verb.add_option("--error", request->sample.error,
                  "Largest error of the whole time that is allowed, as a share")
      .in_range(1e-6, 1.0)
      .show_default();
  verb.add_option("--confidence", request->sample.confidence, "Probability with which the error is to hold")
      .in_range(0.5, 0.999999)
      .show_default();
  verb.add_option("--samples", request->sample.samples,
                  "random, first: number of kernels to take (default: what --error takes)")
      .type_name("N");
  verb.add_option("--seed", request->seed, "Another one draws other kernels").show_default();
  verb.add_flag("--compare", request->compare, "Try all methods over many seeds, against the known whole");
  verb.add_option("--seeds", request->seeds, "Seeds of --compare").in_range(1, kMostSeeds).show_default();
  verb.add_option(
          "-o,--output", request->folder,
          "Folder for samples.csv (invocations and weights) and reduced.toml, which c3sim run simulates")
      .type_name("DIR");
  verb.add_option("--system", request->system, "System of reduced.toml").type_name("SYSTEM").show_default();
  add_column_options(verb, request->columns, "--name", "kernel names (default: name, kernel or kernel name)");
  verb.add_flag("--json", request->json, "Print one JSON object");
  std::string methods = "Methods:\n";
  for (const SamplingMethod& method : sampling_methods())
    methods += fmt::format("  {:<9} {}\n", method.name, method.about);
  verb.set_footer(methods +
                  "\nKernels of collectives are left out of traces: their recorded times are mostly waiting.\n"
                  "\nExamples:\n"
                  "  c3sim sample kernels durations.csv --method stem --error 0.05 --confidence 0.95\n"
                  "  c3sim sample kernels traces/ --method allegro -o out/reduced\n"
                  "  c3sim sample kernels out/job.h5 --strategy prioritized --compare\n"
                  "  c3sim sample kernels durations.csv --compare --seeds 200");
  verb.when_parsed([&app, &action, request] {
    request->quiet = app.was_given("--quiet");
    action = [request] { return sample_kernels(*request); };
  });
}

void add_lengths(Command& sample, Command& app, VerbAction& action) {
  const auto request = std::make_shared<SampleLengthsRequest>();
  Command& verb =
      sample.add_command("lengths", "Choose iterations that stand for an epoch, by sequence length");
  verb.add_option("FILE", request->file, "A CSV log of iterations: sequence lengths and times").required();
  verb.add_option("--other", request->other,
                  "A log of another machine: what the chosen iterations say of its epoch and of the speedup")
      .type_name("FILE");
  verb.add_option("--error", request->points.error,
                  "Largest error of the epoch's time that is allowed, as a share")
      .in_range(1e-6, 1.0)
      .show_default();
  verb.add_option("--bins", request->points.first_bins, "Bins of lengths to begin with")
      .in_range(1, 1'000'000)
      .show_default();
  verb.add_flag("--compare", request->compare, "Also show other ways to choose iterations");
  add_column_options(verb, request->columns, "--length",
                     "sequence lengths (default: length, seq len, tokens, tokens per sentence, ..)");
  verb.add_flag("--json", request->json, "Print one JSON object");
  verb.set_footer(
      "Bins are added until the chosen iterations' estimate of the epoch is within --error (SeqPoint, ISPASS\n"
      "2020). Rows with 0 in a column iteration are warm-up and left out.\n\n"
      "Examples:\n"
      "  c3sim sample lengths v100.csv --error 0.01\n"
      "  c3sim sample lengths v100.csv --other a100.csv --compare");
  verb.when_parsed([&app, &action, request] {
    request->quiet = app.was_given("--quiet");
    action = [request] { return sample_lengths(*request); };
  });
}

void add_epoch(Command& sample, VerbAction& action) {
  const auto request = std::make_shared<SampleEpochRequest>();
  Command& verb =
      sample.add_command("epoch", "Estimate an epoch of sequences of many lengths from a few steps");
  verb.add_option("FILE", request->file,
                  "An experiment with [training] or [recurrent], and [workload.lengths] (TOML)")
      .required();
  verb.add_option("--set", request->sets, "Override a key: a.b=value sets, +a.b=value adds, ~a.b deletes")
      .repeated()
      .type_name("KEY=VALUE");
  verb.add_option("--error", request->points.error,
                  "Largest error of the epoch's time that is allowed, as a share")
      .in_range(1e-6, 0.5)
      .show_default();
  verb.add_option("--bins", request->points.first_bins, "Bins of lengths to begin with")
      .in_range(1, 1'000'000)
      .show_default();
  verb.add_flag("--whole", request->whole, "Also simulate every length, and compare");
  verb.add_flag("--json", request->json, "Print one JSON object");
  verb.set_footer(
      "Iterations are chosen as SeqPoint chooses them, from times on the lines between lengths that are\n"
      "simulated; bins of lengths are added until the chosen ones' estimate is within --error of those.\n\n"
      "Examples:\n"
      "  c3sim sample epoch configs/experiments/training/llama3_8b_lengths.toml\n"
      "  c3sim sample epoch job.toml --set 'workload.lengths.batches=\"sorted\"' --whole");
  verb.when_parsed([&action, request] { action = [request] { return sample_epoch(*request); }; });
}

void add_loop(Command& sample, VerbAction& action) {
  const auto request = std::make_shared<SampleLoopRequest>();
  Command& verb =
      sample.add_command("loop", "Run nested loops until their iterations repeat, and count the rest");
  verb.add_option("FILE", request->file, "A machine of units and the loops that run on it (TOML)").required();
  verb.add_option("--set", request->sets, "Override a key: a.b=value sets, +a.b=value adds, ~a.b deletes")
      .repeated()
      .type_name("KEY=VALUE");
  verb.add_flag("--whole", request->whole, "Also run every iteration; exit with 1 if the cycles differ");
  verb.add_flag("--json", request->json, "Print one JSON object");
  verb.set_footer(
      "The cycles are exact: a loop is closed where an iteration leaves all dates as an earlier one did, "
      "moved\n"
      "alike, so that the iterations after it repeat.\n\n"
      "Examples:\n"
      "  c3sim sample loop studies/sampling/systolic_gemm.toml\n"
      "  c3sim sample loop studies/sampling/vector_machine.toml --set unit.mac.copies=4 --whole");
  verb.when_parsed([&action, request] { action = [request] { return sample_loop(*request); }; });
}

}  // namespace

void add_sample_verb(Command& app, VerbAction& action) {
  Command& sample =
      app.add_command("sample", "Choose kernels, iterations or turns of loops that stand for all");
  sample.require_command();
  sample.set_footer(
      "Examples:\n"
      "  c3sim sample kernels durations.csv --method stem --error 0.05 --confidence 0.95\n"
      "  c3sim sample lengths v100.csv --other a100.csv");
  add_kernels(sample, app, action);
  add_lengths(sample, app, action);
  add_epoch(sample, action);
  add_loop(sample, action);
}

}}  // namespace c3::app
