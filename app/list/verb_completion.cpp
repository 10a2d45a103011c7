/// c3sim completion: prints a script with which a shell completes verbs, options and their values.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "base/options.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/presets/study_card.hpp"

namespace c3 { inline namespace app {
namespace {

using Words = std::vector<std::string>;

/// What may follow a command such as "c3sim config show".
struct Completion {
  std::string path;
  Words verbs_and_values;                  ///< verbs below it, or values of its arguments; empty: files
  std::set<std::string> options;           ///< spelled as typed: "--set"
  std::map<std::string, Words> arguments;  ///< values of the options that take one; without values: files
};

Words all_preset_names() {
  Words names;
  for (const PresetKind kind : kPresetKinds)
    std::ranges::copy(preset_names(kind), std::back_inserter(names));
  return names;
}

Words study_names() {
  Words names;
  for (const StudyCard& study : study_cards())
    names.push_back(study.name);
  return names;
}

/// The values of an option that is one of some, or whose type name says what it names.
Words values_of(const Option& option) {
  static const std::map<std::string, std::function<Words()>> kNames = {
      {"GPU", [] { return preset_names(PresetKind::gpu); }},
      {"SYSTEM", [] { return preset_names(PresetKind::node); }},
      {"LIBRARY", [] { return preset_names(PresetKind::library); }},
      {"MODEL", [] { return preset_names(PresetKind::model); }},
      {"FABRIC", [] { return preset_names(PresetKind::fabric); }},
      {"PRESET", all_preset_names},
      {"STUDY", study_names},
  };
  const auto names = kNames.find(option.type_name());
  return names == kNames.end() ? option.values() : names->second();
}

void add_options(const Command& command, Completion& completion) {
  for (const Option& option : command.options()) {
    const Words values = values_of(option);
    const Words names = option.names();
    if (names.empty()) std::ranges::copy(values, std::back_inserter(completion.verbs_and_values));
    for (const std::string& name : names) {
      completion.options.insert(name);
      if (option.takes_value()) completion.arguments[name] = values;
    }
  }
}

/// Depth first. A verb understands the options of the commands \p above it, too.
void collect(const Command& command, const Completion& above, std::vector<Completion>& completions) {
  Completion completion = above;
  completion.path += (completion.path.empty() ? "" : " ") + command.name();
  completion.verbs_and_values.clear();
  add_options(command, completion);
  for (const Command& verb : command.commands())
    completion.verbs_and_values.push_back(verb.name());
  completions.push_back(completion);
  for (const Command& verb : command.commands())
    collect(verb, completion, completions);
}

std::string quoted_paths(const std::vector<Completion>& commands, std::string_view separator) {
  Words paths;
  for (const Completion& command : commands)
    paths.push_back("'" + command.path + "'");
  return fmt::format("{}", fmt::join(paths, separator));
}

/// The part that bash and zsh have in common. Reads `command` (verbs so far) and `previous` (the word before
/// the cursor), and sets `plain` (what may stand here; empty: files) and `options`.
std::string posix_cases(const std::vector<Completion>& commands) {
  std::string out = "  local plain= options=\n  case \"$command $previous\" in\n";
  for (const Completion& command : commands) {
    for (const auto& [option, values] : command.arguments)
      out += fmt::format("    '{} {}') plain='{}' ;;\n", command.path, option, fmt::join(values, " "));
  }
  out += "    *) case $command in\n";
  for (const Completion& command : commands) {
    out += fmt::format("      '{}') plain='{}' options='{}' ;;\n", command.path,
                       fmt::join(command.verbs_and_values, " "), fmt::join(command.options, " "));
  }
  return out + "    esac ;;\n  esac\n";
}

std::string bash_script(const std::vector<Completion>& commands) {
  return fmt::format(
      R"(# Completes c3sim in bash. Load it with: source <(c3sim completion bash)
_c3sim() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command=c3sim i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${{COMP_WORDS[i]}}" in
      {}) command+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
{}  [[ $word == -* ]] && plain=$options
  mapfile -t COMPREPLY < <(compgen -W "$plain" -- "$word")
}}
complete -o default -F _c3sim c3sim
)",
      quoted_paths(commands, " | "), posix_cases(commands));
}

std::string zsh_script(const std::vector<Completion>& commands) {
  return fmt::format(
      R"(#compdef c3sim
# Completes c3sim in zsh. Load it after compinit with: source <(c3sim completion zsh)
_c3sim() {{
  local previous=${{words[CURRENT-1]}} command=c3sim i
  for ((i = 2; i < CURRENT; ++i)); do
    case "$command ${{words[i]}}" in
      ({}) command+=" ${{words[i]}}" ;;
    esac
  done
{}  [[ $PREFIX == -* ]] && plain=$options
  if [[ -n $plain ]]; then compadd -- ${{=plain}}; else _files; fi
}}
# A file that zsh found in its fpath is run as the function itself, by the first completion.
if [[ ${{funcstack[1]-}} == _c3sim ]]; then _c3sim "$@"; else compdef _c3sim c3sim; fi
)",
      quoted_paths(commands, " | "), posix_cases(commands));
}

std::string fish_script(const std::vector<Completion>& commands) {
  std::string out = fmt::format(
      R"(# Completes c3sim in fish. Load it with: c3sim completion fish | source
function __c3sim_is
  set -l command c3sim
  for word in (commandline -opc)[2..-1]
    contains -- "$command $word" {}; and set command "$command $word"
  end
  test "$command" = "$argv"
end
)",
      quoted_paths(commands, " "));
  for (const Completion& command : commands) {
    const std::string head = fmt::format("complete -c c3sim -n '__c3sim_is {}'", command.path);
    const Words& words = command.verbs_and_values;
    if (!words.empty()) out += fmt::format("{} -f -a '{}'\n", head, fmt::join(words, " "));
    for (const std::string& option : command.options) {
      const bool is_long = option.starts_with("--");
      out += fmt::format("{} -{} {}", head, is_long ? 'l' : 's', option.substr(is_long ? 2 : 1));
      if (const auto argument = command.arguments.find(option); argument != command.arguments.end()) {
        out += argument->second.empty() ? " -r" : fmt::format(" -x -a '{}'", fmt::join(argument->second, " "));
      }
      out += '\n';
    }
  }
  return out;
}

using Script = std::string (*)(const std::vector<Completion>&);

const std::map<std::string, Script>& scripts() {
  static const std::map<std::string, Script> kScripts = {
      {"bash", bash_script}, {"fish", fish_script}, {"zsh", zsh_script}};
  return kScripts;
}

}  // namespace

void add_completion_verb(Command& app, VerbAction& action) {
  const auto shell = std::make_shared<std::string>();
  Command& verb = app.add_command("completion", "Print a script that completes c3sim in a shell");
  verb.add_option("SHELL", *shell, "Shell to complete in").required().one_key_of(scripts());
  verb.set_footer(
      "The names of presets are those of today: print it again after adding one.\n\n"
      "Examples:\n"
      "  c3sim completion bash > ~/.local/share/bash-completion/completions/c3sim\n"
      "  c3sim completion fish > ~/.config/fish/completions/c3sim.fish");
  verb.when_parsed([&action, &app, shell] {
    action = [&app, shell] {
      std::vector<Completion> commands;
      collect(app, {}, commands);
      fmt::print("{}", scripts().at(*shell)(commands));
      return kExitOk;
    };
  });
}

}}  // namespace c3::app
