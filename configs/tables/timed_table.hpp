#pragma once
/// Tables of times: CSV files, plain or packed by gzip, with a column of times beside one of kernel names or of
/// sequence lengths. They are read in pieces, so that only what is kept of them takes memory.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "workloads/sampling/invocations.hpp"
#include "workloads/sampling/seq_points.hpp"

namespace c3 { inline namespace configs {

/// The columns to read. Names are compared without case, `_` as a space.
struct TimedColumns {
  std::string key = {};  ///< column of names or lengths; empty: the first that is called so
  std::string time =
      {};  ///< empty: the first that is called a time or a duration: `Duration (ns)`, `time_us`, `ms`
  std::string unit = {};  ///< unit of times whose column names none: ns, us, ms or s; empty: us
};

struct InvocationTable {
  Invocations invocations;
  bool unit_assumed = false;  ///< neither the column nor the caller names one
};

struct IterationTable {
  std::vector<Iteration> iterations;
  std::size_t warm_ups = 0;  ///< rows left out: 0 in a column `iteration`, the first of an epoch
  bool unit_assumed = false;
};

/// \throws ConfigError for a column that is missing and a row that is broken, with its place; IoError
InvocationTable read_invocations(const std::filesystem::path& file, const TimedColumns& columns);
IterationTable read_iterations(const std::filesystem::path& file, const TimedColumns& columns);

}}  // namespace c3::configs
