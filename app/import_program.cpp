#include "app/import_program.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/usage_error.hpp"
#include "configs/experiment_reader.hpp"
#include "configs/preset_store.hpp"
#include "files/io_error.hpp"
#include "files/temporary_file.hpp"
#include "results/program_file.hpp"
#include "workloads/traces/replay/record_run.hpp"

namespace c3::inline app {
namespace {

namespace fs = std::filesystem;

/// Words of letters and digits, in lower case.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char letter : text) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// The GPU preset of which every word begins one of \p device, as the driver calls it: a100-sxm-80gb of "NVIDIA
/// A100-SXM4-80GB". The longest such name; absent where there is none.
std::optional<std::string> gpu_like(const std::string& device) {
  const std::vector<std::string> words = words_of(device);
  std::optional<std::string> best;
  for (const std::string& name : preset_names(PresetKind::gpu)) {
    const bool fits = std::ranges::all_of(words_of(name), [&](const std::string& part) {
      return std::ranges::any_of(words, [&](const std::string& word) { return word.starts_with(part); });
    });
    if (fits && (!best || name.size() > best->size())) best = name;
  }
  return best;
}

/// The system of the most GPUs that are those of the trace: in its presets most are boards of eight.
std::string system_of(const RecordedRun& run) {
  const std::optional<std::string> gpu = gpu_like(run.gpu);
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
                  run.gpu));
}

int last_rank(const RecordedRun& run) { return run.ranks.size() == 1 ? 0 : run.ranks.back().number; }

std::string experiment_text(const WrittenProgram& written, const RecordedRun& run) {
  std::string text = fmt::format(
      "# Written by c3sim import: {} kernels and copies of {} rank{}, {}.\n"
      "# c3sim run experiment.toml simulates them; --set system=.. or a strategy's keys change what they run "
      "on.\n"
      "schema = 1\n"
      "name   = \"{}\"\n"
      "system = \"{}\"\n",
      run.events(), run.ranks.size(), run.ranks.size() == 1 ? "" : "s",
      run.gpu.empty() ? "GPU unknown" : run.gpu, "replay", written.system);
  if (written.nodes > 1) text += fmt::format("nodes  = {}\n", written.nodes);
  text +=
      "\n[trace]\nuse    = \"program.h5\"  # relative to this file\nreplay = \"recorded\"    # times as they "
      "are, "
      "interference included\n\n[strategy.recorded]\n\n[measure]\nseeds      = 1\nloss_split = false\n";
  return text;
}

void write_text(const fs::path& path, const std::string& text) {
  TemporaryFile file(path);
  file.append(text);
  file.rename_to_target();
}

}  // namespace

WrittenProgram write_program(const std::vector<Rank>& ranks, const ProgramRequest& request) {
  const RecordedRun run = record_run(ranks);
  WrittenProgram written;
  written.system = request.system.empty() ? system_of(run) : request.system;
  const int gpus = load_cluster(written.system).ranks();
  written.nodes = last_rank(run) / gpus + 1;
  std::error_code error;
  fs::create_directories(request.folder, error);
  if (error) throw IoError(request.folder, "create", error.message());
  const fs::path program = fs::path(request.folder) / "program.h5";
  const fs::path experiment = fs::path(request.folder) / "experiment.toml";
  write_program_file(program, run, request.command_line);
  write_text(experiment, experiment_text(written, run));
  written.program = program.string();
  written.experiment = experiment.string();
  written.check = check_replay(run, ExperimentFile::load(experiment).make(std::nullopt));
  return written;
}

}  // namespace c3::app
