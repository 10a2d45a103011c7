/// c3sim import: what traces of a real step hold, and how faithful a replay of them is.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/exit_code.hpp"
#include "app/import_tables.hpp"
#include "app/notes.hpp"
#include "app/trace_files.hpp"
#include "app/verb.hpp"
#include "base/options.hpp"
#include "workloads/traces/chakra/chakra_report.hpp"
#include "workloads/traces/execution/execution_report.hpp"
#include "workloads/traces/make_report.hpp"

namespace c3::inline app {
namespace {

struct ImportOptions {
  std::vector<std::string> files;
  std::string csv;  ///< table; empty: none
  bool json = false;
  bool allow_missing = false;
  bool quiet = false;
};

template <class Report>
void print_report(const ImportOptions& options, const Report& report) {
  if (options.json) {
    fmt::print("{}", import_json(report));
  } else {
    fmt::print("{}",
               options.csv.empty() ? import_text(report) : import_csv(import_tables(report), options.csv));
  }
}

int import_traces(const ImportOptions& options) {
  TraceFiles files = read_traces(options.files, options.allow_missing);
  if (!options.quiet) print_notes(files.notes);
  if (!files.ranks.empty()) {
    ImportReport report = make_report(files.ranks);
    report.joins = std::move(files.joins);
    print_report(options, report);
  } else if (!files.executions.empty()) {
    print_report(options, make_report(files.executions));
  } else {
    print_report(options, make_report(files.chakras));
  }
  return kExitOk;
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
      "    binds the step, and how far a replay of the recorded durations is from the recording\n"
      "  PyTorch execution traces (schemas 1.0.1 to 1.1.1) beside Kineto traces: joined with the one of their\n"
      "    rank, which they give shapes and collectives that it lacks\n"
      "  PyTorch execution traces or Chakra traces alone: nodes by kind, operators by class, collectives,\n"
      "    dependencies; of Chakra traces also durations and the critical path\n"
      "Nothing is written.\n\n"
      "Examples:\n"
      "  c3sim import traces/\n"
      "  c3sim import rank0.json.gz rank1.json.gz --json\n"
      "  c3sim import rank0.json.gz --csv unexplained\n"
      "  c3sim import kineto.json.gz execution_trace.json.gz\n"
      "  c3sim import chakra.0.et");
  verb.add_option("FILES", options->files, "Traces, or folders of them").required();
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
