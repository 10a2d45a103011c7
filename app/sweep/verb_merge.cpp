/// c3sim merge: the points of a sweep as one table.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "base/options.hpp"
#include "engine/interrupt.hpp"
#include "files/temporary_file.hpp"
#include "results/sweep/sweep_table.hpp"

namespace c3 { inline namespace app {
namespace {

struct MergeOptions {
  std::string folder;
  std::string output;  ///< empty: the folder's name with .h5
  bool csv = false;
  bool quiet = false;
};

std::filesystem::path output_path(const MergeOptions& options) {
  if (!options.output.empty()) return options.output;
  std::filesystem::path folder = std::filesystem::path(options.folder).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  return folder += ".h5";
}

int merge(const MergeOptions& options) {
  install_interrupt_handler();  // before there is a file to leave behind
  const SweepTable table = merge_sweep(SweepFolder(options.folder));
  const std::filesystem::path output = output_path(options);
  const std::filesystem::path csv = std::filesystem::path(output).replace_extension(".csv");
  TemporaryFile file(output);
  std::optional<TemporaryFile> csv_file;
  if (options.csv) csv_file.emplace(csv, kSweepCsvHeader);
  write_sweep_file(file, table);
  if (csv_file) csv_file->append(sweep_csv(table));
  file.rename_to_target();
  if (csv_file) csv_file->rename_to_target();
  const std::string written = options.csv ? output.string() + " and " + csv.string() : output.string();
  const std::size_t failed = table.count("failed"), missing = table.count("missing");
  fmt::print("{} points: {} ok, {} out of memory, {} failed, {} missing\n", table.rows(), table.count("ok"),
             table.count("out_of_memory"), failed, missing);
  if (!options.quiet)
    fmt::print(stderr, "wrote {}; look at it with: c3sim report {}\n", written, output.string());
  return failed + missing == 0 ? kExitOk : kExitPartial;
}

}  // namespace

void add_merge_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<MergeOptions>();
  Command& verb = app.add_command("merge", "Merge the points of a sweep into one table");
  verb.set_footer(
      "Writes a row for each point: the swept keys, every number of every strategy (times in us), status and\n"
      "error, and the command that runs the point alone. The table does not depend on which machines "
      "simulated\n"
      "the points, or in which order. If points failed or are missing, the exit code is 5.\n"
      "docs/glossary.md explains the words of the tables.\n\n"
      "Examples:\n"
      "  c3sim merge out/partition\n"
      "  c3sim merge out/partition -o partition.h5 --csv");
  verb.add_option("DIR", options->folder, "Folder that c3sim sweep wrote").required();
  verb.add_option("-o,--output", options->output, "HDF5 file to write (default: DIR.h5)").type_name("OUT.h5");
  verb.add_flag("--csv", options->csv, "Also write OUT.csv");
  verb.when_parsed([&app, &action, options] {
    options->quiet = app.was_given("--quiet");
    action = [options] { return merge(*options); };
  });
}

}}  // namespace c3::app
