#include "studies/t3/sublayer_results.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/statistics.hpp"

namespace c3 { inline namespace studies {
namespace {

bool same_work(const Sublayer& a, const Sublayer& b) { return a.gemm() == b.gemm() && a.tp == b.tp; }

}  // namespace

Summary summarise(std::span<const SublayerResult> results, const SublayerFilter& keep,
                  const SublayerValue& value) {
  std::vector<double> values;
  for (const SublayerResult& result : results) {
    if (keep(*result.sublayer)) values.push_back(value(result.times));
  }
  if (values.empty()) return {};
  return {geometric_mean(values), *std::ranges::max_element(values), values.size()};
}

SublayerFilter in_group(std::string group) {
  return [group = std::move(group)](const Sublayer& sublayer) { return sublayer.group == group; };
}

StudyLine line_of(const PublishedFigures& published, const std::string& id, std::string label, double value,
                  std::size_t rows) {
  return {
      .figure = {.reference = published.find(id), .simulated = value}, .label = std::move(label), .rows = rows};
}

SublayerTable::SublayerTable(std::span<const Sublayer> sublayers, Experiment base) : base_(std::move(base)) {
  for (const Sublayer& sublayer : sublayers)
    results_.push_back({&sublayer, {}});
}

void SublayerTable::plan(SimulationJobs& jobs) {
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const Sublayer& sublayer = *results_[i].sublayer;
    const auto first = std::ranges::find_if(
        results_, [&](const SublayerResult& other) { return same_work(*other.sublayer, sublayer); });
    if (first != results_.begin() + static_cast<std::ptrdiff_t>(i)) continue;
    jobs.push_back({[this, &sublayer] {
                      return SimulatedTime{.values = time_sublayer(experiment_of(base_, sublayer)).values()};
                    },
                    [this, &sublayer](const SimulatedTime& simulated) {
                      if (simulated.values.empty())
                        throw std::runtime_error(sublayer.id() + ": " + simulated.said);
                      for (SublayerResult& result : results_) {
                        if (same_work(*result.sublayer, sublayer))
                          result.times = SublayerTimes::from(simulated.values);
                      }
                    }});
  }
}

}}  // namespace c3::studies
