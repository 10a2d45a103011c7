#include "studies/study_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "configs/presets/preset_store.hpp"
#include "studies/goldyloc/concurrency.hpp"
#include "studies/goldyloc/predictor.hpp"
#include "studies/simulations.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kName = "goldyloc";
constexpr double kPercent = 100.0;

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
    return std::ranges::min_element(times.tuned, {}, [](const auto& of) { return of.second; })->second;
  }
  /// With \p degree for all, or as many as are ready.
  Seconds fixed(int degree) const { return times.tuned.at(std::min(degree, products.parallel)); }
};

using Outcomes = std::vector<Outcome>;
using TimeOf = std::function<Seconds(const Outcome&)>;

// --- Simulations: each in a process of its own, which hands back numbers.

std::vector<double> as_values(const DegreeTimes& times) {
  std::vector<double> values;
  for (const auto& [degree, time] : times.alone) {
    values.insert(values.end(), {static_cast<double>(degree), time.value, times.tuned.at(degree).value,
                                 static_cast<double>(times.part.at(degree))});
  }
  return values;
}

DegreeTimes from_values(const std::vector<double>& values) {
  DegreeTimes times;
  for (std::size_t i = 0; i + 3 < values.size(); i += 4) {
    const int degree = static_cast<int>(values[i]);
    times.alone[degree] = Seconds{values[i + 1]};
    times.tuned[degree] = Seconds{values[i + 2]};
    times.part[degree] = static_cast<int>(values[i + 3]);
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

StudyLine line_of(const PublishedFigures& published, const std::string& id, std::string label, std::size_t rows,
                  double simulated) {
  return {
      .figure = {.of = published.find(id), .simulated = simulated}, .label = std::move(label), .rows = rows};
}

StudySection speeds(const Outcomes& outcomes, const PublishedFigures& published) {
  StudySection section{
      .heading = "Speed over one after another, by geometric means",
      .lines = {},
      .notes = {"default: all at once, kernels tuned alone. fixed: the one degree that is best for "
                "the set. Published are means and maxima of a list of products that is not public."},
      .value = "GOLDYLOC",
      .decimals = 2};
  const auto add = [&](const std::string& sequential, const std::string& usual, const std::string& label,
                       const Outcomes& of) {
    StudyLine line =
        line_of(published, sequential, label, of.size(), speed(of, &Outcome::sequential, &Outcome::goldyloc));
    line.beside = {{"default", speed(of, &Outcome::sequential, &Outcome::usual)},
                   {"fixed", best_fixed(of)},
                   {"oracle", speed(of, &Outcome::sequential, &Outcome::oracle)},
                   {"most", largest_speed(of, &Outcome::sequential, &Outcome::goldyloc)}};
    section.lines.push_back(std::move(line));
    StudyLine over = line_of(published, usual, label + ", over default", of.size(),
                             speed(of, &Outcome::usual, &Outcome::goldyloc));
    over.beside = {{"oracle", speed(of, &Outcome::usual, &Outcome::oracle)},
                   {"most", largest_speed(of, &Outcome::usual, &Outcome::goldyloc)}};
    section.lines.push_back(std::move(over));
  };
  add("all.sequential", "all.default", "all", outcomes);
  for (const std::string& set : sets_of(outcomes))
    add("set.sequential." + set, "set.default." + set, set, of_set(outcomes, set));
  return section;
}

StudySection promises(const Outcomes& outcomes, const PublishedFigures& published) {
  StudySection section{
      .heading = "What the choice keeps, on sets that its predictor has not seen",
      .lines = {},
      .notes = {"The predictor's grid was widened, and its descent made to converge, after experts "
                "had kept 89.2 %."},
      .value = "here",
      .decimals = 2};
  for (const std::string& set : sets_of(outcomes)) {
    const Outcomes of = of_set(outcomes, set);
    const double goldyloc = speed(of, &Outcome::sequential, &Outcome::goldyloc);
    const double usual = speed(of, &Outcome::sequential, &Outcome::usual);
    const double oracle = speed(of, &Outcome::sequential, &Outcome::oracle);
    section.lines.push_back(line_of(published, "kept.default." + set,
                                    set + ": over the better of default and sequential", of.size(),
                                    goldyloc / std::max(1.0, usual)));
    section.lines.push_back(
        line_of(published, "kept.oracle." + set, set + ": over the oracle", of.size(), goldyloc / oracle));
    section.lines.push_back(line_of(published, "kept.gain." + set, set + ": of the oracle's gain [%]",
                                    of.size(), kPercent * (goldyloc - 1.0) / (oracle - 1.0)));
  }
  return section;
}

/// Mean logarithm of the picked degree over that of all that are ready, as a degree of 16.
StudySection degrees(const Outcomes& outcomes, const PublishedFigures& published) {
  Outcomes by_size = outcomes;
  const auto flops = [](const Outcome& outcome) {
    const GemmShape& shape = outcome.products.shape;
    return static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  };
  std::ranges::stable_sort(by_size, {}, flops);
  const std::size_t third = by_size.size() / 3;
  StudySection section{.heading = "The picked degree by the products' size: share of all that are ready",
                       .lines = {},
                       .notes = {},
                       .value = "picked",
                       .decimals = 2};
  double smallest = 0.0;
  for (int part = 0; part < 3; ++part) {
    const auto begin = by_size.begin() + static_cast<std::ptrdiff_t>(third) * part;
    const auto end = part == 2 ? by_size.end() : begin + static_cast<std::ptrdiff_t>(third);
    double picked = 0.0;
    double best = 0.0;
    for (auto each = begin; each != end; ++each) {
      const double ready = std::log2(each->products.parallel);
      const auto oracle =
          std::ranges::min_element(each->times.tuned, {}, [](const auto& of) { return of.second; });
      picked += std::log2(each->picked) / ready;
      best += std::log2(oracle->first) / ready;
    }
    const auto rows = static_cast<std::size_t>(end - begin);
    const auto count = static_cast<double>(rows);
    if (part == 0) smallest = picked / count;
    StudyLine line =
        line_of(published, part == 2 ? "degree.largest" : (part == 0 ? "degree.smallest" : "degree.middle"),
                fmt::format("{:.2g} to {:.2g} flop", 2.0 * flops(*begin), 2.0 * flops(*(end - 1))), rows,
                part == 2 ? smallest - picked / count : picked / count);
    if (part == 2) line.label += ": less than the smallest third's by";
    line.beside = {{"oracle", best / count}};
    section.lines.push_back(std::move(line));
  }
  return section;
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
  return {.report = {speeds(outcomes, published), promises(outcomes, published), degrees(outcomes, published)}};
}

}}  // namespace c3::studies
