#include "studies/study_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "configs/presets/preset_store.hpp"
#include "studies/cases/found_tables.hpp"
#include "studies/goldyloc/concurrency.hpp"
#include "studies/goldyloc/predictor.hpp"
#include "studies/simulations.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kName = "goldyloc";

/// A row of products.csv and all that is known of it.
struct Outcome {
  ReadyProducts products;
  TunedKernels kernels;
  DegreeTimes times;
  int picked = 1;  ///< by a predictor that has seen the other sets only

  Seconds sequential() const { return times.sequential(); }
  Seconds usual() const { return times.usual(); }
  Seconds goldyloc() const { return times.tuned.at(picked); }
  Seconds oracle() const {
    return std::ranges::min_element(times.tuned, {}, [](const auto& timed) { return timed.second; })->second;
  }
  /// Time with \p degree for all, or as many as are ready.
  Seconds fixed(int degree) const { return times.tuned.at(std::min(degree, products.parallel)); }
};

using Outcomes = std::vector<Outcome>;
using TimeOf = std::function<Seconds(const Outcome&)>;

// --- Simulations: each in a process of its own, which hands back numbers.

std::vector<double> as_values(const DegreeTimes& times) {
  std::vector<double> values;
  for (const auto& [degree, time] : times.alone)
    values.insert(values.end(), {static_cast<double>(degree), time.value, times.tuned.at(degree).value});
  return values;
}

DegreeTimes from_values(const std::vector<double>& values) {
  DegreeTimes times;
  for (std::size_t i = 0; i + 2 < values.size(); i += 3) {
    const int degree = static_cast<int>(values[i]);
    times.alone[degree] = Seconds{values[i + 1]};
    times.tuned[degree] = Seconds{values[i + 2]};
  }
  return times;
}

void plan(SimulationJobs& jobs, Outcomes& outcomes, const GpuSpec& gpu) {
  for (Outcome& outcome : outcomes) {
    jobs.push_back(
        {.run =
             [&outcome, &gpu] {
               return SimulatedTime{.values =
                                        as_values(times_by_degree(outcome.products, outcome.kernels, gpu))};
             },
         .take = [&outcome](const SimulatedTime& found) { outcome.times = from_values(found.values); }});
  }
}

// --- What is made of them.

std::vector<std::string> sets_of(const Outcomes& outcomes) {
  std::vector<std::string> sets;
  for (const Outcome& outcome : outcomes)
    if (std::ranges::find(sets, outcome.products.set) == sets.end()) sets.push_back(outcome.products.set);
  return sets;
}

/// What a doubling of the degree has to gain at least: products in flight hold streams and memory.
constexpr double kWorthDoubling = 0.01;

DegreeSample sample_of(const Outcome& outcome, const GpuSpec& gpu) {
  DegreeSample sample{
      .features = features_of(outcome.products, outcome.kernels, gpu), .degrees = {}, .times = {}};
  for (const auto& [degree, time] : outcome.times.tuned) {
    sample.degrees.push_back(degree);
    sample.times.push_back(time / outcome.sequential() * (1.0 + kWorthDoubling * std::log2(degree)));
  }
  return sample;
}

/// Each set by what the grid and the other sets teach.
void pick_degrees(Outcomes& outcomes, const Outcomes& grid, const GpuSpec& gpu) {
  for (const std::string& set : sets_of(outcomes)) {
    std::vector<DegreeSample> others;
    for (const Outcome& outcome : grid)
      others.push_back(sample_of(outcome, gpu));
    for (const Outcome& outcome : outcomes)
      if (outcome.products.set != set) others.push_back(sample_of(outcome, gpu));
    const DegreePredictor predictor(others);
    for (Outcome& outcome : outcomes) {
      if (outcome.products.set != set) continue;
      const DegreeSample own = sample_of(outcome, gpu);
      outcome.picked = predictor.pick(own.features, own.degrees);
    }
  }
}

Outcomes of_set(const Outcomes& outcomes, const std::string& set) {
  Outcomes found;
  std::ranges::copy_if(outcomes, std::back_inserter(found),
                       [&](const Outcome& outcome) { return outcome.products.set == set; });
  return found;
}

/// Geometric mean of the speed of \p fast over \p slow.
double speed(const Outcomes& outcomes, const TimeOf& slow, const TimeOf& fast) {
  double sum = 0.0;
  for (const Outcome& outcome : outcomes)
    sum += std::log(slow(outcome) / fast(outcome));
  return std::exp(sum / static_cast<double>(outcomes.size()));
}

