#include "results/study_json.hpp"
#include "results/estimate_json.hpp"

#include "base/json.hpp"
#include "results/recommendation.hpp"
#include "results/run_words.hpp"
#include "results/schema.hpp"
#include "results/utf8.hpp"

namespace c3 { inline namespace results {
namespace {

double us(Seconds time) { return time / 1.0_us; }

Json clock_json(const std::optional<ClockState>& state) {
  if (!state) return nullptr;
  return name_of(*state);
}

Json clock_json(const std::optional<RunClock>& clock) {
  if (!clock) return nullptr;
  return {{"speed", clock->speed},
          {"power_w", clock->mean.value},
          {"highest_power_w", clock->highest.value},
          {"energy_j", clock->energy ? Json(clock->energy->value) : Json()}};
}

Json level_json(const std::optional<SustainedLevel>& level) {
  if (!level) return nullptr;
  const auto rate = [](const std::optional<FlopsPerSecond>& value) {
    return value ? Json(*value / 1.0_TFLOPs) : Json();
  };
  return {{"evidence", name_of(level->evidence)},
          {"measured_on", level->measured_on.empty() ? Json() : Json(level->measured_on)},
          {"tflop_s", rate(level->rate)},
          {"low_tflop_s", rate(level->low)},
          {"high_tflop_s", rate(level->high)}};
}

Json side_json(const std::optional<SideTimes>& side) {
  if (!side) return nullptr;
  return {{"alone_us", us(side->alone)}, {"together_us", us(side->together)}};
}

Json loss_json(const std::optional<LossSplit>& loss) {
  if (!loss) return nullptr;
  return {{"dispatch", us(loss->dispatch)}, {"cus", us(loss->cus)},     {"cache", us(loss->cache)},
          {"hbm", us(loss->hbm)},           {"links", us(loss->links)}, {"interaction", us(loss->interaction)},
          {"total", us(loss->total())}};
}

/// The memory of one GPU at its peak.
Json memory_json(const StepFacts& step) {
  const MemoryPeak& peak = step.memory;
  Json by_class = Json::object(), tenants = Json::array();
  for (const MemoryClass memory_class : kMemoryClasses)
    by_class[std::string(name_of(memory_class))] = peak.of(memory_class).value;
  for (const MemoryTenant& tenant : peak.tenants)
    tenants.push_back(
        {{"name", tenant.name}, {"class", name_of(tenant.memory_class)}, {"bytes", tenant.bytes.value}});
  return {{"peak_bytes", peak.bytes.value},
          {"needed_bytes", peak.held.value},
          {"reserved_bytes", peak.reserved.value},
          {"limit_bytes", step.memory_size.value},
          {"fits", step.fits()},
          {"frees_cache", step.is_tight()},
          {"moment", peak.moment},
          {"by_class", std::move(by_class)},
          {"tenants", std::move(tenants)}};
}

Json pipeline_json(const StepResult& step) {
  if (!step.facts.pipeline || !step.bubble) return nullptr;
  return {{"stages", step.facts.pipeline->stages},
          {"schedule", step.facts.pipeline->schedule},
          {"bubble_us", us(*step.bubble)},
          {"schedule_bubble", step.facts.pipeline->bubble_share}};
}

Json throughput_json(const std::optional<Throughput>& throughput) {
  if (!throughput) return nullptr;
  return {{"of", name_of(throughput->of_step.item)},
          {"of_step", throughput->of_step.count},
          {"per_second", throughput->per_second},
          {"per_second_per_gpu", throughput->per_second_per_gpu()}};
}

/// Each type's products count at its own peak in mfu and hfu.
Json typed_flops_json(const StepFacts& facts) {
  Json types = Json::array();
  for (const TypedFlops& typed : facts.flops)
    types.push_back({{"dtype", typed.dtype ? Json(name_of(*typed.dtype)) : Json()},
                     {"peak_flops_per_second", typed.peak.value},
                     {"model_flops", typed.model.value},
                     {"hardware_flops", typed.hardware.value}});
  return types;
}

Json step_json(const StrategyResult& result) {
  const std::optional<StepResult>& step = result.step;
  if (!step) return nullptr;
  Json classes = Json::array();
  for (const ClassTime& class_time : step->times.classes)
    classes.push_back(
        {{"name", class_time.name}, {"time_us", us(class_time.time)}, {"count", class_time.count}});
  Json exposed = Json::array();
  for (const ExposedTime& exposed_time : step->times.exposed_by)
    exposed.push_back({{"name", exposed_time.kind},
                       {"time_us", us(exposed_time.time)},
                       {"waiting_us", us(exposed_time.waiting)}});
  const std::optional<Throughput>& rate = result.throughput;
  return {{"tokens_per_second", rate ? Json(rate->per_second) : Json()},
          {"tokens_per_second_per_gpu", rate ? Json(rate->per_second_per_gpu()) : Json()},
          {"mfu", step->mfu},
          {"hfu", step->hfu},
          {"kernels_us", us(step->times.kernels)},
          {"communication_us", us(step->times.communication)},
          {"exposed_us", us(step->times.exposed)},
          {"exposed_by", std::move(exposed)},
          {"idle_us", us(step->times.idle)},
          {"classes", std::move(classes)},
          {"pipeline", pipeline_json(*step)},
          {"memory", memory_json(step->facts)},
          {"model_flops", step->facts.model_flops().value},
          {"hardware_flops", step->facts.hardware_flops().value},
          {"flops_by_type", typed_flops_json(step->facts)}};
}

Json classes_json(const std::vector<SimulatedClass>& classes) {
  Json json = Json::array();
  for (const SimulatedClass& rank_class : classes)
    json.push_back({{"name", rank_class.name.empty() ? Json() : Json(rank_class.name)},
                    {"ranks", text_of(rank_class.ranks)},
                    {"representative", rank_class.representative()},
                    {"multiplicity", rank_class.multiplicity()},
                    {"kernels_us", us(rank_class.times.kernels)},
                    {"communication_us", us(rank_class.times.communication)},
                    {"exposed_us", us(rank_class.times.exposed)},
                    {"idle_us", us(rank_class.times.idle)},
                    {"bubble_us", us(rank_class.times.bubble)},
                    {"memory_bytes", rank_class.memory ? Json(rank_class.memory->value) : Json()}});
  return json;
}

Json strategy_json(const StrategyResult& result) {
  Json json{{"strategy", result.name},
            {"time_us", us(result.time)},
            {"time_p5_us", result.spread ? Json(us(result.spread->p5)) : Json()},
            {"time_p95_us", result.spread ? Json(us(result.spread->p95)) : Json()},
            {"lower_bound_us", us(result.lower_bound)},
            {"speedup", result.speedup ? Json(*result.speedup) : Json()},
            {"ideal_speedup", result.ideal_speedup ? Json(*result.ideal_speedup) : Json()},
            {"share_of_ideal", result.share_of_ideal ? Json(*result.share_of_ideal) : Json()},
            {"kernel", side_json(result.kernel)},
            {"collective", side_json(result.collective)},
            {"loss_us", loss_json(result.loss)},
            {"throughput", throughput_json(result.throughput)},
            {"step", step_json(result)},
            {"classes", classes_json(result.classes)},
            {"clock", clock_json(result.clock)},
            {"kernel_alone_clock", clock_json(result.kernel_clock)},
            {"flows", result.flows},
            {"estimate", estimate_json(result.estimate)}};
  for (const StreamTimes& stream : result.streams)
    json["streams"][stream.name] = side_json(stream.times);
  if (result.best_cus) json["best_cus"] = *result.best_cus;
  if (!result.notes.empty()) json["notes"] = result.notes;
  return json;
}

Json recommendation_json(const StudyResult& study) {
  const auto recommendation = recommend(study);
  if (!recommendation) return nullptr;
  Json rules = Json::array();
  for (const PickedByRule& rule : recommendation->rules)
    rules.push_back({{"rule", name_of(rule.pick.rule)},
                     {"strategy", rule.pick.strategy},
                     {"cus", rule.pick.cus > 0 ? Json(rule.pick.cus) : Json()},
                     {"time_us", us(rule.pick.time)},
                     {"regret", rule.regret}});
  return {{"strategy", recommendation->strategy ? Json(*recommendation->strategy) : Json()},
          {"reason", recommendation->reason},
          {"rules", std::move(rules)}};
}

}  // namespace

std::string out_of_memory_json(const OutOfMemory& verdict) {
  Json json{{"schema_version", kJsonSchemaVersion},
            {"experiment", verdict.experiment},
            {"verdict", "out_of_memory"},
            {"memory", memory_json(verdict.step)}};
  if (!verdict.draws.empty()) json["draws"] = verdict.draws;
  return json.dump(2) + "\n";
}

std::string study_json(const StudyResult& study, const std::filesystem::path& output,
                       const std::vector<std::string>& missing,
                       const std::vector<ImpossibleStrategy>& impossible) {
  Json strategies = Json::array();
  for (const auto& strategy : study.strategies)
    strategies.push_back(strategy_json(strategy));
  Json json{{"schema_version", kJsonSchemaVersion},
            {"experiment", study.experiment},
            {"seed", study.seed},
            {"system", study.conditions.system},
            {"hbm_arbitration", name_of(study.conditions.hbm_arbitration)},
            {"dispatch_policy", name_of(study.conditions.dispatch_policy)},
            {"clock_state", clock_json(study.conditions.clock_state)},
            {"sustained_level", level_json(study.conditions.level)},
            {"seeds", study.conditions.seeds},
            {"draws", study.conditions.draws},
            {"output", to_utf8(output.string())},
            {"strategies", std::move(strategies)},
            {"recommendation", recommendation_json(study)},
            {"words", run_words(study)}};
  for (const ImpossibleStrategy& strategy : impossible)
    json["impossible_strategies"].push_back({{"strategy", strategy.name}, {"why", strategy.why}});
  if (!missing.empty()) json["missing_strategies"] = missing;
  return json.dump(2) + "\n";
}

}}  // namespace c3::results
