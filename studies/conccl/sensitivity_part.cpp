#include "studies/conccl/sensitivity_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "base/percent.hpp"
#include "base/statistics.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::size_t kStrongest = 10;
constexpr std::uint64_t kSeed = 0;  // the same for all: what differs is the prior

/// Figures whose ranks over the draws are looked at, by id.
constexpr std::array<std::string_view, 3> kWatched = {"conccl", "sp", "rp"};
/// Who is run again with one prior or choice changed: a sweep of masks would cost three times as much.
constexpr std::array<std::string_view, 2> kSwung = {"conccl", "sp"};
constexpr std::array kSwungRungs = {Rung::conccl, Rung::sp};

/// What might cost a kernel speed beside any collective, as the README of the scenarios lists it.
constexpr std::array<std::string_view, 8> kCandidates = {
    "gpu.hbm_service",        "gpu.l2_reuse",       "gpu.llc_bandwidth", "gpu.fabric_bandwidth",
    "gpu.xcd_port_bandwidth", "gpu.power_coupling", "gpu.launch_skew",   "gpu.host_join"};

std::string span_of(const Range& range) { return fmt::format("{:.4g}..{:.4g}", range.low, range.high); }

/// Coefficients of kernels are read for all classes, and matter where a kernel of theirs runs.
bool may_matter(const NamedRange& range, const std::vector<Scenario>& scenarios) {
  constexpr std::string_view kCoefficients = "gpu.kernels.";
  if (!range.key.starts_with(kCoefficients)) return true;
  return std::ranges::any_of(scenarios, [&](const Scenario& scenario) {
    const std::string_view product = scenario.gemm.dtype == DType::fp32 ? "vector_gemm." : "matrix_gemm.";
    return std::string_view(range.key).substr(kCoefficients.size()).starts_with(product);
  });
}

/// What |spearman| of unrelated values stays below in 19 of 20 cases: 1.96 / sqrt(n - 1), for n > 10 or so.
double spearman_noise(std::size_t values) {
  constexpr double kTwoSided95 = 1.96;
  return kTwoSided95 / std::sqrt(static_cast<double>(values) - 1.0);
}

/// A drawn prior and its rank correlation with the share of each of kWatched.
struct Ranked {
  std::string key;
  std::array<std::optional<double>, kWatched.size()> rho = {};

  double largest() const {
    double most = 0.0;
    for (const std::optional<double>& correlation : rho)
      most = std::max(most, std::abs(correlation.value_or(0.0)));
    return most;
  }
};

Ranked rank(const NamedRange& range, const std::vector<NamedNumbers>& draws, std::uint64_t seed) {
  Ranked ranked{.key = range.key};
  std::vector<double> values;
  for (std::size_t draw = 0; draw < draws.size(); ++draw)
    values.push_back(drawn(range, draw, seed));
  for (std::size_t i = 0; i < kWatched.size(); ++i) {
    std::vector<double> shares;
    for (const NamedNumbers& draw : draws)
      shares.push_back(draw.at(fmt::format("{}.share", kWatched.at(i))));
    ranked.rho.at(i) = spearman(values, shares);
  }
  return ranked;
}

}  // namespace

std::vector<Scenario> stratified(const std::vector<Scenario>& scenarios) {
  std::vector<Scenario> chosen;
  for (const Bound bound : kBounds) {
    for (const LengthClass length : kLengthClasses) {
      const CollectiveKind wanted =
          chosen.size() % 2 == 0 ? CollectiveKind::all_gather : CollectiveKind::all_to_all;
      const auto fits = [&](const Scenario& scenario) {
        return scenario.bound == bound && scenario.length == length && scenario.collective.kind == wanted;
      };
      if (const auto found = std::ranges::find_if(scenarios, fits); found != scenarios.end())
        chosen.push_back(*found);
    }
  }
  return chosen.empty() ? scenarios : chosen;
}

SensitivityPart::SensitivityPart(std::vector<Scenario> scenarios, const ExperimentFile& file)
    : scenarios_(std::move(scenarios)), file_(file), cases_(scenarios_, rungs_of(kSwungRungs)) {
  const Experiment nominal = file.make(std::nullopt);
  cases_.add(nominal, kSeed);
  for (const NamedRange& range : file.ranges()) {
    const auto at_end = [&](bool high) { return add(file_.make_at({.key = range.key, .high = high})); };
    if (!may_matter(range, scenarios_)) continue;
    const std::size_t low = at_end(false);
    swings_.push_back({range, low, at_end(true)});
  }
  for (const HbmArbitration arbitration :
       {HbmArbitration::outstanding, HbmArbitration::byte_fair, HbmArbitration::equal_slowdown}) {
    Experiment other = nominal;
    other.cluster.gpu.hbm.arbitration = arbitration;
    choices_.push_back({fmt::format("gpu.hbm_arbitration {}", name_of(arbitration)), add(std::move(other))});
  }
  for (const DispatchPolicy policy : {DispatchPolicy::oldest_first, DispatchPolicy::round_robin}) {
    Experiment other = nominal;
    other.cluster.gpu.dispatch.policy = policy;
    choices_.push_back({fmt::format("gpu.dispatch_policy {}", name_of(policy)), add(std::move(other))});
  }
  std::erase_if(choices_, [](const Choice& choice) { return choice.number == 0; });
}

std::size_t SensitivityPart::add(Experiment experiment) {
  return experiment == cases_.base(0) ? 0 : cases_.add(std::move(experiment), kSeed);
}

