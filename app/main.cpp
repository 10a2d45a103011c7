/// The c3sim command: parses the command line, runs one verb, turns exceptions into exit codes.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "app/exit_code.hpp"
#include "app/usage_error.hpp"
#include "app/verb.hpp"
#include "configs/config_error.hpp"
#include "configs/nearest_name.hpp"
#include "engine/errors.hpp"
#include "results/build_info.hpp"
#include "results/io_error.hpp"

namespace {

using namespace c3;

int complain(int code, std::string_view message) {
  fmt::print(stderr, "c3sim: {}\n", message);
  return code;
}

/// The first word that is not an option: where a verb belongs.
std::string verb_word(int argc, char** argv) {
  const auto* word = std::find_if(argv + 1, argv + argc, [](const char* arg) { return arg[0] != '-'; });
  return word == argv + argc ? "" : *word;
}

int report_usage(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version: CLI11 prints to stdout
  std::vector<std::string> verbs;
  for (const auto* verb : app.get_subcommands({}))
    verbs.push_back(verb->get_name());
  const auto word = verb_word(argc, argv);
  if (word.empty() || std::ranges::find(verbs, word) != verbs.end()) {
    return complain(kExitUsage, fmt::format("{} (--help says more)", error.what()));
  }
  return complain(kExitUsage, unknown_name("verb", word, verbs));
}

/// Output that did not reach a full disk is a failure, even when everything before went well.
int flush_output(int code) {
  if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "standard output");
  return code;
}

int run_verb(const VerbAction& action) {
  try {
    return flush_output(action());
  } catch (const UsageError& error) {
    return complain(kExitUsage, error.what());
  } catch (const ConfigError& error) {
    fmt::print(stderr, "{}\n", error.what());  // starts with file:line:col, as editors expect
    return kExitConfig;
  } catch (const InfeasibleError& error) {
    return complain(kExitInfeasible, error.what());
  } catch (const InterruptedError&) {
    return complain(kExitInterrupted, "interrupted, nothing was written");
  } catch (const IoError& error) {
    return complain(kExitInputOutput, error.what());
  } catch (const std::system_error& error) {
    return complain(kExitInputOutput, error.what());
  } catch (const std::exception& error) {
    return complain(kExitInternal, fmt::format("internal error: {}", error.what()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  // A file size limit is then a write error that we report, not a signal that kills.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app(
      "c3sim: a discrete-event simulator of multi-GPU training in which whatever runs at the same time\n"
      "shares compute units, caches, HBM, DMA engines and links.\n\n"
      "Examples:\n"
      "  c3sim run configs/experiments/c3_llama70b_mi300x.toml\n"
      "  c3sim list experiments",
      "c3sim");
  app.set_version_flag("--version", std::string(build_info().version));
  app.add_flag("-q,--quiet")->description("Nothing on stderr but errors");
  app.require_subcommand(1);
  app.fallthrough();

  VerbAction action;
  add_run_verb(app, action);
  add_sweep_verb(app, action);
  add_merge_verb(app, action);
  add_collective_verb(app, action);
  add_kernel_verb(app, action);
  add_calibrate_verb(app, action);
  add_list_verb(app, action);
  add_config_verb(app, action);
  add_inspect_verb(app, action);
  add_diff_verb(app, action);
  add_report_verb(app, action);
  add_reproduce_verb(app, action);
  add_bench_verb(app, action);
  add_completion_verb(app, action);
  add_version_verb(app, action);

  if (argc == 1) {
    fmt::print(stderr, "{}", app.help());
    return kExitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report_usage(app, error, argc, argv);
  }
  return run_verb(action);
}
