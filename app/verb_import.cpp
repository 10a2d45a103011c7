/// c3sim import: what traces of PyTorch's profiler hold, and how faithful a replay of them is.

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/exit_code.hpp"
#include "app/import_tables.hpp"
#include "app/notes.hpp"
#include "app/trace_files.hpp"
#include "app/verb.hpp"
#include "base/options.hpp"
#include "workloads/traces/make_report.hpp"
#include "workloads/traces/rank_set.hpp"

namespace c3::inline app {
namespace {

struct ImportOptions {
  std::vector<std::string> files;
  std::string csv;  ///< table; empty: none
  bool json = false;
  bool allow_missing = false;
  bool quiet = false;
};

int import_traces(const ImportOptions& options) {
  TraceFiles files = read_traces(options.files);
  if (!options.quiet) print_notes(files.notes);
  order_ranks(files.ranks, options.allow_missing);
  const ImportReport report = make_report(files.ranks);
  if (options.json) {
    fmt::print("{}", import_json(report));
  } else {
    fmt::print("{}", options.csv.empty() ? import_text(report) : import_csv(report, options.csv));
  }
  return kExitOk;
}

}  // namespace

void add_import_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<ImportOptions>();
  Command& verb = app.add_command("import", "Report on traces of PyTorch's profiler (Kineto)");
  verb.set_footer(
      "Reads the traces of all ranks of a run, or of one, as PyTorch's profiler writes them on NVIDIA and AMD\n"
      "GPUs (JSON, plain or gzip). Prints ranks, GPU work by class, collectives and what they cost without\n"
      "waiting, who arrives last, the edges of the run and where they come from, what binds the step, and how\n"
      "far a replay of the recorded durations is from the recording. Nothing is written.\n\n"
      "Examples:\n"
      "  c3sim import traces/\n"
      "  c3sim import rank0.json.gz rank1.json.gz --json\n"
      "  c3sim import rank0.json.gz --csv unexplained");
  verb.add_option("FILES", options->files, "Traces, or folders of them (.json, .json.gz)").required();
  Option& csv = verb.add_option("--csv", options->csv, "Print this table whole, as CSV");
  csv.type_name("TABLE").one_of(import_table_names());
  verb.add_flag("--json", options->json, "Print one JSON object").excludes(csv);
  verb.add_flag("--allow-missing", options->allow_missing, "Accept some, but not all, ranks of a job");
  verb.when_parsed([&app, &action, options] {
    options->quiet = app.was_given("--quiet");
    action = [options] { return import_traces(*options); };
  });
}

}  // namespace c3::app
