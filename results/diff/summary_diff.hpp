#pragma once
/// The numbers of a strategy in two result files.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/units.hpp"
#include "results/result_reader.hpp"

namespace c3 { inline namespace results {

/// A strategy in a file.
struct StrategyIn {
  const ResultReader& file;
  std::string name;
};

/// A number that differs, or that only one file has.
struct NumberChange {
  std::string
      name;  ///< "time", "loss_hbm", "step.mfu", "step_classes.gemm.time", "memory.weights of mlp.up.bytes"
  std::string unit;  ///< unit of the column: "ps", "B", "1", ...
  std::optional<double> a, b;

  std::optional<double> change() const;    ///< b - a, absent unless both files have it
  std::optional<double> relative() const;  ///< b / a - 1, absent where a is 0, too
  bool operator==(const NumberChange&) const = default;
};

struct SummaryDiff {
  std::vector<NumberChange> changes =
      {};                            ///< times first, by how much they change; then the others, by what share
  std::size_t equal = 0;             ///< numbers that both have alike
  Seconds time_a = {}, time_b = {};  ///< the strategy's times

  Seconds time_change() const { return time_b - time_a; }
};

/// Every number of the tables summary, streams, step, step_classes and memory. \param tolerance relative.
/// \throws IoError when a file is damaged.
SummaryDiff diff_summaries(const StrategyIn& a, const StrategyIn& b, double tolerance);

/// Whether \p a and \p b differ by no more than \p tolerance times the larger.
bool within(double tolerance, double a, double b);

}}  // namespace c3::results
