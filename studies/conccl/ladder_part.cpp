#include "studies/conccl/ladder_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/statistics.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;

/// Published shares in percent, in the order of the ladder; SP and SP+RP are tied.
struct PublishedRung {
  std::string_view strategy;
  double share;
};
constexpr std::array<PublishedRung, 6> kPublishedOrder = {
    {{"base", 21.0}, {"sp", 42.0}, {"rp", 41.0}, {"sp_rp", 42.0}, {"conccl", 66.0}, {"conccl_8", 72.0}}};

/// Scenarios that are looked at apart.
struct Split {
  std::string_view name;
  bool (*has)(const Scenario&);
};
constexpr std::array<Split, 7> kSplits = {{
    {"cb", [](const Scenario& s) { return s.bound == Bound::compute; }},
    {"mb", [](const Scenario& s) { return s.bound == Bound::memory; }},
    {"all-gather", [](const Scenario& s) { return s.collective.kind == CollectiveKind::all_gather; }},
    {"all-to-all", [](const Scenario& s) { return s.collective.kind == CollectiveKind::all_to_all; }},
    {"G-long", [](const Scenario& s) { return s.length == LengthClass::gemm_long; }},
    {"GC-equal", [](const Scenario& s) { return s.length == LengthClass::equal; }},
    {"C-long", [](const Scenario& s) { return s.length == LengthClass::collective_long; }},
}};

std::vector<PairSpeedup> part_of(const std::vector<PairSpeedup>& pairs, const std::vector<Scenario>& scenarios,
                                 const Split& split) {
  std::vector<PairSpeedup> part;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (split.has(scenarios[i])) part.push_back(pairs[i]);
  }
  return part;
}

}  // namespace

double LadderValue::judged() const {
  const std::optional<DrawnValue> drawn = over_draws(by_draw);
  return drawn ? drawn->median : nominal;
}

LadderPart::LadderPart(const std::vector<Scenario>& scenarios, const DrawnExperiment& make, LadderSize size,
                       LadderRole role)
    : size_(size), role_(role), cases_(scenarios, all_rungs()) {
  for (int seed = 0; seed < size.seeds; ++seed)
    cases_.add(make(std::nullopt), static_cast<std::uint64_t>(seed));
  for (int draw = 0; draw < size.draws; ++draw)
    cases_.add(make(static_cast<std::uint64_t>(draw)), static_cast<std::uint64_t>(draw));
}

LadderValue LadderPart::value(const OfCase& of_case) const {
  LadderValue value;
  const auto seeds = static_cast<std::size_t>(size_.seeds);
  for (std::size_t number = 0; number < cases_.size(); ++number) {
    if (number < seeds)
      value.nominal += of_case(number) / size_.seeds;
    else
      value.by_draw.push_back(of_case(number));
  }
  return value;
}

double LadderPart::share(std::size_t number, const StudyStrategy& strategy) const {
  return kPercent * mean_of_shares(cases_.speedups(number, strategy));
}

LadderValue LadderPart::share(const StudyStrategy& strategy) const {
  return value([&](std::size_t number) { return share(number, strategy); });
}

std::string LadderPart::id(std::string_view of) const {
  return role_ == LadderRole::calibrated ? fmt::format("calibrated.{}", of) : std::string(of);
}

std::string LadderPart::heading(std::string_view of) const {
  return role_ == LadderRole::calibrated ? fmt::format("Calibrated (fitted): {}", of) : std::string(of);
}

StudyLine LadderPart::line(const PublishedFigures& published, std::string_view of, std::string_view label,
                           const LadderValue& value) const {
  const FigureKind kind = role_ == LadderRole::calibrated ? FigureKind::fitted : FigureKind::predicted;
  StudyLine line{.figure = {.of = published.find(id(of)), .kind = kind, .simulated = value.judged()},
                 .label = std::string(label)};
  if (const std::optional<DrawnValue> drawn = over_draws(value.by_draw)) {
    line.figure.p5 = drawn->p5;
    line.figure.p95 = drawn->p95;
  }
  line.beside = {{"nominal", value.nominal}};
  return line;
}

std::string LadderPart::conditions() const {
  const StudyConditions conditions = conditions_of(cases_.base(0));
  return fmt::format(
      "{}; HBM arbitration {}, dispatch {} unless said; nominal: mean of {} seeds{}.", conditions.system,
      name_of(conditions.hbm_arbitration), name_of(conditions.dispatch_policy), size_.seeds,
      size_.draws > 0 ? fmt::format("; here: median of {} draws of all priors", size_.draws) : "");
}

