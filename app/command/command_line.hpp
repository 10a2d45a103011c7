#pragma once
/// A program of verbs: parses the command line, runs one verb, turns exceptions into exit codes and messages.

#include <functional>
#include <string>

#include "app/command/verb.hpp"

namespace c3 { inline namespace app {

struct Program {
  std::string about;  ///< heads --help
  std::function<void(Command& app, VerbAction& action)> add_verbs;
};

/// What main() returns. Every program is called c3sim in its messages.
int run_command_line(int argc, char** argv, const Program& program);

}}  // namespace c3::app
