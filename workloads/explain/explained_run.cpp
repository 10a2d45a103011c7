#include "workloads/explain/explained_run.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/interrupt.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "workloads/analysis/average_breakdown.hpp"
#include "workloads/analysis/step_outline.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// Adds \p share of \p times, which are those of an average GPU.
void add_share(ExplainedRun& sum, const StepBreakdown& times, double share) {
  sum.kernels += share * times.kernels;
  sum.bubble += share * times.bubble;
  for (const ExposedTime& its : times.exposed_by) {
    auto found = std::ranges::find(sum.exposed, its.kind, &ExposedTime::kind);
    if (found == sum.exposed.end()) found = sum.exposed.insert(found, {.kind = its.kind, .time = {}});
    found->time += share * its.time;
    found->waiting += share * its.waiting;
  }
  for (const ClassTime& its : times.classes) {
    if (is_collective_class(its.name)) continue;
    auto found = std::ranges::find(sum.classes, its.name, &ClassTime::name);
    if (found == sum.classes.end()) found = sum.classes.insert(found, {.name = its.name, .time = {}});
    found->time += share * its.time;
    found->count += share * its.count;
  }
}

bool has_messages(const Program& program) { return !program.communicators.empty(); }

/// Work of one kernel, at the peak of its data type.
struct AtPeak {
  Operator op;
  Seconds useful, quantized;
};

AtPeak at_peak(const Program& program, const Operation& operation, const Operator& op, const GpuSpec& gpu) {
  const KernelDescription kernel = describe(program.name_of(operation), op, gpu);
  const double padded = kernel.flops * static_cast<double>(kernel.work_groups) / kernel.useful_flops;
  const double tiles = static_cast<double>(kernel.work_groups) / gpu.compute.cus();
  const Seconds useful = kernel.useful_flops / kernel.peak;
  return {op, useful, useful * (std::max(1.0, padded) * std::ceil(tiles) / tiles)};
}

/// Of the program that is written.
KernelWork written_work(const Experiment& experiment) {
  const Program& program = experiment.program;
  std::vector<double> shares(program.scripts.size(), program.ranks.empty() ? 1.0 : 0.0);
  for (const RankSpan& span : program.ranks)
    shares[span.script] += static_cast<double>(span.end - span.begin) / experiment.cluster.ranks();
  KernelWork work;
  std::vector<AtPeak> known;
  for (std::size_t script = 0; script < program.scripts.size(); ++script) {
    checkpoint();
    for_each_operation(program.scripts[script], [&](const Operation& operation) {
      const Operator* op = kernel_of(operation);
      if (op == nullptr || !op->of_class().has_product()) return;
      auto kernel = std::ranges::find(known, *op, &AtPeak::op);
      if (kernel == known.end())
        kernel = known.insert(kernel, at_peak(program, operation, *op, experiment.cluster.gpu));
      const std::string name = class_of(program, operation);
      auto its = std::ranges::find(work.products, name, &KernelWork::Products::operator_class);
      if (its == work.products.end()) its = work.products.insert(its, {name, {}, {}});
      its->at_peak += shares[script] * kernel->useful;
      its->quantized += shares[script] * kernel->quantized;
    });
  }
  return work;
}

/// \param run_of the repetition of a seed
template <class RunOf>
ExplainedRun mean_of_seeds(const Counterfactual& what, int seeds, RunOf run_of) {
  ExplainedRun mean;
  for (int seed = 0; seed < seeds; ++seed) {
    const RunResult run = run_of(static_cast<std::uint64_t>(seed));
    mean.time += run.time * (1.0 / seeds);
    add_share(mean, average_breakdown(run.classes), 1.0 / seeds);
  }
  if (!has_messages(what.experiment.program)) mean.bubble = {};
  return mean;
}

}  // namespace

Seconds ExplainedRun::of(const std::string& operator_class) const {
  const auto found = std::ranges::find(classes, operator_class, &ClassTime::name);
  return found == classes.end() ? Seconds{} : found->time;
}

ExplainedRun scaled(ExplainedRun run, double factor) {
  for (Seconds* time : {&run.time, &run.kernels, &run.bubble})
    *time = factor * *time;
  for (ClassTime& of_class : run.classes)
    of_class.time = factor * of_class.time;
  for (ExposedTime& of_kind : run.exposed) {
    of_kind.time = factor * of_kind.time;
    of_kind.waiting = factor * of_kind.waiting;
  }
  return run;
}

ExplainedRun explained_run(const Counterfactual& what, const CuChoice& cus, int seeds,
                           const std::optional<SteadySizes>& sizes) {
  ShorterSteps steps(what.experiment);
  return mean_of_seeds(what, seeds, [&](std::uint64_t seed) {
    const RunSetup setup{.cus = cus, .seed = seed, .isolation = what.isolation};
    return sizes ? run_variant(steps, what.strategy, setup, *sizes) : run_step(steps, what.strategy, setup);
  });
}

ComparedRun compared_run(const Counterfactual& what, const CuChoice& cus, int seeds) {
  ShorterSteps steps(what.experiment);
  ComparedRun compared;
  Seconds of_variants;
  bool is_steady = true;
  compared.run = mean_of_seeds(what, seeds, [&](std::uint64_t seed) {
    const RunSetup setup{.cus = cus, .seed = seed, .isolation = what.isolation};
    ComparedStep step = run_step_to_compare(steps, what.strategy, setup);
    if (seed == 0) compared.sizes = step.sizes;
    is_steady = is_steady && step.sizes && step.sizes == compared.sizes;
    if (is_steady) of_variants += step.from_two->time * (1.0 / seeds);
    return std::move(step.run);
  });
  if (is_steady) {
    compared.over_variant = compared.run.time / of_variants;
  } else {
    compared.sizes.reset();
  }
  return compared;
}

CuChoice best_partition(const Experiment& experiment, const Strategy& strategy) {
  const std::vector<CuChoice> choices = cu_choices(experiment, strategy);
  if (choices.size() == 1) return choices.front();
  std::optional<Seconds> least;
  CuChoice best;
  for (const CuChoice& choice : choices) {
    const Seconds time = run_step(experiment, strategy, {.cus = choice}).time;
    if (least && time >= *least) continue;
    least = time;
    best = choice;
  }
  return best;
}

Seconds KernelWork::at_peak() const {
  Seconds sum;
  for (const Products& its : products)
    sum += its.at_peak;
  return sum;
}

KernelWork kernel_work(const Experiment& experiment) {
  KernelWork work = written_work(experiment);
  if (!experiment.is_outline) return work;
  const LargerOutline larger = larger_outline(experiment);
  const KernelWork more = written_work(larger.experiment);
  for (KernelWork::Products& its : work.products) {
    const auto other =
        std::ranges::find(more.products, its.operator_class, &KernelWork::Products::operator_class);
    its.at_peak = other->at_peak + larger.beyond * (other->at_peak - its.at_peak);
    its.quantized = other->quantized + larger.beyond * (other->quantized - its.quantized);
  }
  return work;
}

}}  // namespace c3::workloads
