#include <cmath>

#include <fmt/format.h>

#include "app/sample/sample_output.hpp"
#include "base/json.hpp"
#include "base/percent.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace app {
namespace {

Seconds low_of(const SampledJob& job, Seconds estimate) { return estimate / (1.0 + job.bound); }
Seconds high_of(const SampledJob& job, Seconds estimate) { return estimate / (1.0 - job.bound); }

/// Time that was simulated, of the epoch's.
double share_simulated(const SampledStrategy& strategy) {
  return strategy.simulated / strategy.sample.estimate();
}

std::string heading(const SampledJob& job) {
  return fmt::format("{}: {} sequences, {}, in {} iterations of {}; {:.1f}% of their tokens are padding\n",
                     job.experiment, job.sequences, name_of(job.batches), job.lengths.size(), job.batch,
                     kPercent * job.padding);
}

std::string points_table(const SampledJob& job, const SampledStrategy& strategy) {
  TextTable table({"length", "stands for", "of all", strategy.name + " [ms]"});
  for (const SeqPoint& point : strategy.sample.points)
    table.add({fmt::format("{:g}", point.length), fmt::format("{:g}", point.weight),
               fmt::format("{:.2f}%", kPercent * point.weight / static_cast<double>(job.lengths.size())),
               fmt::format("{:.6g}", point.time.value * 1e3)});
  return table.text();
}

std::string strategy_line(const SampledJob& job, const SampledStrategy& strategy) {
  const Seconds estimate = strategy.sample.estimate();
  std::string line = fmt::format(
      "{}: an epoch takes {:.6g} s by seqpoint, within {:.2f}%: {:.6g} s to {:.6g} s; simulated {} of {} "
      "iterations, {:.3f}% of the time",
      strategy.name, estimate.value, kPercent * job.bound, low_of(job, estimate).value,
      high_of(job, estimate).value, strategy.lengths, job.lengths.size(), kPercent * share_simulated(strategy));
  if (strategy.whole)
    line += fmt::format("; error against every length {:.3f}%",
                        kPercent * std::abs(estimate / *strategy.whole - 1.0));
  return line + "\n";
}

}  // namespace

std::string job_text(const SampledJob& job) {
  std::string text = heading(job);
  for (const SampledStrategy& strategy : job.strategies)
    text += fmt::format("\n{}\n{}", points_table(job, strategy), strategy_line(job, strategy));
  return text;
}

std::string job_json(const SampledJob& job) {
  Json strategies = Json::array();
  for (const SampledStrategy& strategy : job.strategies) {
    const Seconds estimate = strategy.sample.estimate();
    Json points = Json::array();
    for (const SeqPoint& point : strategy.sample.points)
      points.push_back(
          {{"length", point.length}, {"time_us", point.time.value * 1e6}, {"weight", point.weight}});
    Json json{{"strategy", strategy.name},
              {"time_us", estimate.value * 1e6},
              {"estimate",
               {{"method", "seqpoint"},
                {"bound", job.bound},
                {"low_us", low_of(job, estimate).value * 1e6},
                {"high_us", high_of(job, estimate).value * 1e6},
                {"simulated", strategy.lengths},
                {"share_simulated", share_simulated(strategy)}}},
              {"bins", strategy.sample.bins},
              {"points", points}};
    if (strategy.whole) json["whole_us"] = strategy.whole->value * 1e6;
    strategies.push_back(json);
  }
  const Json json{{"schema_version", kJsonSchemaVersion},
                  {"experiment", job.experiment},
                  {"sequences", job.sequences},
                  {"batches", name_of(job.batches)},
                  {"batch", job.batch},
                  {"iterations", job.lengths.size()},
                  {"padding", job.padding},
                  {"strategies", strategies}};
  return json.dump(2) + "\n";
}

}}  // namespace c3::app
