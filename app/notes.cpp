#include "app/notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <ranges>

#include "configs/jobs/doubts.hpp"
#include "configs/jobs/run_use.hpp"
#include "configs/jobs/unused_keys.hpp"
#include "configs/presets/library_environment.hpp"
#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "results/shown_text.hpp"

namespace c3 { inline namespace app {
namespace {

void add(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  for (const std::string& note : more) {
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  }
}

void add_preset_doubts(std::vector<std::string>& notes, const GpuSpec& gpu) {
  const Node preset = load_preset(PresetKind::gpu, gpu.name, {}, "gpu");
  add(notes, doubts_about_preset(*preset.table()));
}

}  // namespace

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes)
    fmt::print(stderr, "note: {}\n", shown_lines(note));
}

std::vector<std::string> notes_on(const KernelOptions& options, const std::vector<KernelCase>& cases) {
  std::map<std::string, std::pair<std::shared_ptr<const GpuSpec>, RunUse>> by_gpu;
  for (const KernelCase& asked : cases) {
    auto& [gpu, use] = by_gpu[asked.gpu->name];
    const bool is_first = gpu == nullptr;
    gpu = asked.gpu;
    use.add(asked.op, *gpu);
    use.alone = true;
    const bool measured = asked.slice.launch == LaunchCost::measured &&
                          describe(name_of(asked.op), asked.op, *gpu).measured_launch.value > 0.0;
    use.measured_launch = measured && (is_first || use.measured_launch);
  }
  std::vector<std::string> notes;
  for (const auto& [name, gpu_and_use] : by_gpu) {
    ClusterSpec alone;
    alone.gpu = *gpu_and_use.first;
    add(notes, unused_keys(overridden_keys(options.sets), alone, gpu_and_use.second));
    add_preset_doubts(notes, *gpu_and_use.first);
    add(notes, doubts_about(*gpu_and_use.first));
  }
  return notes;
}

std::vector<std::string> notes_on(const CollectiveOptions& options, const CollectiveRequest& request) {
  RunUse use;
  use.add(request.call);
  use.arbitrations.insert(request.cluster.gpu.hbm.arbitration);
  for (const Mover& mover : request.movers) {
    use.channels = use.channels || mover.backend == Backend::cu;
    use.engines = use.engines || mover.backend == Backend::dma;
  }
  use.host_calls =
      std::ranges::any_of(request.launches, [](LaunchPath launch) { return launch != LaunchPath::graph; });
  std::vector<std::string> notes = unused_keys(overridden_keys(options.sets), request.cluster, use);
  add_preset_doubts(notes, request.cluster.gpu);
  add(notes, doubts_about(request.cluster));
  std::vector<std::string> variables;
  std::ranges::copy(request.logged.environment | std::views::keys, std::back_inserter(variables));
  add(notes, notes_on_variables(variables));
  if (request.file) add(notes, request.file->notes);
  return notes;
}

}}  // namespace c3::app
