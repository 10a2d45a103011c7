/// c3sim import: what traces of a real step hold, and how faithful a replay of them is.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "app/import/import_program.hpp"
#include "app/import/import_retiming.hpp"
#include "app/import/import_similarity.hpp"
#include "app/import/import_tables.hpp"
#include "app/import/operator_list_output.hpp"
#include "app/import/trace_files.hpp"
#include "app/notes.hpp"
#include "base/options.hpp"
#include "base/usage_error.hpp"
#include "configs/jobs/trace_reader.hpp"
#include "results/shell_word.hpp"
#include "results/shown_text.hpp"
#include "workloads/traces/chakra/chakra_report.hpp"
#include "workloads/traces/execution/execution_report.hpp"
#include "workloads/traces/execution/operator_list_changes.hpp"
#include "workloads/traces/make_report.hpp"

namespace c3 { inline namespace app {
namespace {

struct ImportOptions {
  std::vector<std::string> files;
  std::string csv;         ///< table; empty: none
  ProgramRequest program;  ///< without a folder none is written
  std::string gpu;         ///< preset to time kernels on; empty: none
  bool json = false;
  bool allow_missing = false;
  bool quiet = false;
  bool benchmark = false;   ///< makes a benchmark in place of a program
  bool similarity = false;  ///< simulate what is written, and compare
  OperatorListOptions operators;
};

bool is_of_retiming(const std::string& table) { return std::ranges::count(retiming_table_names(), table) > 0; }
bool is_of_similarity(const std::string& table) {
  return std::ranges::count(similarity_table_names(), table) > 0;
}

std::vector<std::string> all_table_names() {
  std::vector<std::string> names = import_table_names();
  for (const auto& more : {retiming_table_names(), similarity_table_names()})
    names.insert(names.end(), more.begin(), more.end());
  return names;
}

template <class Report>
void print_report(const ImportOptions& options, const Report& report) {
  if (options.json) {
    fmt::print("{}", import_json(report));
  } else {
    fmt::print("{}", options.csv.empty() ? shown_lines(import_text(report))
                                         : import_csv(import_tables(report), options.csv));
  }
}

/// Lists of several files, as if put behind each other.
NodeGraphReport report_on(const std::vector<OperatorListFile>& lists) {
  OperatorList all = lists.front().list;
  for (std::size_t i = 1; i < lists.size(); ++i)
    all = concatenated(std::move(all), lists[i].list);
  return make_report(all, lists.front().file);
}

void say_what_was_written(const WrittenProgram& written, bool is_benchmark) {
  fmt::print(stderr, "wrote {} and {}; simulate it with: c3sim run {}\n", written.program, written.experiment,
             written.experiment);
  const ReplayCheck& check = written.check;
  if (!is_benchmark)
    fmt::print(
        stderr,
        "simulated with the recorded times: steps within {:.4f} %, starts of kernels within {:.4f} % (median), "
        "{:.4f} % (95th percentile) of a step\n",
        100.0 * check.step_error, 100.0 * check.median, 100.0 * check.p95);
  if (written.shares.all().count == 0) return;
  fmt::print(stderr, "with trace.replay=modelled, {}\n", share_text(written.shares));
}

void print_kineto(const ImportOptions& options, TraceFiles& files, const std::optional<GpuSpec>& gpu,
                  const std::optional<Similarity>& similarity) {
  std::optional<Retiming> retiming;
  if (gpu) retiming = retimed_on(*gpu, files.ranks);
  if (is_of_retiming(options.csv)) {
    fmt::print("{}", retiming_csv(*retiming, files.ranks, options.csv));
    return;
  }
  ImportReport report = make_report(files.ranks);
  report.joins = std::move(files.joins);
  if (options.json) {
    ImportExtras extras;
    if (retiming) {
      add_times_with_empty_caches(*retiming, *gpu, files.ranks);
      extras["retiming"] = retiming_json(*retiming);
    }
    if (similarity) extras["similarity"] = similarity_json(*similarity);
    fmt::print("{}", import_json(report, extras));
    return;
  }
  print_report(options, report);
  if (!options.csv.empty()) return;
  if (retiming) fmt::print("{}", retiming_text(*retiming));
  if (similarity) fmt::print("{}", similarity_text(*similarity));
}

/// Combinations of options that make no sense, whatever the files.
void check(const ImportOptions& options) {
  const OperatorListOptions& list = options.operators;
  if (is_of_retiming(options.csv) && options.gpu.empty())
    throw UsageError("--csv " + options.csv + " requires --gpu, the GPU that kernels are timed on");
  if (needs_simulation(options.csv) && !options.similarity)
    throw UsageError("--csv " + options.csv + " requires --similarity");
  if (is_of_similarity(options.csv) && options.program.folder.empty())
    throw UsageError("--csv " + options.csv + " requires -o, what is written to be simulated");
  const char* const change = list.obfuscate       ? "--obfuscate"
                             : !list.drop.empty() ? "--drop"
                             : list.repeat != 1   ? "--repeat"
                             : list.ranks != 0    ? "--scale-to"
                                                  : nullptr;
  if (change != nullptr && list.file.empty() && !options.benchmark)
    throw UsageError(std::string(change) + " changes an operator list: it requires --operators or --benchmark");
  if (options.similarity && list.shortens_or_lengthens())
    throw UsageError(
        "--similarity compares with the trace: it cannot be combined with --drop, --repeat and --scale-to");
}

/// ... and those that these files do not allow.
void check(const ImportOptions& options, const TraceFiles& files) {
  if (!files.ranks.empty()) return;
  if (!options.program.folder.empty() && !options.benchmark)
    throw UsageError(
        "-o requires Kineto traces: other formats have no times of GPU work; --benchmark makes an "
        "experiment of execution traces and operator lists");
  if (!options.gpu.empty())
    throw UsageError("--gpu requires Kineto traces, which have kernels with times; none is among the files");
  if (options.similarity)
    throw UsageError(
        "--similarity requires Kineto traces, the recording to compare with; none is among the files");
}

int import_traces(const ImportOptions& options) {
  check(options);
  std::optional<GpuSpec> gpu;
  if (!options.gpu.empty()) gpu = retiming_gpu(options.gpu);
  TraceFiles files = read_traces(options.files, options.allow_missing);
  check(options, files);
  std::optional<MadeList> made;
  if (options.benchmark || !options.operators.file.empty()) {
    made = make_operator_list(files, options.operators);
    for (std::string& note : coverage_notes(*made))
      files.notes.push_back(std::move(note));
  }
  if (!options.operators.file.empty()) write_operator_list(options.operators.file, made->list);
  if (!options.quiet) print_notes(files.notes);
  std::optional<WrittenProgram> written;
  if (options.benchmark) {
    written = write_benchmark(made->list, files.ranks, options.program);
  } else if (!options.program.folder.empty()) {
    written = write_program(files.ranks, options.program);
  }
  std::optional<Similarity> similarity;
  if (options.similarity) similarity = similarity_of(files, *written, options.benchmark ? &*made : nullptr);
  if (is_of_similarity(options.csv)) {
    const Similarity known =
        similarity ? *similarity
                   : Similarity{.ranks = {}, .not_modelled = written->not_modelled, .coverage = {}};
    fmt::print("{}", import_csv(similarity_tables(known), options.csv));
  } else if (!files.ranks.empty()) {
    print_kineto(options, files, gpu, similarity);
  } else if (!files.executions.empty()) {
    print_report(options, make_report(files.executions));
  } else if (!files.chakras.empty()) {
    print_report(options, make_report(files.chakras));
  } else {
    print_report(options, report_on(files.lists));
  }
  if (written && !options.quiet) say_what_was_written(*written, options.benchmark);
  return kExitOk;
}

void add_list_options(Command& verb, OperatorListOptions& options) {
  const std::string group = "Operator list";
  verb.add_option("--operators", options.file,
                  "Write what each rank runs, in order, as a list that stands alone")
      .type_name("FILE")
      .group(group);
  verb.add_flag("--obfuscate", options.obfuscate, "Replace names that are not PyTorch's own").group(group);
  verb.add_option("--drop", options.drop, "Leave out the operators of this class")
      .type_name("CLASS")
      .one_of({kWorkClassNames.begin(), kWorkClassNames.end()})
      .one_word()
      .group(group);
  verb.add_option("--repeat", options.repeat, "Run the list so many times in turn")
      .in_range(1, 1000)
      .group(group);
  verb.add_option("--scale-to", options.ranks, "For so many ranks, if all ranks are alike (data parallelism)")
      .type_name("RANKS")
      .in_range(1, 100'000)
      .group(group);
}

}  // namespace

void add_import_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<ImportOptions>();
  Command& verb =
      app.add_command("import", "Report on traces of real steps (Kineto, PyTorch execution traces, Chakra)");
  verb.set_footer(
      "Reads the traces of all ranks of a run, or of one; files may be plain, gzip or in a tar archive, and "
      "their\n"
      "format is recognised by their content:\n"
      "  Kineto traces of PyTorch's profiler on NVIDIA and AMD GPUs: ranks, GPU work by class, collectives "
      "and\n"
      "    what they cost without waiting, who arrives last, the edges of the run and where they come from, "
      "what\n"
      "    binds the step, and how far a replay of the recorded durations is from the recording; with --gpu, "
      "the times\n"
      "    of their kernels by the kernel model on another GPU, from the shapes recorded\n"
      "  PyTorch execution traces (schemas 1.0.1 to 1.1.1) beside Kineto traces: joined with the one of their\n"
      "    rank, which they give shapes and collectives that it lacks\n"
      "  PyTorch execution traces or Chakra traces alone: nodes by kind, operators by class, collectives,\n"
      "    dependencies; of Chakra traces also durations and the critical path\n"
      "  operator lists, which --operators writes: operators by class, collectives\n\n"
      "With -o, Kineto traces become what c3sim run simulates: program.h5, the recorded run, and\n"
      "experiment.toml. With --benchmark the experiment runs an operator list, operators.json, in place of "
      "the\n"
      "program: of execution traces, with Kineto traces beside them for times, or of operator lists.\n\n"
      "Examples:\n"
      "  c3sim import traces/\n"
      "  c3sim import traces/ -o replay && c3sim run replay/experiment.toml\n"
      "  c3sim import rank0.json.gz rank1.json.gz --json\n"
      "  c3sim import rank0.json.gz --csv unexplained\n"
      "  c3sim import kineto.json.gz execution_trace.json.gz\n"
      "  c3sim import chakra.0.et\n"
      "  c3sim import traces/ --operators step.json --obfuscate\n"
      "  c3sim import traces/ -o bench --benchmark --similarity && c3sim run bench/experiment.toml\n"
      "  c3sim import rank0.json.gz --gpu mi300x");
  verb.add_option("FILES", options->files, "Traces, or folders of them").required();
  Option& csv = verb.add_option("--csv", options->csv, "Print this table whole, as CSV");
  csv.type_name("TABLE").one_of(all_table_names());
  Option& folder = verb.add_option("-o,--output", options->program.folder,
                                   "Write what c3sim run simulates to this folder, in place of older files");
  folder.type_name("DIR");
  verb.add_option("--system", options->program.system,
                  "System on which it is to be simulated (default: one with the trace's GPUs)")
      .type_name("SYSTEM")
      .needs(folder);
  verb.add_flag("--benchmark", options->benchmark,
                "Write operators.json, an operator list, in place of program.h5")
      .needs(folder);
  verb.add_flag("--similarity", options->similarity,
                "Simulate what is written, with recorded and with modelled times, and compare with the trace")
      .needs(folder);
  verb.add_option("--gpu", options->gpu, "Time the kernels on this GPU preset (c3sim list gpus)")
      .type_name("SLUG");
  verb.add_flag("--json", options->json, "Print one JSON object").excludes(csv);
  verb.add_flag("--allow-missing", options->allow_missing, "Accept some, but not all, ranks of a job");
  add_list_options(verb, options->operators);
  verb.when_parsed([&app, &action, options] {
    options->quiet = app.was_given("--quiet");
    options->program.command_line = "c3sim import";
    for (const std::string& file : options->files)
      options->program.command_line += " " + shell_word(file);
    if (options->allow_missing) options->program.command_line += " --allow-missing";
    if (!options->program.system.empty())
      options->program.command_line += " --system " + shell_word(options->program.system);
    options->program.command_line += " -o " + shell_word(options->program.folder);
    action = [options] { return import_traces(*options); };
  });
}

}}  // namespace c3::app