StudySection LadderPart::shares(const PublishedFigures& published) const {
  StudySection section{.heading = heading(fmt::format("Share of the ideal speedup, mean of {} scenarios",
                                                      cases_.scenarios().size())),
                       .lines = {},
                       .notes = {},
                       .value = size_.draws > 0 ? "median" : "nominal"};
  for (const StudyStrategy& strategy : kStudyStrategies) {
    StudyLine next = line(published, strategy.id, strategy.label, share(strategy));
    const auto other = [&](double (*average)(std::span<const PairSpeedup>)) {
      return value([&](std::size_t number) { return kPercent * average(cases_.speedups(number, strategy)); })
          .judged();
    };
    if (size_.draws == 0) next.beside.clear();
    next.beside.emplace_back("share of means", other(share_of_means));
    next.beside.emplace_back("median scenario", other(median_share));
    section.lines.push_back(std::move(next));
  }
  section.notes = {conditions(),
                   "Ideal and share of each scenario and draw from that draw's own isolated times; none left "
                   "out, none clipped."};
  return section;
}

StudySection LadderPart::splits(const PublishedFigures& published) const {
  StudySection section{.heading = heading("Share of the ideal speedup by kind of scenario, mean of each"),
                       .lines = {},
                       .notes = {},
                       .value = "all"};
  for (const StudyStrategy& strategy : kStudyStrategies) {
    StudyLine next = line(published, fmt::format("split.{}", strategy.id), strategy.label, share(strategy));
    next.figure.p5 = next.figure.p95 = std::nullopt;
    next.beside.clear();
    for (const Split& split : kSplits) {
      if (std::ranges::none_of(cases_.scenarios(), split.has)) continue;
      next.beside.emplace_back(split.name, value([&](std::size_t number) {
                                             return kPercent *
                                                    mean_of_shares(part_of(cases_.speedups(number, strategy),
                                                                           cases_.scenarios(), split));
                                           }).judged());
    }
    section.lines.push_back(std::move(next));
  }
  return section;
}

/// How far \p upper is above \p lower, in each draw.
StudyLine LadderPart::step(const PublishedFigures& published, std::string_view of, std::string_view lower,
                           std::string_view upper) const {
  const auto difference = [&](const StudyStrategy& low) {
    return value([&](std::size_t number) { return share(number, study_strategy(upper)) - share(number, low); });
  };
  const StudyStrategy& low = study_strategy(lower);
  const LadderValue step = difference(low);
  StudyLine next = line(published, of, fmt::format("{} - {}", study_strategy(upper).label, low.label), step);
  if (size_.draws > 0) {
    const auto above = std::ranges::count_if(step.by_draw, [](double points) { return points > 0.0; });
    next.beside.emplace_back("draws above 0 [%]", kPercent * static_cast<double>(above) / size_.draws);
  }
  if (low.rung == Rung::base) {
    next.beside.emplace_back("round robin", difference(study_strategy("base.round_robin")).judged());
    next.beside.emplace_back("random order", difference(study_strategy("base.random_order")).judged());
  }
  return next;
}

/// How far the published SP - base is outside the range that dispatch policies span.
StudyLine LadderPart::policies(const PublishedFigures& published) const {
  constexpr double kPublished = 21.0;  // points
  const auto gaps = [&](std::size_t number) {
    std::array<double, 3> points{};
    std::ranges::transform(std::array{"base", "base.round_robin", "base.random_order"}, points.begin(),
                           [&](const char* base) {
                             return share(number, study_strategy("sp")) - share(number, study_strategy(base));
                           });
    return std::ranges::minmax(points);
  };
  StudyLine next = line(published, "range.sp_base", "SP - base: published, outside the range of policies",
                        value([&](std::size_t number) {
                          const auto [least, most] = gaps(number);
                          return std::max({least - kPublished, kPublished - most, 0.0});
                        }));
  next.beside.emplace_back("least", value([&](std::size_t number) { return gaps(number).min; }).judged());
  next.beside.emplace_back("most", value([&](std::size_t number) { return gaps(number).max; }).judged());
  return next;
}

StudySection LadderPart::order(const PublishedFigures& published) const {
  StudySection section{.heading = heading("Order of the strategies: differences of their mean shares"),
                       .lines = {},
                       .notes = {},
                       .value = "difference"};
  for (const std::string_view upper : {"sp", "rp", "sp_rp"})
    section.lines.push_back(step(published, fmt::format("order.base_{}", upper), "base", upper));
  for (const std::string_view lower : {"sp", "rp", "sp_rp"})
    section.lines.push_back(step(published, fmt::format("order.{}_conccl", lower), lower, "conccl"));
  section.lines.push_back(step(published, "order.conccl_conccl_8", "conccl", "conccl_8"));
  section.lines.push_back(step(published, "gap.conccl_sp", "sp", "conccl"));
  section.lines.push_back(step(published, "gap.conccl_8_conccl", "conccl", "conccl_8"));
  section.lines.push_back(step(published, "gap.rp_sp", "sp", "rp"));
  section.lines.push_back(policies(published));
  const LadderValue apart = value([&](std::size_t number) {
    return std::abs(share(number, study_strategy("sp")) - share(number, study_strategy("rp")));
  });
  section.lines.push_back(line(published, "order.sp_rp", "SP and RP apart", apart));
  return section;
}