double SensitivityPart::change(std::size_t number, const StudyStrategy& strategy) const {
  const auto share = [&](std::size_t case_number) {
    double sum = 0.0;
    for (const PairSpeedup& pair : cases_.speedups(case_number, strategy))
      sum += pair.share();
    return kPercent * (sum / static_cast<double>(scenarios_.size()));
  };
  return share(number) - share(0);
}

double SensitivityPart::largest_change(const Swing& swing) const {
  double most = 0.0;
  for (const std::string_view id : kSwung) {
    const StudyStrategy& strategy = study_strategy(id);
    const auto [least, greatest] =
        std::minmax({change(swing.low, strategy), change(swing.high, strategy), 0.0});
    most = std::max(most, greatest - least);
  }
  return most;
}

StudySection SensitivityPart::ranks(const PublishedFigures& published,
                                    const std::vector<NamedNumbers>& draws) const {
  StudySection section{.heading = "What the shares follow over the draws: Spearman's rank correlation",
                       .lines = {},
                       .notes = {},
                       .value = std::string(study_strategy(kWatched.front()).label),
                       .decimals = 2};
  const double noise = spearman_noise(draws.size());
  std::vector<Ranked> ranked;  // priors that change a share when they alone are moved
  for (const Swing& swing : swings_)
    if (largest_change(swing) > 0.0) ranked.push_back(rank(swing.range, draws, cases_.base(0).measure.seed));
  std::ranges::stable_sort(ranked, std::greater{}, &Ranked::largest);
  for (const Ranked& prior : ranked) {
    if (prior.largest() < noise) break;
    StudyLine line{
        .figure = {.reference = published.find("sensitivity." + prior.key), .simulated = prior.rho[0]},
        .label = prior.key};
    for (std::size_t i = 1; i < kWatched.size(); ++i) {
      if (prior.rho[i]) line.beside.emplace_back(study_strategy(kWatched[i]).label, *prior.rho[i]);
    }
    section.lines.push_back(std::move(line));
  }
  section.notes = {fmt::format(
      "Of {} priors with a range {} move a share when they alone are moved (below); of those the {} with a "
      "correlation above {:.2f}, below which 19 of 20 unrelated ones stay in {} draws.",
      swings_.size(), ranked.size(), section.lines.size(), noise, draws.size())};
  return section;
}

StudyLine SensitivityPart::line(const PublishedFigure& reference, const Swing& swing) const {
  StudyLine line{.figure = {.reference = reference, .simulated = largest_change(swing)},
                 .label = fmt::format("{} {}", swing.range.key, span_of(swing.range.range))};
  for (const std::string_view id : kSwung) {
    const StudyStrategy& strategy = study_strategy(id);
    line.beside.emplace_back(fmt::format("{} low", strategy.label), change(swing.low, strategy));
    line.beside.emplace_back(fmt::format("{} high", strategy.label), change(swing.high, strategy));
  }
  return line;
}

StudySection SensitivityPart::tornado(const PublishedFigures& published) const {
  StudySection section{.heading = fmt::format(
                           "One prior at an end of its range, the others nominal, {} scenarios: the strongest",
                           scenarios_.size()),
                       .lines = {},
                       .notes = {},
                       .value = "largest span"};
  std::vector<Swing> strongest = swings_;
  std::ranges::stable_sort(strongest, std::greater{},
                           [this](const Swing& swing) { return largest_change(swing); });
  strongest.resize(std::min(strongest.size(), kStrongest));
  for (const Swing& swing : strongest)
    section.lines.push_back(line(published.find("tornado." + swing.range.key), swing));
  section.notes = {
      fmt::format("Change of the mean share from its nominal value, of {} priors with a range; in SI "
                  "units.",
                  swings_.size())};
  return section;
}

StudySection SensitivityPart::candidates(const PublishedFigures& published) const {
  StudySection section{.heading = "The same of what might cost a GEMM speed beside any collective",
                       .lines = {},
                       .notes = {"The published results ask for 10 to 15 % of the GEMM: some 10 points."},
                       .value = "largest span"};
  for (const Swing& swing : swings_) {
    if (std::ranges::find(kCandidates, swing.range.key) != kCandidates.end())
      section.lines.push_back(line(published.find("candidate." + swing.range.key), swing));
  }
  return section;
}

StudySection SensitivityPart::choices(const PublishedFigures& published) const {
  StudySection section{
      .heading = fmt::format("One choice that is not the nominal one, {} scenarios: change of the mean share",
                             scenarios_.size()),
      .lines = {},
      .notes = {},
      .value = std::string(study_strategy(kSwung.front()).label)};
  for (const Choice& choice : choices_) {
    std::string id = "choice." + choice.label;
    std::ranges::replace(id, ' ', '.');
    StudyLine line{.figure = {.reference = published.find(id),
                              .simulated = change(choice.number, study_strategy(kSwung.front()))},
                   .label = choice.label};
    for (std::size_t i = 1; i < kSwung.size(); ++i) {
      const StudyStrategy& strategy = study_strategy(kSwung[i]);
      line.beside.emplace_back(strategy.label, change(choice.number, strategy));
    }
    section.lines.push_back(std::move(line));
  }
  return section;
}

StudyReport SensitivityPart::sections(const PublishedFigures& published,
                                      const std::vector<NamedNumbers>& draws) const {
  constexpr std::size_t kFewest = 10;  // draws of which ranks say something
  StudyReport report = {tornado(published), candidates(published), choices(published)};
  if (draws.size() >= kFewest) report.insert(report.begin(), ranks(published, draws));
  std::erase_if(report, [](const StudySection& section) { return section.lines.empty(); });
  return report;
}

}}  // namespace c3::studies
