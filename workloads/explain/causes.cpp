#include "workloads/explain/causes.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "gpu/clock/governor.hpp"
#include "workloads/analysis/loss_split.hpp"
#include "workloads/explain/changed_family.hpp"
#include "workloads/program/communication_kind.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr Bytes kLeastMessage{1.0};
constexpr Bytes kLeastOfEachRank{16.0};

bool has_stragglers(const Experiment& experiment) {
  const ClusterSpec& cluster = experiment.cluster;
  if (cluster.ranks() > 1 &&
      (cluster.gpu.compute.speed_spread > 0.0 || cluster.gpu.host.launch_skew > Seconds{}))
    return true;
  return !cluster.stragglers.empty();
}

bool is_among(std::span<const std::size_t> streams, std::size_t stream) {
  return std::ranges::find(streams, stream) != streams.end();
}

/// Calls \p change with each collective, exchange or copy on \p streams.
template <class Change>
void for_each_communication(Program& program, std::span<const std::size_t> streams, Change change) {
  for (Script& script : program.scripts) {
    for (const std::size_t stream : streams) {
      for (Operation& operation : script.streams[stream])
        if (communicates(operation)) change(operation);
    }
  }
}

void make_messages_small(Operation& operation) {
  if (auto* const copy = std::get_if<HostCopy>(&operation.work))
    copy->bytes = std::min(copy->bytes, kLeastMessage);
  auto* const exchange = std::get_if<Exchange>(&operation.work);
  if (exchange == nullptr) return;
  for (Message& message : exchange->messages)
    message.bytes = std::min(message.bytes, kLeastMessage);
}

void free_communication(Program& program, std::span<const std::size_t> streams) {
  for (Call& call : program.calls)
    if (is_among(streams, call.stream)) call.is_timed = true;
  for_each_communication(program, streams, [](Operation& operation) {
    make_messages_small(operation);
    if (std::holds_alternative<JoinCall>(operation.work)) operation.recorded = RecordedLags{};
  });
}

void scale_host_time(Program& program, double factor) {
  for (Script& script : program.scripts) {
    for (std::vector<Operation>& stream : script.streams) {
      for (Operation& operation : stream) {
        if (auto* const wait = std::get_if<WaitEvent>(&operation.work)) wait->lag = factor * wait->lag;
        if (!operation.recorded) continue;
        operation.recorded->after_launch = factor * operation.recorded->after_launch;
        operation.recorded->after_stream = factor * operation.recorded->after_stream;
      }
    }
    if (!script.host) continue;
    script.host->stalls.lasts = factor * script.host->stalls.lasts;
    if (factor == 0.0) script.host->stalls = {};
    for (HostThread& thread : script.host->threads) {
      for (HostStep& step : thread.steps) {
        step.cost = factor * step.cost;
        step.lag = factor * step.lag;
      }
    }
  }
}

void free_hosts(Experiment& experiment) {
  change_program(experiment, [](Program& program) { scale_host_time(program, 0.0); });
  experiment.cluster.gpu.dispatch.launch_latency = {};
  experiment.cluster.gpu.dispatch.dependent_gap = {};
  experiment.cluster.gpu.host.join = {};
  experiment.cluster.library.eager_gap = {};
  experiment.cluster.library.host_launch = {};
  experiment.cluster.library.group_operation = {};
}

void free_of_stragglers(Experiment& experiment) {
  experiment.cluster.stragglers.clear();
  experiment.cluster.gpu.compute.speed_spread = 0.0;
  experiment.cluster.gpu.host.launch_skew = {};
}

std::string name_of_resource(SharedResource resource) {
  switch (resource) {
    case SharedResource::dispatch:
      return "dispatch";
    case SharedResource::cus:
      return "CUs";
    case SharedResource::cache:
      return "caches";
    case SharedResource::hbm:
      return "HBM";
    case SharedResource::links:
      return "links";
  }
  throw std::logic_error("name_of_resource: unknown resource");
}

}  // namespace

std::string Cause::name() const {
  const std::string kind_name(name_of(kind));
  return what.empty() ? kind_name : kind_name + ": " + what;
}

std::vector<Cause> causes_of(const Experiment& experiment, const Strategy& strategy) {
  const Program& program = experiment.program;
  std::vector<Cause> causes;
  for (std::size_t stream = 0; stream < program.streams.size(); ++stream) {
    if (!content_of(program, stream).collectives) continue;
    const std::string& name = program.streams[stream];
    const std::string what = experiment.step ? communication_kind(name) : name;
    auto known = std::ranges::find(causes, what, &Cause::what);
    if (known == causes.end()) known = causes.insert(known, {.kind = CauseKind::communication, .what = what});
    known->streams.push_back(stream);
  }
  if (is_governed(experiment.cluster.gpu)) causes.push_back({.kind = CauseKind::power});
  causes.push_back({.kind = CauseKind::hosts});
  if (has_stragglers(experiment)) causes.push_back({.kind = CauseKind::stragglers});
  if (!strategy.serial) {
    for (const SharedResource resource : shared_resources(experiment, strategy))
      causes.push_back(
          {.kind = CauseKind::interference, .what = name_of_resource(resource), .resource = resource});
  }
  return causes;
}

Counterfactual without(const Experiment& experiment, const Strategy& strategy, std::span<const Cause> causes) {
  Counterfactual run{.experiment = experiment, .strategy = strategy};
  for (const Cause& cause : causes) {
    switch (cause.kind) {
      case CauseKind::communication:
        change_program(run.experiment,
                       [streams = cause.streams](Program& program) { free_communication(program, streams); });
        // A fused collective is its kernel's: what takes no time is none of its stores.
        for (const std::size_t stream : cause.streams) {
          const auto policy = run.strategy.streams.find(experiment.program.streams[stream]);
          if (policy != run.strategy.streams.end() && policy->second.backend == Backend::fused)
            policy->second.backend = Backend::cu;
        }
        break;
      case CauseKind::interference:
        run.isolation = run.isolation.with(cause.resource);
        break;
      case CauseKind::power:
        run.experiment.cluster.gpu.governor.board = {};
        break;
      case CauseKind::hosts:
        free_hosts(run.experiment);
        break;
      case CauseKind::stragglers:
        free_of_stragglers(run.experiment);
        break;
    }
  }
  return run;
}

Experiment with_least_bytes(const Experiment& experiment, std::span<const std::size_t> streams) {
  Experiment least = experiment;
  const int ranks = experiment.cluster.ranks();
  change_program(least, [streams = std::vector(streams.begin(), streams.end()), ranks](Program& program) {
    for (Call& call : program.calls) {
      if (!is_among(streams, call.stream) || call.is_timed) continue;
      const Bytes few = kLeastOfEachRank * static_cast<double>(member_count(call.what, ranks));
      if (call.what.bytes > few) call.what.bytes = few;
    }
    for_each_communication(program, streams, make_messages_small);
  });
  return least;
}

Experiment with_host_time(const Experiment& experiment, double factor) {
  Experiment changed = experiment;
  change_program(changed, [factor](Program& program) { scale_host_time(program, factor); });
  return changed;
}

}}  // namespace c3::workloads
