#pragma once
/// The verbs of the c3sim command: one file a verb. Each function adds a subcommand to \p app; when the command
/// line names it, its callback stores in \p action what main runs after parsing. Both references stay valid
/// until then. An action returns the exit code, or throws and lets main choose it.
///
/// Shells complete the values of an option that is CLI::IsMember of a set, and preset names where its type_name
/// is GPU, SYSTEM, LIBRARY, MODEL or PRESET (any of them), and studies where it is STUDY.

#include <functional>

namespace CLI {
class App;
}

namespace c3 {

using VerbAction = std::function<int()>;

void add_run_verb(CLI::App& app, VerbAction& action);
void add_sweep_verb(CLI::App& app, VerbAction& action);
void add_merge_verb(CLI::App& app, VerbAction& action);
void add_collective_verb(CLI::App& app, VerbAction& action);
void add_kernel_verb(CLI::App& app, VerbAction& action);
void add_calibrate_verb(CLI::App& app, VerbAction& action);
void add_list_verb(CLI::App& app, VerbAction& action);
void add_config_verb(CLI::App& app, VerbAction& action);
void add_inspect_verb(CLI::App& app, VerbAction& action);
void add_diff_verb(CLI::App& app, VerbAction& action);
void add_report_verb(CLI::App& app, VerbAction& action);
void add_reproduce_verb(CLI::App& app, VerbAction& action);
void add_bench_verb(CLI::App& app, VerbAction& action);
void add_completion_verb(CLI::App& app, VerbAction& action);
void add_version_verb(CLI::App& app, VerbAction& action);

}  // namespace c3
