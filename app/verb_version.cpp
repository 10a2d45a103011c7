/// c3sim version: what this command was built from.

#include <xbt/misc.h>  // version.h needs its macros

#include <simgrid/version.h>
#include <memory>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "base/json.hpp"
#include "base/options.hpp"
#include "results/build_info.hpp"
#include "results/schema.hpp"

namespace c3 { inline namespace app {
namespace {

std::string simgrid_version() {
  return fmt::format("{}.{}.{}", SIMGRID_VERSION_MAJOR, SIMGRID_VERSION_MINOR, SIMGRID_VERSION_PATCH);
}

int print_version(bool json) {
  Json fields{{"version", build_info().version},
              {"git_commit", build_info().git_commit},
              {"compiler", build_info().compiler},
              {"run_file_schema", kRunFileSchema},
              {"run_file_schema_version", kRunFileSchemaVersion},
              {"simgrid", simgrid_version()},
              {"hdf5", hdf5_version()}};
  if (json) {
    fields["schema_version"] = kJsonSchemaVersion;
    fmt::print("{}\n", fields.dump(2));
    return kExitOk;
  }
  for (const auto& [name, value] : fields.members())
    fmt::print("{:<24} {}\n", name, value.text());
  return kExitOk;
}

}  // namespace

void add_version_verb(Command& app, VerbAction& action) {
  const auto json = std::make_shared<bool>(false);
  Command& verb = app.add_command("version", "Version, commit, compiler, schemas and libraries");
  verb.set_footer("Examples:\n  c3sim version\n  c3sim version --json");
  verb.add_flag("--json", *json, "As one JSON object");
  verb.when_parsed([&action, json] { action = [json] { return print_version(*json); }; });
}

}}  // namespace c3::app
