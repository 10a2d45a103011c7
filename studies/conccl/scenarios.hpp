#pragma once
/// The study's pairs of a GEMM and a collective: studies/conccl/scenarios.csv.

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/call.hpp"
#include "collectives/spec.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace studies {

/// What bounds the GEMM alone.
enum class Bound : std::uint8_t { compute, memory };
inline constexpr std::array kBounds = {Bound::compute, Bound::memory};
std::string_view name_of(Bound bound);  ///< "cb", "mb"

/// Which side takes longer alone.
enum class LengthClass : std::uint8_t { gemm_long, equal, collective_long };
inline constexpr std::array kLengthClasses = {LengthClass::gemm_long, LengthClass::equal,
                                              LengthClass::collective_long};
std::string_view name_of(LengthClass length);  ///< "G-long", "GC-equal", "C-long"

struct Scenario {
  std::string id;
  Bound bound = Bound::compute;
  LengthClass length = LengthClass::equal;
  std::string model, projection;  ///< that the GEMM is of: labels
  GemmShape gemm = {};
  CollectiveCall collective = {};
  Algorithm algorithm = Algorithm::direct;  ///< of the CU backend
};

struct ScenarioList {
  std::vector<Scenario> scenarios;  ///< in the order of the file
  std::vector<std::string>
      broken;  ///< rows that say nothing sensible, with their place: a list is whole or none
};

/// Columns by name, as in the file of the study; others, such as `gemm_alone_us`, say how it was chosen.
/// \throws ConfigError for a file without a header or without rows, and a column that is missing;
/// IoError for a file that cannot be read
ScenarioList read_scenarios(const std::filesystem::path& file);

/// \p base with the GEMM of \p scenario on its stream of kernels and the collective on the other one.
/// \p base has exactly one stream of each.
Experiment experiment_of(Experiment base, const Scenario& scenario);

}}  // namespace c3::studies
