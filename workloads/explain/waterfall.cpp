#include "workloads/explain/waterfall.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace c3 { inline namespace workloads {
namespace {

/// The sum of what all classes take, one after another.
Seconds class_sum(const ExplainedRun& run) {
  Seconds sum;
  for (const ClassTime& its : run.classes)
    sum += its.time;
  return sum;
}

class WaterfallBuilder {
 public:
  explicit WaterfallBuilder(const WaterfallRuns& runs)
      : runs_(runs),
        orders_(cause_orders(runs.causes)),
        all_impossible_(runs.runs.at(sets_along(orders_.front()).back())),
        ideal_(runs.without_recomputation ? *runs.without_recomputation : all_impossible_) {}

  Waterfall build() {
    fall_.time = runs_.runs.at(0).time;
    fall_.at_peak = runs_.model_at_peak.value_or(runs_.work.at_peak());
    if (runs_.model_at_peak)
      add("work beyond the model's", PartMethod::closed_form, runs_.work.at_peak() - fall_.at_peak);
    add_kernels();
    add("pipeline bubble", PartMethod::interval_union, ideal_.bubble);
    add("waiting for other ranks", PartMethod::interval_union, ideal_.time - ideal_.kernels - ideal_.bubble);
    if (runs_.without_recomputation)
      add("recomputation", PartMethod::counterfactual, all_impossible_.time - ideal_.time);
    for (std::size_t cause = 0; cause < runs_.causes.size(); ++cause)
      add_cause(cause);
    return std::move(fall_);
  }

 private:
  void add(std::string name, PartMethod method, Seconds time) {
    constexpr double kNothing = 2e-10;  // of the run: dates are rounded to picoseconds
    if (std::abs(time.value) <= kNothing * fall_.time.value) return;
    fall_.parts.push_back({std::move(name), method, time});
  }

  void add_kernels() {
    for (const KernelWork::Products& its : runs_.work.products) {
      add(its.operator_class + ": tiles and waves", PartMethod::closed_form, its.quantized - its.at_peak);
      add(its.operator_class + ": below peak", PartMethod::interval_union,
          ideal_.of(its.operator_class) - its.quantized);
    }
    for (const ClassTime& its : ideal_.classes) {
      bool has_products = false;
      for (const KernelWork::Products& products : runs_.work.products)
        has_products = has_products || products.operator_class == its.name;
      if (!has_products) add(its.name, PartMethod::interval_union, its.time);
    }
    add("kernels beside each other", PartMethod::interval_union, ideal_.kernels - class_sum(ideal_));
  }

  /// What making \p cause impossible saves after those before it in \p order.
  Seconds saved(std::size_t cause, const CauseOrder& order) const {
    const std::size_t place = static_cast<std::size_t>(std::ranges::find(order, cause) - order.begin());
    const std::vector<CauseSet> sets = sets_along(order);
    return runs_.runs.at(sets[place]).time - runs_.runs.at(sets[place + 1]).time;
  }

  void add_cause(std::size_t cause) {
    const Seconds in_order = saved(cause, orders_[0]), reversed = saved(cause, orders_[1]);
    fall_.parts.push_back({.name = runs_.causes[cause].name(),
                           .method = PartMethod::counterfactual,
                           .time = 0.5 * (in_order + reversed),
                           .in_order = in_order,
                           .reversed = reversed});
  }

  const WaterfallRuns& runs_;
  const std::array<CauseOrder, 2> orders_;
  const ExplainedRun& all_impossible_;
  const ExplainedRun& ideal_;
  Waterfall fall_;
};

}  // namespace

std::optional<double> Waterfall::reached() const {
  if (at_peak <= Seconds{}) return std::nullopt;
  return at_peak / time;
}

std::optional<double> Waterfall::reached_before(std::size_t count) const {
  if (at_peak <= Seconds{}) return std::nullopt;
  Seconds sum = at_peak;
  for (std::size_t part = 0; part < count; ++part)
    sum += parts[part].time;
  return at_peak / sum;
}

Seconds Waterfall::interaction() const {
  Seconds sum;
  for (const WaterfallPart& its : parts)
    if (its.in_order) sum += Seconds{0.5 * std::abs((*its.in_order - *its.reversed).value)};
  return sum;
}

std::array<CauseOrder, 2> cause_orders(const std::vector<Cause>& causes) {
  CauseOrder dispatch, interference, others;
  for (std::size_t cause = 0; cause < causes.size(); ++cause) {
    const bool interferes = causes[cause].kind == CauseKind::interference;
    const bool is_dispatch = interferes && causes[cause].resource == SharedResource::dispatch;
    (is_dispatch ? dispatch : interferes ? interference : others).push_back(cause);
  }
  std::array<CauseOrder, 2> orders;
  for (const CauseOrder* part : {&dispatch, &interference, &others}) {
    orders[0].insert(orders[0].end(), part->begin(), part->end());
    orders[1].insert(orders[1].end(), part->rbegin(), part->rend());
  }
  return orders;
}

std::vector<CauseSet> sets_along(const CauseOrder& order) {
  std::vector<CauseSet> sets = {0};
  for (const std::size_t cause : order)
    sets.push_back(sets.back() | CauseSet{1} << cause);
  return sets;
}

std::vector<Cause> causes_in(CauseSet set, const std::vector<Cause>& causes) {
  std::vector<Cause> found;
  for (std::size_t cause = 0; cause < causes.size(); ++cause)
    if ((set >> cause & 1U) != 0) found.push_back(causes[cause]);
  return found;
}

Waterfall waterfall_of(const WaterfallRuns& runs) { return WaterfallBuilder(runs).build(); }

std::optional<InterferenceSplit> interference_split(const WaterfallRuns& runs) {
  CauseSet all = 0;
  for (std::size_t cause = 0; cause < runs.causes.size(); ++cause)
    if (runs.causes[cause].kind == CauseKind::interference) all |= CauseSet{1} << cause;
  if (all == 0) return std::nullopt;
  const ExplainedRun &shared = runs.runs.at(0), &apart = runs.runs.at(all);
  const Seconds kernels = shared.kernels - apart.kernels;
  return InterferenceSplit{.kernels = kernels, .beside = shared.time - apart.time - kernels};
}

}}  // namespace c3::workloads
