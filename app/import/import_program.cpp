#include "app/import/import_program.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/import/operator_list_output.hpp"
#include "base/usage_error.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/jobs/replay_experiment.hpp"
#include "configs/presets/gpu_match.hpp"
#include "configs/presets/preset_store.hpp"
#include "files/io_error.hpp"
#include "files/temporary_file.hpp"
#include "results/program_file.hpp"
#include "workloads/traces/benchmark/benchmark_run.hpp"
#include "workloads/traces/rank_summary.hpp"
#include "workloads/traces/replay/record_run.hpp"

namespace c3 { inline namespace app {
namespace {

namespace fs = std::filesystem;

/// The system of the most GPUs that are those of the trace: in its presets most are boards of eight.
std::string system_of(const Rank& rank) {
  const RankSummary summary = summary_of(rank);
  const std::optional<std::string> gpu = gpu_preset_like(summary.gpu, summary.units, summary.memory_bytes);
  std::optional<std::pair<int, std::string>> found;
  for (const std::string& name : preset_names(PresetKind::node)) {
    const Node preset = read_preset(PresetKind::node, preset_file(PresetKind::node, name));
    const Node* preset_gpu = preset.table()->find("gpu");
    if (!gpu || preset_gpu == nullptr || preset_gpu->text() == nullptr || *preset_gpu->text() != *gpu) continue;
    const std::pair candidate(load_cluster(name).ranks(), name);
    if (!found || candidate.first > found->first) found = candidate;
  }
  if (found) return found->second;
  throw UsageError(
      fmt::format("no system is known with the trace's GPU '{}': name one with --system (c3sim list "
                  "systems)",
                  summary.gpu));
}

int last_rank(const RecordedRun& run) { return run.ranks.size() == 1 ? 0 : run.ranks.back().number; }

/// Makes the folder and fills in what runs \p run.
fs::path prepare(const RecordedRun& run, const ProgramRequest& request, WrittenProgram& written) {
  const ClusterSpec cluster = load_cluster(written.system);
  written.nodes = last_rank(run) / cluster.ranks() + 1;
  const ReplayModel model{all_work_classes(), &cluster.gpu, written.nodes * cluster.ranks()};
  written.shares = shares_of(run, model);
  written.not_modelled = not_modelled(run, model);
  std::error_code error;
  fs::create_directories(request.folder, error);
  if (error) throw IoError(request.folder, "create", error.message());
  written.experiment = (fs::path(request.folder) / "experiment.toml").string();
  return request.folder;
}

}  // namespace

WrittenProgram write_program(const std::vector<Rank>& ranks, const ProgramRequest& request) {
  WrittenProgram written;
  written.run = record_run(ranks);
  written.system = request.system.empty() ? system_of(ranks.front()) : request.system;
  written.program = (prepare(written.run, request, written) / "program.h5").string();
  TemporaryFile text(written.experiment);  // both can be written, or none is
  text.append(replay_experiment(written.run, {.system = written.system, .nodes = written.nodes}));
  write_program_file(written.program, written.run, request.command_line);
  text.rename_to_target();
  written.check = check_replay(written.run, ExperimentFile::load(written.experiment).make(std::nullopt));
  return written;
}

WrittenProgram write_benchmark(const OperatorList& list, const std::vector<Rank>& ranks,
                               const ProgramRequest& request) {
  if (request.system.empty() && ranks.empty())
    throw UsageError(
        "--benchmark requires --system where there are no Kineto traces, which say the GPU (c3sim list "
        "systems)");
  WrittenProgram written;
  written.run = benchmark_run(list);
  if (written.run.events() == 0)
    throw UsageError(
        "--benchmark: the operator list has no operators that do GPU work, so there is nothing to run");
  written.system = request.system.empty() ? system_of(ranks.front()) : request.system;
  written.program = (prepare(written.run, request, written) / "operators.json").string();
  TemporaryFile text(written.experiment);  // both can be written, or none is
  text.append(benchmark_experiment(written.run, {.system = written.system, .nodes = written.nodes}));
  write_operator_list(written.program, list);
  text.rename_to_target();
  return written;
}

}}  // namespace c3::app
