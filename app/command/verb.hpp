#pragma once
/// The verbs of the c3sim command: one file a verb. Each function adds a subcommand to \p app; when the command
/// line names it, its callback stores in \p action what main runs after parsing. Both references stay valid
/// until then. An action returns the exit code, or throws and lets main choose it.
///
/// Shells complete the values of an option that is one of some, and preset names where its type name is GPU,
/// SYSTEM, LIBRARY, MODEL, FABRIC or PRESET (any of them), and studies where it is STUDY.

#include <functional>

namespace c3 { inline namespace base {
class Command;
}}

namespace c3 { inline namespace app {

using VerbAction = std::function<int()>;

void add_run_verb(Command& app, VerbAction& action);
void add_sweep_verb(Command& app, VerbAction& action);
void add_merge_verb(Command& app, VerbAction& action);
void add_collective_verb(Command& app, VerbAction& action);
void add_kernel_verb(Command& app, VerbAction& action);
void add_calibrate_verb(Command& app, VerbAction& action);
void add_list_verb(Command& app, VerbAction& action);
void add_config_verb(Command& app, VerbAction& action);
void add_inspect_verb(Command& app, VerbAction& action);
void add_diff_verb(Command& app, VerbAction& action);
void add_report_verb(Command& app, VerbAction& action);
void add_new_verb(Command& app, VerbAction& action);
void add_import_verb(Command& app, VerbAction& action);
void add_project_verb(Command& app, VerbAction& action);
/// \param argv of main, which goes on to another program
void add_reproduce_verb(Command& app, VerbAction& action, char** argv);
void add_sample_verb(Command& app, VerbAction& action);
void add_select_verb(Command& app, VerbAction& action);
void add_explain_verb(Command& app, VerbAction& action);
void add_memory_verb(Command& app, VerbAction& action);
void add_tune_verb(Command& app, VerbAction& action);
void add_bench_verb(Command& app, VerbAction& action);
void add_completion_verb(Command& app, VerbAction& action);
void add_version_verb(Command& app, VerbAction& action);

}}  // namespace c3::app
