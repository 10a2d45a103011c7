#pragma once
/// Measured times of one collective.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/call.hpp"

namespace c3 { inline namespace importers {

/// How the iterations of one size spread, as nccl-tests -I prints it.
struct IterationSpread {
  Seconds least, most, p99;
  double cv_percent = 0.0;  ///< standard deviation of the mean, in percent
};

/// A type of elements that no collective here has.
struct OtherType {
  std::string name;  ///< "double"; empty: none
  Bytes element;
};

struct MeasuredCollective {
  std::uint32_t line = 0;
  Bytes bytes;                                ///< total buffer, as CollectiveCall::bytes
  std::optional<DType> dtype = std::nullopt;  ///< also for an OtherType of as many bytes
  OtherType other_type = {};
  /// The least that was measured of this size and type, in place and out of place, and in repetitions: what
  /// disturbs a measurement (first touch, warm-up of a NIC, other work) makes it longer. Wrong by noise: the
  /// least of two that scatter by 1 % is half a percent below their mean.
  Seconds time;
  /// The least of each place, where the file says them.
  std::optional<Seconds> out_of_place = std::nullopt, in_place = std::nullopt;
  int repetitions = 1;                                   ///< times that this size was measured in this file
  std::optional<IterationSpread> spread = std::nullopt;  ///< spread of the iterations behind `time`

  /// Whether `time` was measured in place.
  bool is_in_place() const { return in_place && *in_place == time && out_of_place != in_place; }
};

/// Rows of one operation on so many GPUs.
struct CollectiveTable {
  std::string name;  ///< the file's, and what tells its tables apart
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::optional<int> ranks = std::nullopt;  ///< number that the file says
  std::optional<int> nodes = std::nullopt;
  std::optional<int> hosts = std::nullopt;  ///< hosts in nccl-tests' list of devices
  std::string redop = {};    ///< "sum", "max"; empty where nothing is reduced, or nothing is said
  std::string library = {};  ///< and its release, as the file says it: "NCCL 2.26.2", "nccl-2.27.3"
  std::vector<MeasuredCollective> rows = {};  ///< sorted by size
};

/// What a table may be of: every collective with a size of its own.
std::vector<std::string> offered_operations();

/// Like collective_named(), for offered operations only.
std::optional<CollectiveKind> operation_named(std::string_view written);

}}  // namespace c3::importers
