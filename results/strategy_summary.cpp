#include "results/strategy_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/hdf5_column.hpp"
#include "results/picoseconds.hpp"

namespace c3 {
namespace {

void write_time(const H5Id& group, const std::string& name, const std::string& long_name, Seconds time) {
  write_one(group, {name, "ps", long_name}, picoseconds(time));
}

void write_ratio(const H5Id& group, const std::string& name, const std::string& long_name, double ratio) {
  write_one(group, {name, "1", long_name}, ratio);
}

void write_side(const H5Id& group, const std::string& side, const SideTimes& times) {
  write_time(group, side + "_alone", "time of the " + side + " isolated on the whole GPU", times.alone);
  write_time(group, side + "_together", "release to completion of the " + side + " in this strategy",
             times.together);
}

void write_loss(const H5Id& group, const LossSplit& loss) {
  write_time(group, "loss_dispatch", "loss to waiting behind another kernel's work groups", loss.dispatch);
  write_time(group, "loss_cus", "loss to CUs given to the other side, and to its clock", loss.cus);
  write_time(group, "loss_cache", "loss to L2 and LLC pollution", loss.cache);
  write_time(group, "loss_hbm", "loss to shared HBM bandwidth", loss.hbm);
  write_time(group, "loss_links", "loss to shared interconnect", loss.links);
  write_time(group, "loss_interaction", "loss that no private copy of one resource removes", loss.interaction);
}

/// Only where streams are compared: then a row for each.
void write_streams(const H5Id& strategy, const std::vector<StreamTimes>& streams) {
  if (streams.empty()) return;
  const auto group = h5_create_group(strategy, "streams");
  Column<std::int32_t> stream(group, {"stream", "1", "the stream", kStreams});
  Column<std::int64_t> alone(group, {"alone", "ps", "time of the stream with nothing beside it"});
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
  write_time(group, "time", "median time over seeds; the timeline is of this run", result.time);
  write_time(group, "time_p5", "5th percentile of time over seeds", result.time_p5);
  write_time(group, "time_p95", "95th percentile of time over seeds", result.time_p95);
  write_time(group, "lower_bound", "what physics leaves at least", result.lower_bound);
  write_ratio(group, "speedup", "serial time over time", result.speedup);
  write_ratio(group, "ideal_speedup", "sum over maximum of the two sides alone", result.ideal_speedup);
  if (result.share_of_ideal) {
    write_ratio(group, "share_of_ideal", "(speedup - 1) / (ideal_speedup - 1)", *result.share_of_ideal);
  }
  if (result.kernel) write_side(group, "kernel", *result.kernel);
  if (result.collective) write_side(group, "collective", *result.collective);
  if (result.loss) write_loss(group, *result.loss);
  if (result.best_cus) {
    write_one<std::int32_t>(group, {"best_cus", "1", "CUs of the best partition of the sweep"},
                            *result.best_cus);
  }
  if (!result.notes.empty()) h5_set_attribute(group, kNotes, fmt::format("{}", fmt::join(result.notes, "\n")));
  h5_set_attribute(group, "recorded_seed", result.recorded_seed);
  if (result.recorded_draw) h5_set_attribute(group, "recorded_draw", *result.recorded_draw);
}

}  // namespace c3
