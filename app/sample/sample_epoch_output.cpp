#include <fmt/format.h>

#include "app/sample/sample_output.hpp"
#include "base/json.hpp"
#include "base/percent.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace app {
namespace {

/// The time of an iteration on the first machine over that on the second.
double speedup(const SampledEpoch& epoch) {
  const Seconds mean = epoch.sample.estimate() / static_cast<double>(epoch.sample.iterations());
  return mean / *epoch.other;
}

double whole_speedup(const SampledLog& log) {
  const EpochSample& sample = log.methods.front().sample;
  return sample.total / static_cast<double>(sample.iterations()) / *log.other_mean;
}

}  // namespace

std::string epoch_text(const SampledLog& log) {
  const EpochSample& chosen = log.methods.front().sample;
  std::string text =
      fmt::format("{}: {} iterations, {:.6g} s\n\n", log.file, chosen.iterations(), chosen.total.value);
  TextTable points({"length", "iteration", "time [ms]", "stands for", "of all"});
  for (const SeqPoint& point : chosen.points)
    points.add({fmt::format("{:g}", point.length), std::to_string(point.iteration),
                fmt::format("{:.6g}", point.time.value * 1e3), fmt::format("{:g}", point.weight),
                fmt::format("{:.2f}%", kPercent * point.weight / static_cast<double>(chosen.iterations()))});
  text += points.text() + "\n";
  std::vector<std::string> header{"method", "iterations", "times fewer", "estimate [s]", "error"};
  if (log.other_mean) header.insert(header.end(), {"other [ms]", "speedup", "of the whole", "off by"});
  TextTable methods(header);
  for (const SampledEpoch& epoch : log.methods) {
    std::vector<std::string> row{std::string(epoch.method), std::to_string(epoch.sample.points.size()),
                                 fmt::format("{:.4g}", epoch.sample.fewer()),
                                 fmt::format("{:.6g}", epoch.sample.estimate().value),
                                 fmt::format("{:.3f}%", kPercent * epoch.sample.error())};
    if (epoch.other) {
      const double ours = speedup(epoch), whole = whole_speedup(log);
      row.insert(row.end(),
                 {fmt::format("{:.4g}", epoch.other->value * 1e3), fmt::format("{:.4f}", ours),
                  fmt::format("{:.4f}", whole), fmt::format("{:+.2f}%", kPercent * (ours / whole - 1.0))});
    }
    methods.add(row);
  }
  return text + methods.text() +
         fmt::format(
             "\nestimate {:.6g} s by seqpoint, within {:.2f}%; simulated {} of {} iterations, {:.3g}%\n",
             chosen.estimate().value, kPercent * log.bound, chosen.points.size(), chosen.iterations(),
             kPercent / chosen.fewer());
}

std::string epoch_json(const SampledLog& log) {
  const EpochSample& chosen = log.methods.front().sample;
  Json methods = Json::array();
  for (const SampledEpoch& epoch : log.methods) {
    Json points = Json::array();
    for (const SeqPoint& point : epoch.sample.points)
      points.push_back({{"iteration", point.iteration},
                        {"length", point.length},
                        {"time_us", point.time.value * 1e6},
                        {"weight", point.weight}});
    Json json{{"method", epoch.method},
              {"time_us", epoch.sample.estimate().value * 1e6},
              {"error", epoch.sample.error()},
              {"bins", epoch.sample.bins},
              {"share_simulated", 1.0 / epoch.sample.fewer()},
              {"points", points}};
    if (epoch.other)
      json.update({{"other_iteration_us", epoch.other->value * 1e6}, {"speedup", speedup(epoch)}});
    methods.push_back(json);
  }
  Json json{{"schema_version", kJsonSchemaVersion}, {"file", log.file},   {"iterations", chosen.iterations()},
            {"total_us", chosen.total.value * 1e6}, {"bound", log.bound}, {"methods", methods}};
  if (log.other_mean)
    json["other"] = {{"file", log.other_file},
                     {"iteration_us", log.other_mean->value * 1e6},
                     {"speedup", whole_speedup(log)}};
  return json.dump(2) + "\n";
}

}}  // namespace c3::app
