#include "studies/collectives/table_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "collectives/library/tuner.hpp"
#include "collectives/measure.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "importers/collective_times/library_release.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kMicro = 1e6;  // in a second

/// How much longer the chosen method takes here than the fastest one that the library offers, in percent.
/// Absent where the map forces one.
std::vector<double> regret_of(const ClusterSpec& cluster, const CollectiveCall& call, const MapEntry& entry,
                              const MeasuredMethod& how, Seconds time) {
  if (entry.wish.algorithm || entry.wish.protocol) return {};
  const std::vector<CollectiveMethod> offered = offered_methods(call, cluster);
  if (offered.size() < 2) return {};
  const std::optional<FastestMethod> fastest = fastest_of(cluster, call, how, offered);
  return {fastest ? 100.0 * std::max(0.0, time / fastest->time - 1.0) : 0.0};
}

SimulatedTime predict(const ClusterSpec& cluster, const CollectiveCall& call, const MapEntry& entry) {
  const MeasuredMethod how{.backend = choose_backend(call, cluster, entry.wish),
                           .method = choose_method(call, cluster, entry.wish),
                           .grain = CollectiveGrain::automatic,
                           .launch = entry.launch};
  const CollectiveMeasurement measured = measure_collective(cluster, call, how);
  return {.time = measured.time,
          .said = fmt::format("{},{},{},{}", name_of(how.method.algorithm), name_of(how.method.protocol),
                              measured.channels, measured.limit),
          .values = regret_of(cluster, call, entry, how, measured.time)};
}

}  // namespace

std::shared_ptr<const ClusterSpec> load_system(const MapEntry& entry, std::string_view library) {
  std::vector<std::string> sets;
  if (!entry.library.empty()) sets.push_back("node.library=" + entry.library);
  sets.insert(sets.end(), entry.overrides.begin(), entry.overrides.end());
  const SystemChoice choice{.system = entry.system, .nodes = entry.nodes, .fabric = entry.fabric};
  try {
    ClusterSpec cluster = load_cluster(choice, sets);
    const std::optional<LibraryVersion> release = library_release(library, cluster.library.rules);
    const bool is_said = std::ranges::any_of(
        sets, [](const std::string& setting) { return setting.starts_with("library.version="); });
    if (release && !is_said) cluster.library.version = *release;
    return std::make_shared<const ClusterSpec>(std::move(cluster));
  } catch (const ConfigError& error) {
    if (entry.overrides.empty()) throw;
    throw ConfigError(entry.set_at, "set", error.what());
  }
}

TableRun::TableRun(std::string file, CollectiveTable table, const MapEntry& entry,
                   std::shared_ptr<const ClusterSpec> cluster)
    : file_(std::move(file)),
      name_(std::move(table.name)),
      kind_(table.kind),
      entry_(entry),
      cluster_(std::move(cluster)) {
  const int gpus_of_node = cluster_->node.gpus;
  const int nodes = entry.nodes.value_or(1);
  const int gpus = entry.gpus.value_or(table.ranks ? *table.ranks / nodes : gpus_of_node);
  ranks_ = gpus * nodes;
  if (table.ranks && *table.ranks != ranks_)
    throw ConfigError(entry.at, "gpus",
                      fmt::format("{} has times of {} GPUs, which is not {} nodes of {} GPUs", name_,
                                  *table.ranks, nodes, gpus));
  if (gpus > gpus_of_node)
    throw ConfigError(
        entry.at, "system",
        fmt::format("{} has {} GPUs a node, {} needs {}", entry.system, gpus_of_node, name_, gpus));
  if (gpus < gpus_of_node) group_ = cluster_->first_of_each_node(gpus);
  for (const MeasuredCollective& row : table.rows)
    rows_.push_back({.measured = row});
}

std::string TableRun::id() const {
  std::string id = name_;
  std::ranges::replace(id, ' ', '.');
  return id;
}

bool TableRun::is_same_hardware(const TableRun& other) const {
  const auto fabric = [](const TableRun& table) {
    return table.cluster_->fabric ? table.cluster_->fabric->name : std::string();
  };
  const auto method = [](const TableRun& table) { return std::tie(table.entry_.wish, table.entry_.overrides); };
  return file_ != other.file_ && kind_ == other.kind_ && ranks_ == other.ranks_ &&
         cluster_->name == other.cluster_->name && cluster_->nodes == other.cluster_->nodes &&
         fabric(*this) == fabric(other) && method(*this) == method(other);
}

CollectiveCall TableRun::call_of(const MeasuredCollective& row) const {
  return {.kind = kind_,
          .bytes = row.bytes,
          .dtype = row.dtype,
          .ranks = group_,
          .in_place = kind_ == CollectiveKind::all_gather && row.is_in_place()};
}

void TableRun::plan(SimulationJobs& jobs) {
  for (PredictedCollective& row : rows_) {
    jobs.push_back({.run = [this, &row] { return predict(*cluster_, call_of(row.measured), entry_); },
                    .take = [&row](const SimulatedTime& simulated) { row.simulated = simulated; }});
  }
}

std::vector<std::string> TableRun::refusals() const {
  std::vector<std::string> list;
  for (const PredictedCollective& row : rows_) {
    if (!row.simulated.time)
      list.push_back(fmt::format("{}:{}:1: {}", file_, row.measured.line, row.simulated.said));
  }
  return list;
}

std::string TableRun::rows_as_csv() const {
  std::string text;
  for (const PredictedCollective& row : rows_) {
    if (!row.simulated.time) continue;
    const Seconds here = *row.simulated.time;
    text += fmt::format("\"{}\",{},{},{:.0f},{},{:.3f},{:.3f},{:.2f},{}\n", name_, name_of(kind_), ranks_,
                        row.measured.bytes.value, row.measured.dtype ? name_of(*row.measured.dtype) : "",
                        row.measured.time.value * kMicro, here.value * kMicro,
                        100.0 * (here / row.measured.time - 1.0), row.simulated.said);
  }
  return text;
}

BytesPerSecond TableRun::bus_bandwidth(const PredictedCollective& row, Seconds time) const {
  return c3::bus_bandwidth(call_of(row.measured), ranks_, time);
}

}}  // namespace c3::studies
