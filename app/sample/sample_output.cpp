#include "app/sample/sample_output.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/percent.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::size_t kMostRows = 20;  // kernels in the table for people

std::string percent(double share, int decimals = 2) {
  return fmt::format("{:.{}f}%", kPercent * share, decimals);
}

/// Clusters of one kernel.
struct KernelRow {
  std::string_view kernel;
  std::size_t invocations = 0, clusters = 0, samples = 0;
  Seconds time;
};

/// The longest first.
std::vector<KernelRow> rows_by_kernel(const SamplePlan& plan) {
  std::map<std::string_view, KernelRow> rows;
  for (const PlannedCluster& cluster : plan.clusters) {
    KernelRow& row = rows[cluster.kernel];
    row.kernel = cluster.kernel.empty() ? "(all kernels)" : std::string_view(cluster.kernel);
    row.invocations += cluster.members.size();
    ++row.clusters;
    row.samples += std::min(cluster.samples, cluster.members.size());
    row.time += cluster.statistics.total();
  }
  std::vector<KernelRow> sorted;
  for (const auto& [kernel, row] : rows)
    sorted.push_back(row);
  std::ranges::stable_sort(sorted, std::greater<>(), [](const KernelRow& row) { return row.time.value; });
  return sorted;
}

std::string shortened(std::string_view name) {
  constexpr std::size_t kMost = 60;
  return name.size() <= kMost ? std::string(name) : std::string(name.substr(0, kMost - 2)) + "..";
}

std::string kernel_table(const SampledKernels& sampled) {
  const std::vector<KernelRow> rows = rows_by_kernel(sampled.plan);
  TextTable table({"kernel", "invocations", "of the time", "clusters", "simulated"});
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const KernelRow& row = rows[i];
    table.add({shortened(row.kernel), std::to_string(row.invocations),
               percent(row.time / sampled.plan.total(), 1), std::to_string(row.clusters),
               std::to_string(row.samples)});
  }
  std::string text = table.text();
  if (rows.size() > kMostRows) text += fmt::format(".. and {} more kernels\n", rows.size() - kMostRows);
  return text;
}

/// An estimate that is off by at most `bound` of the truth leaves this range for it.
Seconds low_of(const SampledKernels& sampled) { return sampled.sample.estimate / (1.0 + *sampled.plan.bound); }
std::optional<Seconds> high_of(const SampledKernels& sampled) {
  if (*sampled.plan.bound >= 1.0) return std::nullopt;
  return sampled.sample.estimate / (1.0 - *sampled.plan.bound);
}

std::string estimate_line(const SampledKernels& sampled) {
  const SamplePlan& plan = sampled.plan;
  std::string line = fmt::format("estimate {:.6g} ms by {}", sampled.sample.estimate.value * 1e3, plan.method);
  if (!plan.bound) return line + ", without a bound\n";
  line += fmt::format(", within {} at {} confidence: {:.6g} ms", percent(*plan.bound),
                      percent(plan.confidence, 0), low_of(sampled).value * 1e3);
  const auto high = high_of(sampled);
  return line + (high ? fmt::format(" to {:.6g} ms\n", high->value * 1e3) : " and more\n");
}

Json input_json(const SampledInput& input) {
  return {{"file", input.file},
          {"invocations", input.invocations},
          {"kernels", input.kernels},
          {"total_us", input.total.value * 1e6}};
}

SampledInput input_of(const SampledKernels& sampled) {
  return {sampled.file, sampled.invocations.size(), sampled.invocations.names().size(), sampled.plan.total()};
}

std::string heading(const SampledInput& input) {
  return fmt::format("{}: {} invocations of {} kernels, {:.6g} ms\n\n", input.file, input.invocations,
                     input.kernels, input.total.value * 1e3);
}

}  // namespace

