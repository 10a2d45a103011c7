#include "app/bench/command_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "base/statistics.hpp"
#include "configs/presets/preset_store.hpp"
#include "files/child_program.hpp"
#include "files/scratch_folder.hpp"
#include "files/temporary_file.hpp"

namespace c3::bench {
namespace {

constexpr const char* kStep = R"(schema = 1
system = "h100-sxm-8"
nodes = 8
[model]
use = "llama-3-70b"
dtype = "bf16"
[training]
framework = "megatron-core"
sequence = 8192
micro_batch = 1
global_batch = 128
tensor_parallel = 8
sequence_parallel = true
pipeline = 4
virtual_stages = 5
sharding = "zero1"
[measure]
seeds = 1
loss_split = false
[strategy.default]
)";

/// \param experiment a path, or STEP
CommandCase run_case(std::string name, std::string what, const std::string& experiment,
                     const std::vector<std::string>& sets = {}) {
  CommandCase work{std::move(name), std::move(what), {"-q", "run", experiment, "-o", "OUT", "--force"}};
  for (const std::string& set : sets) {
    work.words.emplace_back("--set");
    work.words.push_back(set);
  }
  return work;
}

/// The file of a shipped step.
std::string shipped(const std::string& name) {
  const std::vector<std::filesystem::path> files = experiment_files();
  const auto found = std::ranges::find_if(files, [&](const auto& file) { return file.filename() == name; });
  return found == files.end() ? name : found->string();
}

CommandCost run(const std::string& program, const std::vector<std::string>& words) {
  const ChildEnd end = run_child(program, words);
  if (end.exit_code != 0 || end.signal != 0)
    throw std::runtime_error(fmt::format("{} {}: exit code {}, signal {}: {}", program, fmt::join(words, " "),
                                         end.exit_code, end.signal, end.error));
  return {end.user_seconds, end.peak_rss_bytes};
}

CommandCost medians(const std::vector<CommandCost>& costs) {
  std::vector<double> times;
  std::uint64_t peak = 0;
  for (const CommandCost& cost : costs) {
    times.push_back(cost.user_seconds);
    peak = std::max(peak, cost.peak_rss_bytes);
  }
  return {median(times), peak};
}

}  // namespace

std::vector<CommandCase> all_command_cases() {
  const std::vector<std::string> quick = {"measure.alone=false", "measure.kernel_grain=\"fluid\""};
  std::vector<std::string> long_batch = quick;
  long_batch.emplace_back("training.global_batch=2048");
  return {
      {"memory-70b", "what the step holds, without a simulation", {"-q", "memory", "STEP"}},
      run_case("run-70b", "the step", "STEP"),
      run_case("run-70b-fluid", "the step with kernels as flows, without runs alone", "STEP", quick),
      run_case("run-70b-1024", "the same with 1,024 micro-batches", "STEP", long_batch),
      run_case("run-70b-seeds", "the step with kernels as flows and eight seeds", "STEP",
               {"measure.alone=false", "measure.kernel_grain=\"fluid\"", "measure.seeds=8"}),
      run_case("run-405b", "Llama 3 405B on 16,384 H100", shipped("llama3_405b_16384.toml")),
      run_case("run-deepseek-v3", "DeepSeek-V3 on 2,048 H100", shipped("deepseek_v3_2048.toml")),
      {"explain-70b", "what would change the step's time", {"-q", "explain", "STEP"}},
  };
}

CommandMeasurement measure(const CommandCase& work, int repeats, const std::string& against) {
  const ScratchFolder folder;
  const std::filesystem::path step = folder.path() / "step.toml";
  TemporaryFile file(step);
  file.append(kStep);
  file.rename_to_target();
  std::vector<std::string> words = work.words;
  std::ranges::replace(words, std::string("STEP"), step.string());
  std::ranges::replace(words, std::string("OUT"), (folder.path() / "out.h5").string());
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<CommandCost> here, there;
  std::vector<double> ratios;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    here.push_back(run(self, words));
    if (against.empty()) continue;
    there.push_back(run(against, words));
    ratios.push_back(there.back().user_seconds / here.back().user_seconds);
  }
  CommandMeasurement measured{.here = medians(here), .against = {}};
  if (!there.empty()) {
    measured.against = medians(there);
    measured.ratio = median(ratios);
  }
  return measured;
}

}  // namespace c3::bench
