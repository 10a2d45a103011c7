/// c3sim config: checks a configuration file, shows what it amounts to, or what one may hold.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "app/notes.hpp"
#include "base/options.hpp"
#include "configs/jobs/doubts.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/jobs/json_schema.hpp"
#include "configs/presets/preset_store.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::string_view kExperiment = "experiment";

/// What a schema can be of; no preset kind: an experiment.
const std::map<std::string, std::optional<PresetKind>, std::less<>>& schema_kinds() {
  static const std::map<std::string, std::optional<PresetKind>, std::less<>> kKinds = [] {
    std::map<std::string, std::optional<PresetKind>, std::less<>> kinds = {
        {std::string(kExperiment), std::nullopt}};
    for (const PresetKind kind : kPresetKinds)
      kinds.emplace(noun_of(kind), kind);
    return kinds;
  }();
  return kKinds;
}

struct Options {
  std::string file;
  std::vector<std::string> sets;
  bool resolved = false;
  bool origins = false;
  bool quiet = false;
  std::string kind = std::string(kExperiment);
};

int check(const Options& options) {
  if (const auto kind = preset_kind_of(options.file)) {
    const Node preset = read_preset(*kind, options.file);
    if (*kind == PresetKind::gpu && !options.quiet) print_notes(doubts_about_preset(*preset.table()));
    fmt::print("{}: ok (preset)\n", options.file);
    return kExitOk;
  }
  const ExperimentFile file = ExperimentFile::load(options.file, options.sets);
  if (!options.quiet) print_notes(file.notes());
  const Experiment experiment = file.sketch();
  fmt::print("{}: ok (streams: {}, strategies: {}, seeds: {}, draws: {})\n", options.file,
             experiment.program.streams.size(), experiment.strategies.size(), experiment.measure.seeds,
             experiment.measure.draws);
  return kExitOk;
}

int show(const Options& options) {
  const ExperimentFile file = ExperimentFile::load(options.file, options.sets);
  const Comments comments = options.origins ? Comments::origins : Comments::none;
  fmt::print("{}", options.resolved ? file.resolved_toml(comments) : file.merged_toml(comments));
  return kExitOk;
}

int schema(const Options& options) {
  fmt::print("{}", json_schema(schema_kinds().at(options.kind)));
  return kExitOk;
}

void add_file_options(Command& verb, Options& options) {
  verb.add_option("FILE", options.file, "Experiment file (TOML)").required();
  verb.add_option("--set", options.sets, "Override a key: a.b=value sets, +a.b=value adds, ~a.b deletes")
      .repeated()
      .type_name("KEY=VALUE");
}

}  // namespace

void add_config_verb(Command& app, VerbAction& action) {
  const auto options = std::make_shared<Options>();
  Command& config = app.add_command("config", "Check or show a configuration, or the schema of one");
  config.require_command();
  config.set_footer(
      "Examples:\n"
      "  c3sim config check configs/experiments/c3_llama70b_mi300x.toml\n"
      "  c3sim config show configs/experiments/c3_llama70b_mi300x.toml --resolved --set measure.seeds=1");

  Command& check_verb =
      config.add_command("check", "Read a file (experiment or preset) and report what is wrong in it");
  add_file_options(check_verb, *options);
  check_verb.set_footer(
      "Examples:\n"
      "  c3sim config check configs/experiments/c3_llama70b_mi300x.toml\n"
      "  c3sim config check configs/gpus/mi300x.toml");
  check_verb.when_parsed([&app, &action, options] {
    options->quiet = app.was_given("--quiet");
    action = [options] { return check(*options); };
  });

  Command& show_verb = config.add_command("show", "Print an experiment after extends and --set");
  add_file_options(show_verb, *options);
  show_verb.add_flag("--resolved", options->resolved,
                     "Put every preset in place of its name, with its sources");
  show_verb.add_flag("--origins", options->origins,
                     "Say after each value where it comes from: file:line:column, --set:number or default");
  show_verb.set_footer(
      "Examples:\n"
      "  c3sim config show configs/experiments/c3_llama70b_mi300x.toml\n"
      "  c3sim config show configs/experiments/c3_llama70b_mi300x.toml --resolved > all_in_one.toml\n"
      "  c3sim config show configs/experiments/c3_llama70b_mi300x.toml --resolved --origins --set gpu.xcds=4");
  show_verb.when_parsed([&action, options] { action = [options] { return show(*options); }; });

  Command& schema_verb =
      config.add_command("schema", "Print the JSON Schema (Draft 4) of experiments or of one kind of preset");
  schema_verb.add_option("KIND", options->kind, "What the schema is of")
      .one_key_of(schema_kinds())
      .show_default();
  schema_verb.set_footer(
      "Editors that know TOML schemas complete and check keys with it (configs/README.md says how).\n\n"
      "Examples:\n"
      "  c3sim config schema > experiment.schema.json\n"
      "  c3sim config schema gpu > gpu.schema.json");
  schema_verb.when_parsed([&action, options] { action = [options] { return schema(*options); }; });
}

}}  // namespace c3::app
