/// c3sim config: checks a configuration file, or shows what it amounts to.

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/exit_code.hpp"
#include "app/verb.hpp"
#include "configs/experiment_reader.hpp"
#include "configs/preset_store.hpp"

namespace c3 {
namespace {

struct Options {
  std::string file;
  std::vector<std::string> sets;
  bool resolved = false;
};

int check(const Options& options) {
  if (const auto kind = preset_kind_of(options.file)) {
    read_preset(*kind, options.file);
    fmt::print("{}: ok (preset)\n", options.file);
    return kExitOk;
  }
  const Experiment experiment = ExperimentFile::load(options.file, options.sets).make(std::nullopt);
  fmt::print("{}: ok (streams: {}, strategies: {}, seeds: {}, draws: {})\n", options.file,
             experiment.streams.size(), experiment.strategies.size(), experiment.measure.seeds,
             experiment.measure.draws);
  return kExitOk;
}

int show(const Options& options) {
  const ExperimentFile file = ExperimentFile::load(options.file, options.sets);
  fmt::print("{}", options.resolved ? file.resolved_toml() : file.merged_toml());
  return kExitOk;
}

void add_file_options(CLI::App& verb, Options& options) {
  verb.add_option("FILE", options.file, "Experiment file (TOML)")->required();
  verb.add_option("--set", options.sets, "Override a key: a.b=value sets, +a.b=value adds, ~a.b deletes")
      ->take_all()
      ->expected(1)
      ->type_name("KEY=VALUE");
}

}  // namespace

void add_config_verb(CLI::App& app, VerbAction& action) {
  const auto options = std::make_shared<Options>();
  CLI::App& config = *app.add_subcommand("config", "Check or show an experiment's configuration");
  config.require_subcommand(1);
  config.footer(
      "Examples:\n"
      "  c3sim config check configs/experiments/c3_llama70b_mi300x.toml\n"
      "  c3sim config show configs/experiments/c3_llama70b_mi300x.toml --resolved --set measure.seeds=1");

  CLI::App& check_verb =
      *config.add_subcommand("check", "Read a file (experiment or preset) and report the first mistake");
  add_file_options(check_verb, *options);
  check_verb.footer(
      "Examples:\n"
      "  c3sim config check configs/experiments/c3_llama70b_mi300x.toml\n"
      "  c3sim config check configs/gpus/mi300x.toml");
  check_verb.callback([&action, options] { action = [options] { return check(*options); }; });

  CLI::App& show_verb = *config.add_subcommand("show", "Print an experiment after extends and --set");
  add_file_options(show_verb, *options);
  show_verb.add_flag("--resolved", options->resolved,
                     "Put every preset in place of its name, with its sources");
  show_verb.footer(
      "Examples:\n"
      "  c3sim config show configs/experiments/c3_llama70b_mi300x.toml\n"
      "  c3sim config show configs/experiments/c3_llama70b_mi300x.toml --resolved > all_in_one.toml");
  show_verb.callback([&action, options] { action = [options] { return show(*options); }; });
}

}  // namespace c3
