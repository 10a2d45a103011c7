#pragma once
/// A table of measured collectives on the system that it is of.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/spec.hpp"
#include "importers/collective_times/measured_tables.hpp"
#include "studies/collectives/systems_map.hpp"
#include "studies/simulations.hpp"

namespace c3 { inline namespace studies {

struct PredictedCollective {
  MeasuredCollective measured;
  SimulatedTime simulated = {};
};

class TableRun {
 public:
  static constexpr std::string_view kRowColumns =
      "table,op,ranks,size_bytes,dtype,measured_us,here_us,error_percent,algorithm,protocol,channels,"
      "bottleneck";

  /// \param file of the table, for messages
  /// \throws ConfigError, at the map's entry, for ranks that the system does not have
  TableRun(std::string file, CollectiveTable table, const MapEntry& entry,
           std::shared_ptr<const ClusterSpec> cluster);

  void plan(SimulationJobs& jobs);

  const std::string& name() const { return name_; }
  void rename(std::string name) { name_ = std::move(name); }
  std::string id() const;  ///< the name as part of a figure's id
  int ranks() const { return ranks_; }
  const ClusterSpec& cluster() const { return *cluster_; }
  /// Whether \p other, of another file, is of the same operation on as many ranks of the same system and
  /// fabric, with the same method.
  bool is_same_hardware(const TableRun& other) const;
  bool sets_parameters() const { return !entry_.sets.empty(); }
  std::span<const PredictedCollective> rows() const { return rows_; }
  /// Rows that the system cannot run: why, each with its place.
  std::vector<std::string> refusals() const;
  /// A line for each row that was simulated: what was measured, what is predicted, and how it runs here. The
  /// columns are kRowColumns.
  std::string rows_as_csv() const;
  /// Bus bandwidth as nccl-tests defines it, were \p row done in \p time.
  BytesPerSecond bus_bandwidth(const PredictedCollective& row, Seconds time) const;

 private:
  CollectiveCall call_of(const MeasuredCollective& row) const;

  std::string file_;
  std::string name_;
  CollectiveKind kind_;
  MapEntry entry_;
  std::shared_ptr<const ClusterSpec> cluster_;
  int ranks_ = 0;
  std::vector<int> group_;  ///< empty: every rank of the system
  std::vector<PredictedCollective> rows_;
};

/// The system of \p entry, with the release of NCCL that \p library names. \throws ConfigError
std::shared_ptr<const ClusterSpec> load_system(const MapEntry& entry, std::string_view library = {});

}}  // namespace c3::studies
