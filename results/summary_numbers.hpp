#pragma once
/// Every number that is said of a strategy, with its name and unit: result files have a column of each, and so
/// have tables of many runs.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "results/hdf5_handle.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace results {

struct SummaryNumber {
  std::string name;
  std::string units;      ///< UDUNITS; of times empty: files have them in ps, tables in us
  std::string long_name;  ///< what it is
  std::variant<double, std::int64_t, Seconds> value;

  bool is_time() const { return std::holds_alternative<Seconds>(value); }
  double number() const;  ///< a time is in us
};

/// Times, ratios and the loss split, in the order of the printed table. What is absent in \p result is absent
/// here.
std::vector<SummaryNumber> strategy_numbers(const StrategyResult& result);

/// Items of a step, and how many a second all GPUs and one of them take; named after the item.
std::vector<SummaryNumber> throughput_numbers(const Throughput& throughput);
/// "images_per_second"
std::string per_second_name(StepItem item);

/// The split of the time, flops and memory.
std::vector<SummaryNumber> step_numbers(const StepResult& step);

/// What is known of a training step before it runs: who takes a GPU's memory at its peak.
std::vector<SummaryNumber> memory_numbers(const StepFacts& facts);

/// All of them, and each stream's times as `stream.NAME_alone`, `_together` where streams are compared.
std::vector<SummaryNumber> all_numbers(const StrategyResult& result);

/// Each as a column of one row.
void write_numbers(const H5Id& group, const std::vector<SummaryNumber>& numbers);

}}  // namespace c3::results
