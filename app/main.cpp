/// The c3sim command.

#include "app/command/command_line.hpp"
#include "app/command/verb.hpp"

namespace {

using namespace c3;

constexpr const char* kAbout =
    "c3sim: a discrete-event simulator of multi-GPU training in which whatever runs at the same time\n"
    "shares compute units, caches, HBM, DMA engines and links.\n\n"
    "Examples:\n"
    "  c3sim run configs/experiments/c3_llama70b_mi300x.toml\n"
    "  c3sim list experiments";

void add_verbs(Command& app, VerbAction& action, char** argv) {
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
  add_new_verb(app, action);
  add_import_verb(app, action);
  add_project_verb(app, action);
  add_reproduce_verb(app, action, argv);
  add_sample_verb(app, action);
  add_select_verb(app, action);
  add_explain_verb(app, action);
  add_memory_verb(app, action);
  add_tune_verb(app, action);
  add_bench_verb(app, action);
  add_completion_verb(app, action);
  add_version_verb(app, action);
}

}  // namespace

int main(int argc, char** argv) {
  return run_command_line(argc, argv, {.about = kAbout, .add_verbs = [argv](Command& app, VerbAction& action) {
                                         add_verbs(app, action, argv);
                                       }});
}
