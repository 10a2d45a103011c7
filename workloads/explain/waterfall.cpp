#include "workloads/explain/waterfall.hpp"

#include <cmath>
#include <utility>

namespace c3::inline workloads {
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
        all_impossible_(runs.chains.at(runs.causes.size())),
        ideal_(runs.without_recomputation ? *runs.without_recomputation : all_impossible_) {}

  Waterfall build() {
    fall_.time = runs_.chains.front().time;
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

  void add_cause(std::size_t cause) {
    const std::size_t causes = runs_.causes.size();
    const auto forward = [&](std::size_t removed) { return runs_.chains[removed].time; };
    // Of the reverse order: none, the last one, .., all but the first, all.
    const auto backward = [&](std::size_t removed) {
      if (removed == 0 || removed == causes) return forward(removed);
      return runs_.chains[causes + removed].time;
    };
    const Seconds in_order = forward(cause) - forward(cause + 1);
    const Seconds reversed = backward(causes - cause - 1) - backward(causes - cause);
    fall_.parts.push_back({.name = runs_.causes[cause].name(),
                           .method = PartMethod::counterfactual,
                           .time = 0.5 * (in_order + reversed),
                           .in_order = in_order,
                           .reversed = reversed});
  }

  const WaterfallRuns& runs_;
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

std::vector<CauseSet> cause_chains(std::size_t causes) {
  std::vector<CauseSet> sets = {0};
  for (std::size_t removed = 1; removed <= causes; ++removed)
    sets.push_back((CauseSet{1} << removed) - 1);
  const CauseSet all = sets.back();
  for (std::size_t removed = 1; removed < causes; ++removed)
    sets.push_back(all & ~((CauseSet{1} << (causes - removed)) - 1));
  return sets;
}

std::vector<Cause> causes_in(CauseSet set, const std::vector<Cause>& causes) {
  std::vector<Cause> found;
  for (std::size_t cause = 0; cause < causes.size(); ++cause)
    if ((set >> cause & 1U) != 0) found.push_back(causes[cause]);
  return found;
}

Waterfall waterfall_of(const WaterfallRuns& runs) { return WaterfallBuilder(runs).build(); }

}  // namespace c3::workloads