std::string sampled_text(const SampledKernels& sampled) {
  const Seconds total = sampled.plan.total();
  const DrawnSample& sample = sampled.sample;
  std::string text = heading(input_of(sampled)) + kernel_table(sampled) + "\n" + estimate_line(sampled);
  if (const auto expected = sampled.plan.expected_error())
    text += fmt::format("expected error {} (from the spread inside the clusters); ", percent(*expected));
  text += fmt::format("error against the whole table {}\n", percent(sample.error(total)));
  return text + fmt::format("simulated {} invocations, {} of the time: {:.4g} times less\n",
                            sample.chosen.size(), percent(sample.cost / total, 3), sample.speedup(total));
}

std::string sampled_json(const SampledKernels& sampled) {
  const SamplePlan& plan = sampled.plan;
  const Seconds total = plan.total();
  Json estimate{{"time_us", sampled.sample.estimate.value * 1e6},
                {"low_us", nullptr},
                {"high_us", nullptr},
                {"method", plan.method},
                {"bound", nullptr},
                {"confidence", plan.confidence},
                {"share_simulated", sampled.sample.cost / total}};
  if (plan.bound) {
    estimate["bound"] = *plan.bound;
    estimate["low_us"] = low_of(sampled).value * 1e6;
    if (const auto high = high_of(sampled)) estimate["high_us"] = high->value * 1e6;
  }
  Json clusters = Json::array(), samples = Json::array();
  for (const PlannedCluster& cluster : plan.clusters)
    clusters.push_back({{"kernel", cluster.kernel},
                        {"invocations", cluster.members.size()},
                        {"samples", std::min(cluster.samples, cluster.members.size())},
                        {"mean_us", cluster.statistics.mean.value * 1e6},
                        {"variation", cluster.statistics.variation()},
                        {"least_us", cluster.members.front().duration.value * 1e6},
                        {"most_us", cluster.members.back().duration.value * 1e6}});
  for (const ChosenInvocation& one : sampled.sample.chosen)
    samples.push_back({{"invocation", one.invocation},
                       {"kernel", sampled.invocations.name(one.invocation)},
                       {"cluster", one.cluster},
                       {"duration_us", one.duration.value * 1e6},
                       {"weight", one.weight}});
  Json json{{"schema_version", kJsonSchemaVersion}};
  json.update(input_json(input_of(sampled)));
  json.update({{"seed", sampled.seed},
               {"estimate", estimate},
               {"expected_error", nullptr},
               {"error", sampled.sample.error(total)},
               {"speedup", sampled.sample.speedup(total)},
               {"clusters", clusters},
               {"samples", samples}});
  if (const auto expected = plan.expected_error()) json["expected_error"] = *expected;
  return json.dump(2) + "\n";
}

std::string comparison_text(const SampledInput& input, std::span<const ComparedMethod> methods) {
  TextTable table({"method", "clusters", "simulated", "speedup", "mean error", "p95", "worst", "bound",
                   "seeds within", "seeds"});
  for (const ComparedMethod& row : methods)
    table.add({std::string(row.method), std::to_string(row.clusters), std::to_string(row.samples),
               fmt::format("{:.4g}", row.errors.speedup), percent(row.errors.mean, 3),
               percent(row.errors.p95, 3), percent(row.errors.worst, 3),
               row.bound ? percent(*row.bound) : "none", row.bound ? percent(row.errors.within_bound, 1) : "-",
               std::to_string(row.errors.seeds)});
  return heading(input) + table.text();
}

std::string comparison_json(const SampledInput& input, std::span<const ComparedMethod> methods) {
  Json rows = Json::array();
  for (const ComparedMethod& row : methods) {
    Json json{{"method", row.method},
              {"clusters", row.clusters},
              {"samples", row.samples},
              {"speedup", row.errors.speedup},
              {"mean_error", row.errors.mean},
              {"p95_error", row.errors.p95},
              {"worst_error", row.errors.worst},
              {"bound", nullptr},
              {"within_bound", nullptr},
              {"seeds", row.errors.seeds}};
    if (row.bound) {
      json["bound"] = *row.bound;
      json["within_bound"] = row.errors.within_bound;
    }
    rows.push_back(json);
  }
  Json json{{"schema_version", kJsonSchemaVersion}};
  json.update(input_json(input));
  json["methods"] = rows;
  return json.dump(2) + "\n";
}

}}  // namespace c3::app
