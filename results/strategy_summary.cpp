#include "results/strategy_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/hdf5_column.hpp"
#include "results/picoseconds.hpp"
#include "results/summary_numbers.hpp"

namespace c3 { inline namespace results {
namespace {

/// Only where streams are compared: then a row for each.
void write_streams(const H5Id& strategy, const std::vector<StreamTimes>& streams) {
  if (streams.empty()) return;
  const auto group = h5_create_group(strategy, "streams");
  Column<std::int32_t> stream(group, {"stream", "1", "the stream", kStreams});
  Column<std::int64_t> alone(group,
                             {"alone", "ps", "time of the stream by itself, under this strategy's settings"});
  Column<std::int64_t> together(group,
                                {"together", "ps", "release to completion of the stream in this strategy"});
  for (std::size_t i = 0; i < streams.size(); ++i) {
    stream.push(static_cast<std::int32_t>(i));
    alone.push(picoseconds(streams[i].times.alone));
    together.push(picoseconds(streams[i].times.together));
  }
  stream.flush();
  alone.flush();
  together.flush();
}

}  // namespace

void write_summary(const H5Id& strategy, const StrategyResult& result) {
  write_streams(strategy, result.streams);
  const auto group = h5_create_group(strategy, "summary");
  write_numbers(group, strategy_numbers(result));
  if (result.throughput && !result.step) write_numbers(group, throughput_numbers(*result.throughput));
  if (!result.notes.empty()) h5_set_attribute(group, kNotes, fmt::format("{}", fmt::join(result.notes, "\n")));
  if (result.estimate) h5_set_attribute(group, kEstimateMethod, result.estimate->method);
  h5_set_attribute(group, "recorded_seed", result.recorded_seed);
  if (result.recorded_draw) h5_set_attribute(group, "recorded_draw", *result.recorded_draw);
}

}}  // namespace c3::results
