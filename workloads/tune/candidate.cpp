#include "workloads/tune/candidate.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/analysis/shorter_steps.hpp"
#include "workloads/analysis/step_outline.hpp"
#include "workloads/tune/model_times.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr Seconds kLeastEstimate{1e-9};  ///< of what does nothing

/// The least of all strategies, number by number.
ModelTimes least_of(const std::vector<ModelTimes>& all) {
  if (all.empty()) return {};
  const auto least = [&](auto member) { return std::ranges::min(all, {}, member).*member; };
  return {.bound = least(&ModelTimes::bound),
          .estimate = least(&ModelTimes::estimate),
          .least_energy = least(&ModelTimes::least_energy),
          .likely_energy = least(&ModelTimes::likely_energy)};
}

ModelTimes least_of(const Experiment& experiment) {
  return least_of(model_times(experiment, experiment.strategies));
}

CandidateFacts facts_of(const Experiment& experiment, const ModelTimes& times) {
  CandidateFacts facts;
  facts.size.gpus = experiment.cluster.ranks();
  facts.size.usd_per_gpu_hour = experiment.cluster.node.usd_per_gpu_hour;
  if (experiment.step) {
    facts.size.tokens = experiment.step->tokens;
    facts.needed = experiment.step->memory.held;
    facts.fits = experiment.step->fits();
  }
  if (!facts.fits) return facts;
  facts.bound = {.time = times.bound, .energy = times.least_energy};
  facts.estimate = {.time = std::max({times.estimate, times.bound, kLeastEstimate}),
                    .energy = std::max(times.likely_energy, times.least_energy)};
  return facts;
}

CandidateFacts facts_of(const Experiment& experiment) {
  const bool fits = !experiment.step || experiment.step->fits();
  return facts_of(experiment, fits ? least_of(experiment) : ModelTimes{});
}

/// Facts from \p few micro-batches and some more; absent where these do not say what the whole needs.
std::optional<CandidateFacts> facts_of_few(const Experiment& few) {
  const Sizes sizes = micro_batches_of(*few.family);
  const Experiment more = outlined(few, {few.family->size().layers, sizes.of[1]});
  if (few.step->memory.held != more.step->memory.held) return std::nullopt;
  const double distance = static_cast<double>(sizes.of[1] - sizes.of[0]);
  const double beyond = static_cast<double>(sizes.whole - sizes.of[1]) / distance;
  ModelTimes times;
  if (more.step->fits()) {
    const ModelTimes a = least_of(few), b = least_of(more);
    const auto whole = [&](auto member) { return b.*member + beyond * (b.*member - a.*member); };
    times = {.bound = whole(&ModelTimes::bound),
             .estimate = whole(&ModelTimes::estimate),
             .least_energy = whole(&ModelTimes::least_energy),
             .likely_energy = whole(&ModelTimes::likely_energy)};
  }
  CandidateFacts facts = facts_of(more, times);
  facts.size.tokens = more.step->tokens / sizes.of[1] * sizes.whole;
  return facts;
}

CandidateFacts facts_of_outline(const Experiment& outline) {
  if (!outline.family) return facts_of(outline);
  const StepSize whole = outline.family->size();
  if (outlined_micro_batches(outline) == whole.micro_batches) return facts_of(outline);
  if (const auto facts = facts_of_few(outline)) return *facts;
  return facts_of(outlined(outline, whole));
}

Expense least_of(const Expense& a, const Expense& b) {
  return {.time = std::min(a.time, b.time), .energy = std::min(a.energy, b.energy)};
}

/// Facts over several draws: the most that one needs, the least that one takes.
CandidateFacts together(const CandidateFacts& a, const CandidateFacts& b) {
  const bool fits = a.fits && b.fits;
  return {.size = b.size,
          .needed = std::max(a.needed, b.needed),
          .fits = fits,
          .bound = fits ? least_of(a.bound, b.bound) : Expense{},
          .estimate = fits ? least_of(a.estimate, b.estimate) : Expense{}};
}

}  // namespace

CandidateFacts candidate_facts(const Experiment& outline, const ExperimentFactory& make) {
  if (outline.measure.draws == 0) return facts_of_outline(outline);
  CandidateFacts facts = facts_of(make(0));
  for (int draw = 1; draw < outline.measure.draws; ++draw)
    facts = together(facts, facts_of(make(static_cast<std::uint64_t>(draw))));
  return facts;
}

bool is_one_stage(const Experiment& experiment) { return experiment.step && !experiment.family; }

CandidateFacts rough_facts(const Experiment& stage) {
  return facts_of(stage, stage.step->fits() ? least_of(stage_times(stage, stage.strategies)) : ModelTimes{});
}

}}  // namespace c3::workloads
