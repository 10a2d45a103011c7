#include "app/command/command_line.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/command/current_work.hpp"
#include "app/command/exit_code.hpp"
#include "app/command/standard_streams.hpp"
#include "base/nearest_name.hpp"
#include "base/options.hpp"
#include "base/usage_error.hpp"
#include "configs/toml/config_error.hpp"
#include "engine/errors.hpp"
#include "files/input_files.hpp"
#include "files/io_error.hpp"
#include "files/written_files.hpp"
#include "importers/user_files/formats.hpp"
#include "results/build_info.hpp"
#include "results/shell_word.hpp"
#include "results/shown_text.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3 { inline namespace app {
namespace {

int complain(int code, std::string_view message) {
  fmt::print(stderr, "c3sim: {}\n", shown_lines(message));
  return code;
}

/// For verbs, and times of a verb, that have nothing to keep; install_interrupt_handler() takes its place.
void end_interrupted(int) {
  constexpr std::string_view kText = "c3sim: interrupted\n";
  if (::write(STDERR_FILENO, kText.data(), kText.size()) < 0) ::_exit(kExitInterrupted);
  ::_exit(kExitInterrupted);
}

void end_on_signals() {
  for (const int signal : {SIGINT, SIGTERM})
    if (std::signal(signal, end_interrupted) == SIG_IGN) std::signal(signal, SIG_IGN);
}

/// The first word that is not an option: where a verb belongs.
std::string verb_word(int argc, char** argv) {
  const auto* word = std::find_if(argv + 1, argv + argc, [](const char* arg) { return arg[0] != '-'; });
  return word == argv + argc ? "" : *word;
}

int report_usage(const Command& program, const OptionError& error, int argc, char** argv) {
  std::vector<std::string> verbs;
  for (const Command& verb : program.commands())
    verbs.push_back(verb.name());
  const auto word = verb_word(argc, argv);
  if (word.empty() || std::ranges::find(verbs, word) != verbs.end()) {
    return complain(kExitUsage, fmt::format("{} (see --help)", error.what()));
  }
  return complain(kExitUsage, unknown_name("verb", word, verbs));
}

/// What \p file is, where its content is known and \p error is about it, and what reads it; empty where \p verb
/// does.
std::string hint_of(std::string_view file, std::string_view error, const std::string& verb) {
  constexpr std::uintmax_t kLargest = std::uintmax_t{64} << 20U;
  std::error_code ignored;
  if (file.empty() || !error.starts_with(file) || !std::filesystem::is_regular_file(file, ignored)) return {};
  try {
    const std::vector<char> content = read_own_file(file, kLargest);
    const FileFormat* const format = format_of({content.data(), content.size()});
    if (format == nullptr) return {};
    std::string command(command_for(format->role));
    if (command.starts_with("c3sim " + verb + ' ')) return {};
    constexpr std::string_view kPlace = "FILE";
    command.replace(command.find(kPlace), kPlace.size(), shell_word(std::string(file)));
    return fmt::format("{} is {}: {}", file, format->what, command);
  } catch (const IoError&) {
    return {};
  }
}

/// A file of another tool, given where an experiment is read, is named for what it is.
void name_foreign_file(const ConfigError& error, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string hint = hint_of(argv[i], error.what(), verb_word(argc, argv));
    if (hint.empty()) continue;
    fmt::print(stderr, "{}\n", shown_lines(hint));
    return;
  }
}

/// Calls \p run. \returns its exit code, or the code of what it threw, after a message.
template <class Run>
int exit_code_of(Run run, int argc, char** argv) {
  try {
    return run();
  } catch (const UsageError& error) {
    return complain(kExitUsage, error.what());
  } catch (const OutputConflictError& error) {
    return complain(kExitUsage, error.what());
  } catch (const ConfigError& error) {
    fmt::print(stderr, "{}\n", shown_lines(error.what()));  // starts with file:line:col, as editors expect
    name_foreign_file(error, argc, argv);
    return kExitConfig;
  } catch (const InfeasibleError& error) {
    return complain(kExitInfeasible, error.what());
  } catch (const InterruptedError&) {
    return complain(kExitInterrupted, "interrupted, nothing was written");
  } catch (const TraceSetError& error) {
    return complain(kExitConfig, error.what());
  } catch (const TraceError& error) {
    return complain(kExitInputOutput, error.what());
  } catch (const IoError& error) {
    return complain(kExitInputOutput, error.what());
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) == 0) return complain(kExitInputOutput, error.what());
    return complain(kExitInputOutput, "standard output: " + error.code().message());
  } catch (const std::bad_alloc&) {
    return complain(kExitInputOutput, out_of_memory_text());
  } catch (const std::exception& error) {
    return complain(kExitInternal, fmt::format("internal error: {}", error.what()));
  }
}

/// Parses the command line and runs its verb.
int run_command(int argc, char** argv, const Program& program) {
  CommandLine line("c3sim", program.about);
  Command& app = line.program();
  line.set_version(std::string(build_info().version));
  app.add_flag("-q,--quiet", "Nothing on stderr but errors");
  app.add_flag("--force",
               "Outputs may replace files that c3sim did not write, and experiments that were edited since");
  app.require_command();

  VerbAction action;
  program.add_verbs(app, action);

  if (argc == 1) {
    fmt::print(stderr, "{}", app.help());
    return kExitUsage;
  }
  try {
    if (const auto text = line.parse(argc, argv)) {  // --help, --version
      std::fputs(text->c_str(), stdout);
      flush_standard_output();
      return kExitOk;
    }
  } catch (const OptionError& error) {
    return report_usage(app, error, argc, argv);
  }
  // An empty value is a shell variable that was not set, not a wish for the default.
  if (const auto name = app.empty_option()) throw UsageError(*name + ": must not be empty");
  if (app.was_given("--force")) replace_files_of_user();
  set_current_work(fmt::format("'c3sim {}'", fmt::join(argv + 1, argv + argc, " ")));
  const int code = action();
  flush_standard_output();
  return code;
}

}  // namespace

int run_command_line(int argc, char** argv, const Program& program) {
  prepare_standard_streams();
  end_on_signals();
  return exit_code_of([&] { return run_command(argc, argv, program); }, argc, argv);
}

}}  // namespace c3::app