double largest_speed(const Outcomes& outcomes, const TimeOf& slow, const TimeOf& fast) {
  double largest = 0.0;
  for (const Outcome& outcome : outcomes)
    largest = std::max(largest, slow(outcome) / fast(outcome));
  return largest;
}

/// The speed over sequential of the one degree that is best for all.
double best_fixed(const Outcomes& outcomes) {
  double best = 0.0;
  for (const int degree : {1, 2, 4, 8, 16})
    best = std::max(best, speed(outcomes, &Outcome::sequential,
                                [degree](const Outcome& outcome) { return outcome.fixed(degree); }));
  return best;
}

/// Speeds over one after another, `sequential.goldyloc`, and over all at once, `default.goldyloc`.
Found speeds(const Outcomes& outcomes) {
  return {.nominal = {{{"sequential.goldyloc", speed(outcomes, &Outcome::sequential, &Outcome::goldyloc)},
                       {"sequential.default", speed(outcomes, &Outcome::sequential, &Outcome::usual)},
                       {"sequential.fixed", best_fixed(outcomes)},
                       {"sequential.oracle", speed(outcomes, &Outcome::sequential, &Outcome::oracle)},
                       {"sequential.most", largest_speed(outcomes, &Outcome::sequential, &Outcome::goldyloc)},
                       {"default.goldyloc", speed(outcomes, &Outcome::usual, &Outcome::goldyloc)},
                       {"default.oracle", speed(outcomes, &Outcome::usual, &Outcome::oracle)},
                       {"default.most", largest_speed(outcomes, &Outcome::usual, &Outcome::goldyloc)}}},
          .rows = outcomes.size()};
}

double flops(const Outcome& outcome) {
  const GemmShape& shape = outcome.products.shape;
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
}

/// Mean logarithm of the picked degree, and of the best one, over that of all that are ready.
Found degrees(std::span<const Outcome> outcomes) {
  double picked = 0.0, best = 0.0;
  for (const Outcome& outcome : outcomes) {
    const double ready = std::log2(outcome.products.parallel);
    const auto oracle =
        std::ranges::min_element(outcome.times.tuned, {}, [](const auto& timed) { return timed.second; });
    picked += std::log2(outcome.picked) / ready;
    best += std::log2(oracle->first) / ready;
  }
  const auto count = static_cast<double>(outcomes.size());
  return {.nominal = {{{"picked", picked / count}, {"oracle", best / count}}},
          .texts = {{"from", fmt::format("{:.2g}", flops(outcomes.front()))},
                    {"to", fmt::format("{:.2g}", flops(outcomes.back()))}},
          .rows = outcomes.size()};
}

FoundNumbers found_in(const Outcomes& outcomes) {
  FoundNumbers found = {{"all", speeds(outcomes)}};
  for (const std::string& set : sets_of(outcomes))
    found.emplace(set, speeds(of_set(outcomes, set)));
  Outcomes by_size = outcomes;
  std::ranges::stable_sort(by_size, {}, flops);
  const std::span<const Outcome> all(by_size);
  const std::size_t third = all.size() / 3;
  found.emplace("smallest", degrees(all.subspan(0, third)));
  found.emplace("middle", degrees(all.subspan(third, third)));
  found.emplace("largest", degrees(all.subspan(2 * third)));
  return found;
}

/// The products of a table of this study with their kernels, still without times.
Outcomes outcomes_in(std::string_view table, const GpuSpec& gpu) {
  Outcomes outcomes;
  for (ReadyProducts& products : read_products(study_file(kName, table))) {
    TunedKernels kernels = tuned_kernels(products.shape, gpu);
    outcomes.push_back({.products = std::move(products), .kernels = std::move(kernels), .times = {}});
  }
  return outcomes;
}

}  // namespace

StudyOutcome reproduce_goldyloc(const StudyInput& input, const PublishedFigures& published,
                                const StudyProgress& progress) {
  const GpuSpec gpu = load_gpu("mi100");
  Outcomes outcomes = outcomes_in("products.csv", gpu);
  Outcomes grid = outcomes_in("training.csv", gpu);
  SimulationJobs jobs;
  plan(jobs, outcomes, gpu);
  plan(jobs, grid, gpu);
  run_simulations(jobs, progress, input.processes);
  pick_degrees(outcomes, grid, gpu);
  return {.report = found_sections(input.card, found_in(outcomes), published)};
}

}}  // namespace c3::studies
