#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/explain/explanation.hpp"
#include "configs/presets/document.hpp"

namespace c3 { inline namespace app {
namespace {

/// What a file says of a what-if factor; 1 where it says nothing.
double scale_in(const ExplainRequest& request, const std::string& table, const std::string& key) {
  const Node document = load_document(request.file, request.sets);
  const Node* const section = document.table()->find(table);
  const Node* const scale =
      section != nullptr && section->table() != nullptr ? section->table()->find(key) : nullptr;
  if (scale == nullptr) return 1.0;
  if (const auto* number = std::get_if<double>(&scale->value)) return *number;
  if (const auto* whole = std::get_if<std::int64_t>(&scale->value)) return static_cast<double>(*whole);
  return 1.0;
}

/// The file with further keys set.
MovedExperiment with_sets(const ExplainRequest& request, std::vector<std::string> more) {
  std::vector<std::string> sets = request.sets;
  sets.insert(sets.end(), more.begin(), more.end());
  return [file = request.file, sets = std::move(sets)](std::optional<std::uint64_t> draw) {
    return made(ExperimentFile::load(file, sets), draw);
  };
}

Lever scale_lever(const ExplainRequest& request, std::string name, const std::string& table,
                  const std::string& key) {
  const double base = scale_in(request, table, key);
  const auto at = [&](double factor) {
    return with_sets(request, {fmt::format("{}.{}={}", table, key, base * factor)});
  };
  return {.name = std::move(name),
          .kind = LeverKind::rate,
          .at_low = at(1.0 / kLeverStep),
          .at_high = at(kLeverStep),
          .improved = at(kImprovement)};
}

/// \param change multiplies something of an experiment by a factor
Lever latency_lever(const ExplainRequest& request, std::string name,
                    const std::function<Experiment(const Experiment&, double)>& change) {
  const auto at = [&](double factor) -> MovedExperiment {
    return [made = with_sets(request, {}), change, factor](std::optional<std::uint64_t> draw) {
      return change(made(draw), factor);
    };
  };
  return {.name = std::move(name),
          .kind = LeverKind::latency,
          .at_low = at(1.0 / kLeverStep),
          .at_high = at(kLeverStep),
          .improved = at(1.0 / kImprovement)};
}

Experiment with_launch_time(Experiment experiment, double factor) {
  DispatchSpec& dispatch = experiment.cluster.gpu.dispatch;
  dispatch.launch_latency = factor * dispatch.launch_latency;
  dispatch.dependent_gap = factor * dispatch.dependent_gap;
  return experiment;
}

void scale_latency(ProtocolSpec& protocol, double factor) {
  for (Seconds* latency : {&protocol.base_latency, &protocol.hop_latency, &protocol.network_latency})
    *latency = factor * *latency;
}

Experiment with_collective_latency(Experiment experiment, double factor) {
  CollectiveLibrarySpec& library = experiment.cluster.library;
  scale_latency(library.simple, factor);
  if (library.ll) scale_latency(*library.ll, factor);
  if (library.ll128) scale_latency(*library.ll128, factor);
  for (Seconds* latency :
       {&library.nvls_latency, &library.nvls_tree_latency, &library.nvls_tree_network_latency})
    *latency = factor * *latency;
  return experiment;
}

bool has_collectives(const Program& program) {
  for (std::size_t stream = 0; stream < program.streams.size(); ++stream)
    if (content_of(program, stream).collectives) return true;
  return false;
}

bool has_hosts(const Program& program) {
  return std::ranges::any_of(program.scripts, [](const Script& script) { return script.host.has_value(); });
}

}  // namespace

std::vector<Lever> levers_of(const ExplainRequest& request, const Experiment& experiment) {
  std::vector<Lever> levers = {scale_lever(request, "arithmetic of GPUs", "gpu", "flops_scale"),
                               scale_lever(request, "HBM bandwidth", "gpu", "hbm_scale")};
  const bool communicates_at_all = has_collectives(experiment.program);
  if (communicates_at_all) levers.push_back(scale_lever(request, "links of the node", "node", "link_scale"));
  if (communicates_at_all && experiment.cluster.nodes > 1)
    levers.push_back(scale_lever(request, "NICs and fabric", "fabric", "scale"));
  levers.push_back(latency_lever(request, "launch on the GPU", with_launch_time));
  if (has_hosts(experiment.program)) levers.push_back(latency_lever(request, "time of hosts", with_host_time));
  if (communicates_at_all)
    levers.push_back(latency_lever(request, "latency of collectives", with_collective_latency));
  return levers;
}

}}  // namespace c3::app
