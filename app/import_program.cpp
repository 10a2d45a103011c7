#include "app/import_program.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/usage_error.hpp"
#include "configs/experiment_reader.hpp"
#include "configs/gpu_match.hpp"
#include "configs/preset_store.hpp"
#include "configs/replay_experiment.hpp"
#include "files/io_error.hpp"
#include "files/temporary_file.hpp"
#include "results/program_file.hpp"
#include "workloads/traces/rank_summary.hpp"
#include "workloads/traces/replay/record_run.hpp"
#include "workloads/traces/replay/replay_model.hpp"

namespace c3::inline app {
namespace {

namespace fs = std::filesystem;

/// The system of the most GPUs that are those of the trace: in its presets most are boards of eight.
std::string system_of(const Rank& rank) {
  const RankSummary of = summary_of(rank);
  const std::optional<std::string> gpu = gpu_preset_like(of.gpu, of.units, of.memory_bytes);
  std::optional<std::pair<int, std::string>> found;
  for (const std::string& name : preset_names(PresetKind::node)) {
    const Node preset = read_preset(PresetKind::node, preset_file(PresetKind::node, name));
    const Node* its = preset.table()->find("gpu");
    if (!gpu || its == nullptr || its->text() == nullptr || *its->text() != *gpu) continue;
    const std::pair candidate(load_cluster(name).ranks(), name);
    if (!found || candidate.first > found->first) found = candidate;
  }
  if (found) return found->second;
  throw UsageError(
      fmt::format("no system is known with the trace's GPU '{}': name one with --system (c3sim list "
                  "systems)",
                  of.gpu));
}

int last_rank(const RecordedRun& run) { return run.ranks.size() == 1 ? 0 : run.ranks.back().number; }

}  // namespace

WrittenProgram write_program(const std::vector<Rank>& ranks, const ProgramRequest& request) {
  const RecordedRun run = record_run(ranks);
  WrittenProgram written;
  written.system = request.system.empty() ? system_of(ranks.front()) : request.system;
  const ClusterSpec cluster = load_cluster(written.system);
  written.nodes = last_rank(run) / cluster.ranks() + 1;
  written.shares = shares_of(run, {all_work_classes(), &cluster.gpu});
  std::error_code error;
  fs::create_directories(request.folder, error);
  if (error) throw IoError(request.folder, "create", error.message());
  const fs::path program = fs::path(request.folder) / "program.h5";
  const fs::path experiment = fs::path(request.folder) / "experiment.toml";
  TemporaryFile text(experiment);  // both can be written, or none is
  text.append(replay_experiment(run, {.system = written.system, .nodes = written.nodes}));
  write_program_file(program, run, request.command_line);
  text.rename_to_target();
  written.program = program.string();
  written.experiment = experiment.string();
  written.check = check_replay(run, ExperimentFile::load(experiment).make(std::nullopt));
  return written;
}

}  // namespace c3::app