StudySection LadderPart::speedups(const PublishedFigures& published) const {
  StudySection section{.heading = heading("Speedups over one after the other"),
                       .lines = {},
                       .notes = {},
                       .value = "mean",
                       .decimals = 2};
  const auto average = [&](double (*of)(std::span<const PairSpeedup>), const StudyStrategy& strategy) {
    return value([&](std::size_t number) { return of(cases_.speedups(number, strategy)); });
  };
  for (const StudyStrategy& strategy : kStudyStrategies) {
    StudyLine next = line(published, fmt::format("speedup.{}", strategy.id), strategy.label,
                          average(mean_speedup, strategy));
    next.beside.emplace_back("maximum", average(max_speedup, strategy).judged());
    section.lines.push_back(std::move(next));
  }
  section.lines.push_back(
      line(published, "speedup.ideal", "ideal", average(mean_ideal, study_strategy("base"))));
  const LadderValue most = value([&](std::size_t number) {
    double largest = 0.0;
    for (const PublishedRung& rung : kPublishedOrder)
      largest = std::max(largest, max_speedup(cases_.speedups(number, study_strategy(rung.strategy))));
    return largest;
  });
  section.lines.push_back(line(published, "max", "largest of any scenario and strategy", most));
  return section;
}

/// Whether the strategies come in the published order.
StudySection LadderPart::agreement(const PublishedFigures& published) const {
  StudySection section{.heading = heading("Rank correlation of the strategies with the published order"),
                       .lines = {},
                       .notes = {"1: the same order; the published SP and SP+RP are tied."},
                       .value = "Kendall",
                       .decimals = 2};
  const LadderValue tau = value([&](std::size_t number) {
    std::vector<double> here, there;
    for (const PublishedRung& rung : kPublishedOrder) {
      here.push_back(share(number, study_strategy(rung.strategy)));
      there.push_back(rung.share);
    }
    return kendall_tau(here, there).value_or(0.0);
  });
  section.lines.push_back(
      line(published, "tau", "base, SP, RP, SP+RP, ConCCL, ConCCL with 8 CUs removed", tau));
  return section;
}

StudyReport LadderPart::sections(const PublishedFigures& published) const {
  return {shares(published), splits(published), order(published), agreement(published), speedups(published)};
}

std::string_view LadderPart::row_columns() {
  return "role,draw,seed,scenario,bound,class,model,projection,m,n,k,traffic,collective,bytes,gemm_alone_us,"
         "collective_alone_us,strategy,cus,time_us,speedup,ideal_speedup,share_percent";
}

std::string LadderPart::rows_as_csv() const {
  constexpr double kMicro = 1e6;
  std::string text;
  for (std::size_t number = 0; number < cases_.size(); ++number) {
    const bool is_draw = number >= static_cast<std::size_t>(size_.seeds);
    const std::string of_case =
        fmt::format("{},{},{}", role_ == LadderRole::calibrated ? "calibrated" : "predicted",
                    is_draw ? std::to_string(cases_.seed(number)) : "", cases_.seed(number));
    for (std::size_t i = 0; i < cases_.scenarios().size(); ++i) {
      const Scenario& scenario = cases_.scenarios()[i];
      const LadderTimes& times = cases_.times(number)[i];
      const std::string of_pair =
          fmt::format("{},{},{},{},{},{},{},{},{},{},{},{:.0f},{:.3f},{:.3f}", of_case, scenario.id,
                      name_of(scenario.bound), name_of(scenario.length), scenario.model, scenario.projection,
                      scenario.gemm.m, scenario.gemm.n, scenario.gemm.k, name_of(scenario.gemm.traffic),
                      name_of(scenario.collective.kind), scenario.collective.bytes.value,
                      times.kernel.value * kMicro, times.collective.value * kMicro);
      for (const StudyStrategy& strategy : kStudyStrategies) {
        const PairSpeedup pair = study_speedup(scenario, times, strategy);
        const Seconds together = (times.kernel + times.collective) / pair.speedup;
        text += fmt::format("{},{},{},{:.3f},{:.6f},{:.6f},{:.3f}\n", of_pair, strategy.id,
                            times.cus[index_of(strategy.rung)], together.value * kMicro, pair.speedup,
                            pair.ideal, kPercent * pair.share());
      }
    }
  }
  return text;
}

}}  // namespace c3::studies
