/// c3sim new: an experiment from the files that somebody has.

#include <deque>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "app/new/new_experiment.hpp"
#include "base/options.hpp"
#include "base/percent.hpp"
#include "engine/interrupt.hpp"
#include "files/temporary_file.hpp"
#include "importers/user_files/experiment_draft.hpp"
#include "results/shell_word.hpp"

namespace c3 { inline namespace app {
namespace {

namespace fs = std::filesystem;

/// The experiment, and presets beside it: all of them, or none.
class NewFiles {
 public:
  void add(const fs::path& path, const std::string& text) {
    if (path.has_parent_path()) fs::create_directories(path.parent_path());
    files_.emplace_back(path).append(marked_text(text));
  }
  void keep() {
    for (TemporaryFile& file : files_)
      file.rename_to_target();
  }

 private:
  std::deque<TemporaryFile> files_;
};

void say_what_was_read(const NewExperiment& made) {
  for (const FileReading& reading : made.readings) {
    fmt::print(stderr, "{}: {}; {} keys taken, {} assumed, {} ignored\n", reading.file,
               reading.facts.empty() ? reading.what : fmt::format("{}", fmt::join(reading.facts, "; ")),
               reading.taken.size(), reading.assumed.size(), reading.ignored.size());
    for (const UnmodelledPart& part : reading.unmodelled)
      fmt::print(stderr, "not modelled: {}: {:.1f} % of the parameters, {:.1f} % of the flops\n", part.what,
                 kPercent * part.parameters, kPercent * part.flops);
  }
}

void say_what_comes_next(const NewRequest& request, const NewExperiment& made, bool has_presets) {
  const std::string file = shell_word(request.output);
  const fs::path folder = fs::path(request.output).parent_path();
  const std::string presets =
      has_presets ? fmt::format("C3SIM_CONFIGS={} ", shell_word(folder.empty() ? "." : folder.string())) : "";
  if (made.fits) {
    fmt::print(stderr, "wrote {}; simulate it with: {}c3sim run {}\n", request.output, presets, file);
    return;
  }
  const std::string more = made.fits_on ? fmt::format("--nodes {} would do", *made.fits_on) : "or more GPUs";
  fmt::print(stderr,
             "wrote {}, which does not fit in the memory of its GPUs; {}; what needs less: {}c3sim memory {}\n",
             request.output, more, presets, file);
}

int write_new(const NewRequest& request) {
  install_interrupt_handler();
  const NewExperiment made = new_experiment(request);
  bool has_presets = false;
  if (!request.output.empty()) {
    NewFiles files;
    files.add(request.output, made.toml);
    for (const FileReading& reading : made.readings) {
      for (const PresetFile& preset : reading.presets) {
        files.add(fs::path(request.output).parent_path() / preset.path, preset.text);
        has_presets = true;
      }
    }
    files.keep();
  }
  if (request.explains_files)
    fmt::print("{}", lists_json(made.readings));
  else if (request.output.empty())
    fmt::print("{}", made.toml);
  say_what_was_read(made);
  if (!request.output.empty()) say_what_comes_next(request, made, has_presets);
  return made.fits ? kExitOk : kExitInfeasible;
}

}  // namespace

void add_new_verb(Command& app, VerbAction& action) {
  const auto request = std::make_shared<NewRequest>();
  Command& verb = app.add_command("new", "Write an experiment from files that you have");
  verb.add_option("--model", request->model, "What is trained: a config.json of Hugging Face")
      .type_name("FILE");
  verb.add_option(
          "--recipe", request->recipes,
          "How it is trained: arguments of Megatron-LM, a configuration of torchtitan, DeepSpeed, Accelerate, "
          "NeMo or Megatron-Bridge; repeatable")
      .repeated()
      .type_name("FILE");
  verb.add_option("--machine", request->machines,
                  "On what: a topology of NCCL, RCCL, nvidia-smi, rocm-smi or hwloc; a network of Slurm or "
                  "ibnetdiscover; repeatable")
      .repeated()
      .type_name("FILE");
  verb.add_option("--system", request->system, "Machine (c3sim list systems)").type_name("SYSTEM");
  verb.add_option("--nodes", request->nodes, "How many of them (default: 1)")
      .in_range(1, 1'048'576)
      .type_name("N");
  verb.add_option("--fabric", request->fabric, "What joins them (default: the system's)").type_name("FABRIC");
  verb.add_option("--sequence", request->sequence, "Tokens of a sequence (default: 4096)")
      .in_range(1, 16'777'216)
      .type_name("N");
  verb.add_option("--leave-out", request->leave_out,
                  "Share of parameters or flops that need not be modelled (default: 0.02)")
      .in_range(0.0, 1.0)
      .type_name("SHARE");
  verb.add_option("-o,--output", request->output, "Experiment to write (default: standard output)")
      .type_name("FILE");
  verb.add_flag("--explain-file", request->explains_files, "Print as JSON what was taken, assumed and ignored");
  verb.set_footer(
      "Files are known by what is in them. Each line that is written says which key of which file it comes\n"
      "from, or why it is assumed; what a file says besides stands at the end. Exit code 4 where the step "
      "does\n"
      "not fit in the memory of its GPUs; it is written all the same. docs/your_files.md explains it.\n\n"
      "Examples:\n"
      "  c3sim new --model config.json --system h100-sxm-8 -o step.toml\n"
      "  c3sim new --recipe pretrain.sh --machine topo.xml -o step.toml\n"
      "  c3sim new --model config.json --system mi300x-8 --nodes 4 --sequence 8192 --explain-file");
  verb.when_parsed([&action, request] { action = [request] { return write_new(*request); }; });
}

}}  // namespace c3::app
