#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/explanation.hpp"
#include "configs/document.hpp"
#include "workloads/training/training_step.hpp"

namespace c3::inline app {
namespace {

/// What a file says of a what-if factor; 1 where it says nothing.
double scale_in(const ExplainRequest& request, const std::string& table, const std::string& key) {
  const Node document = load_document(request.file, request.sets);
  const Node* const its = document.table()->find(table);
  const Node* const scale = its != nullptr && its->table() != nullptr ? its->table()->find(key) : nullptr;
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
    return ExperimentFile::load(file, sets).make(draw);
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
          .low = 1.0 / kLeverStep,
          .high = kLeverStep,
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
          .low = 1.0 / kLeverStep,
          .high = kLeverStep,
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
  for (Seconds* its : {&protocol.base_latency, &protocol.hop_latency, &protocol.network_latency})
    *its = factor * *its;
}

Experiment with_collective_latency(Experiment experiment, double factor) {
  CollectiveLibrarySpec& library = experiment.cluster.library;
  scale_latency(library.simple, factor);
  if (library.ll) scale_latency(*library.ll, factor);
  if (library.ll128) scale_latency(*library.ll128, factor);
  for (Seconds* its : {&library.nvls_latency, &library.nvls_tree_latency, &library.nvls_tree_network_latency})
    *its = factor * *its;
  return experiment;
}

/// A whole number of [training] half as large and twice as large, with as many tokens in a step.
std::optional<Lever> micro_batch_lever(const ExplainRequest& request, const Experiment& experiment) {
  const TrainingSetup& setup = training_of(experiment);
  const std::int64_t size = setup.micro_batch, count = setup.micro_batches;
  const bool halves = size % 2 == 0, doubles = count % 2 == 0;
  if (!halves && !doubles) return std::nullopt;
  // Where the file states the sequences of all ranks, it does not take the number of micro-batches.
  const bool states_global =
      experiment.step &&
      load_document(request.file, request.sets).table()->find("training")->table()->find("global_batch") !=
          nullptr;
  const auto at = [&](std::int64_t micro_batch) {
    std::vector<std::string> sets = {fmt::format("training.micro_batch={}", micro_batch)};
    if (!states_global) sets.push_back(fmt::format("training.micro_batches={}", size * count / micro_batch));
    return with_sets(request, std::move(sets));
  };
  const std::int64_t low = halves ? size / 2 : size, high = doubles ? 2 * size : size;
  return Lever{.name = fmt::format("training.micro_batch, {} to {} (it is {})", low, high, size),
               .kind = LeverKind::choice,
               .low = static_cast<double>(low) / static_cast<double>(size),
               .high = static_cast<double>(high) / static_cast<double>(size),
               .at_low = at(low),
               .at_high = at(high)};
}

/// A number of \p experiment by halves and doubles, changed in place.
template <class Change>
Lever choice_lever(const ExplainRequest& request, std::string name, Change change) {
  const auto at = [&](double factor) -> MovedExperiment {
    return [made = with_sets(request, {}), change, factor](std::optional<std::uint64_t> draw) {
      Experiment experiment = made(draw);
      change(experiment, factor);
      return experiment;
    };
  };
  return {.name = std::move(name),
          .kind = LeverKind::choice,
          .low = 0.5,
          .high = 2.0,
          .at_low = at(0.5),
          .at_high = at(2.0)};
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
  if (communicates_at_all) {
    levers.push_back(latency_lever(request, "latency of collectives", with_collective_latency));
    const int channels = experiment.cluster.library.channels;
    if (channels > 1 && channels % 2 == 0)
      levers.push_back(choice_lever(
          request, fmt::format("library.channels, {} to {} (it is {})", channels / 2, 2 * channels, channels),
          [](Experiment& its, double factor) {
            its.cluster.library.channels = static_cast<int>(std::lround(factor * its.cluster.library.channels));
          }));
  }
  if (experiment.step) {
    if (auto lever = micro_batch_lever(request, experiment)) levers.push_back(std::move(*lever));
  }
  return levers;
}

double LeverResult::gain(Seconds time) const {
  Seconds best = std::min(at_low, at_high);
  if (improved) best = *improved;
  return 1.0 - best / time;
}

}  // namespace c3::app
