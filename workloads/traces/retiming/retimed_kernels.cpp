#include "workloads/traces/retiming/retimed_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/statistics.hpp"
#include "engine/errors.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "workloads/traces/retiming/kernel_operators.hpp"

namespace c3 { inline namespace traces {
namespace {

/// What a GPU makes of an operator.
struct OperatorTime {
  std::optional<Seconds> time;
  std::string refusal;  ///< why not
};

KernelSlice slice_for(FoundInCaches found) {
  return {.launch = LaunchCost::device, .cold = found == FoundInCaches::nothing};
}

OperatorTime time_on(const KernelOperator& what, const GpuSpec& gpu, FoundInCaches found) {
  if (!what.op) return {};
  try {
    const Seconds time = time_of(*what.op, gpu, slice_for(found)).time;
    return {what.in_another ? Seconds{} : time, {}};
  } catch (const InfeasibleError& error) {
    return {std::nullopt, error.what()};
  }
}

/// Everything about one distinct operator of a rank.
struct Timed {
  OperatorTime asked;
  OperatorTime there;
  std::string text;
};

/// The GPUs on which kernels are timed, and how.
struct Question {
  const GpuSpec& gpu;
  const GpuSpec* recorded_on;
  FoundInCaches found;
};

Timed timed(const KernelOperator& what, const Question& asked) {
  Timed result{.asked = time_on(what, asked.gpu, asked.found), .there = {}, .text = {}};
  if (asked.recorded_on != nullptr) result.there = time_on(what, *asked.recorded_on, asked.found);
  if (what.op && !what.in_another)
    result.text = fmt::format("{} {}", name_of(*what.op), what.op->of_class().shape_text(*what.op));
  return result;
}

void add_rank(const Rank& rank, std::uint32_t number, const Question& asked,
              std::vector<RetimedKernel>& kernels) {
  const KernelOperators operators(rank);
  std::vector<Timed> times;
  times.reserve(operators.distinct());
  for (std::uint32_t i = 0; i < operators.distinct(); ++i)
    times.push_back(timed(operators.at(i), asked));
  for (std::uint32_t i = 0; i < rank.trace.activities.size(); ++i) {
    const TraceEvent& event = rank.trace.activities[i];
    const KernelOperator& what = operators.of(i);
    const Timed& time = times[operators.index_of(i)];
    RetimedKernel kernel{.rank = number,
                         .activity = i,
                         .work = what.work,
                         .recorded = Seconds{static_cast<double>(event.duration.count) * 1e-12},
                         .predicted = time.asked.time,
                         .predicted_there = time.there.time,
                         .operator_text = time.text,
                         .note = what.note,
                         .in_another = what.in_another};
    if (!time.asked.refusal.empty()) kernel.note = time.asked.refusal;
    kernels.push_back(std::move(kernel));
  }
}

/// Sums and errors of one class while kernels are added.
struct Sum {
  RetimedClass totals;
  std::vector<double> errors;

  void add(const RetimedKernel& kernel) {
    ++totals.count;
    totals.recorded += kernel.recorded;
    totals.scaled += kernel.scaled();
    if (!kernel.predicted) return;
    ++totals.covered;
    totals.recorded_covered += kernel.recorded;
    totals.predicted += *kernel.predicted;
    if (!kernel.predicted_there) return;
    totals.predicted_there += *kernel.predicted_there;
    if (!kernel.in_another && kernel.recorded.value > 0.0)
      errors.push_back(std::abs(*kernel.predicted_there / kernel.recorded - 1.0));
  }

  RetimedClass finished() {
    if (errors.empty()) return totals;
    totals.median_error = lower_median(std::move(errors));
    return totals;
  }
};

void sum_up(Retiming& retiming) {
  std::array<Sum, kWorkClassNames.size()> classes;
  Sum all;
  for (const RetimedKernel& kernel : retiming.kernels) {
    Sum& sum = classes[static_cast<std::size_t>(kernel.work)];
    sum.totals.work = kernel.work;
    sum.add(kernel);
    if (kernel.work != WorkClass::collective) all.add(kernel);
  }
  for (Sum& sum : classes) {
    if (sum.totals.count > 0) retiming.classes.push_back(sum.finished());
  }
  std::ranges::sort(retiming.classes, std::ranges::greater{},
                    [](const RetimedClass& retimed) { return retimed.recorded.value; });
  retiming.all = all.finished();
}

void list_fall_backs(const std::vector<Rank>& ranks, Retiming& retiming) {
  std::map<std::pair<std::string, std::string>, FallBack> alike;
  for (const RetimedKernel& kernel : retiming.kernels) {
    if (kernel.predicted || kernel.work == WorkClass::collective) continue;
    const Trace& trace = ranks[kernel.rank].trace;
    const std::string& name = trace.name_of(trace.activities[kernel.activity]);
    FallBack& entry = alike[{name, kernel.note}];
    entry.kernel = name;
    entry.reason = kernel.note;
    ++entry.count;
    entry.recorded += kernel.recorded;
  }
  for (auto& [key, entry] : alike)
    retiming.fall_backs.push_back(std::move(entry));
  std::ranges::stable_sort(retiming.fall_backs, std::ranges::greater{},
                           [](const FallBack& entry) { return entry.recorded.value; });
}

}  // namespace

Seconds RetimedKernel::scaled() const {
  if (!predicted || !predicted_there || !(predicted_there->value > 0.0)) return recorded;
  return recorded * (*predicted / *predicted_there);
}

Retiming retime(const std::vector<Rank>& ranks, const GpuSpec& gpu, const GpuSpec* recorded_on,
                FoundInCaches found) {
  Retiming retiming;
  retiming.gpu = gpu.name;
  if (recorded_on != nullptr) retiming.recorded_gpu = recorded_on->name;
  for (std::uint32_t i = 0; i < ranks.size(); ++i)
    add_rank(ranks[i], i, {gpu, recorded_on, found}, retiming.kernels);
  sum_up(retiming);
  list_fall_backs(ranks, retiming);
  return retiming;
}

}}  // namespace c3::traces
