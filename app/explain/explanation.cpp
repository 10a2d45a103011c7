#include "app/explain/explanation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>
#include <utility>

#include "app/command/progress_line.hpp"
#include "app/explain/explain_schedule.hpp"
#include "app/explain/explained_texts.hpp"
#include "base/json.hpp"
#include "base/nearest_name.hpp"
#include "base/usage_error.hpp"
#include "configs/toml/config_error.hpp"
#include "engine/errors.hpp"
#include "results/ranking.hpp"
#include "workloads/analysis/nearest_rank.hpp"
#include "workloads/analysis/shorter_steps.hpp"
#include "workloads/analysis/step_outline.hpp"
#include "workloads/training/training_step.hpp"

namespace c3 { inline namespace app {
namespace {

const Strategy& strategy_named(const ExplainRequest& request, const Experiment& experiment) {
  const std::vector<Strategy>& all = experiment.strategies;
  if (request.strategy.empty()) {
    const auto found = std::ranges::find_if_not(all, &Strategy::serial);
    return found == all.end() ? all.front() : *found;
  }
  const auto found = std::ranges::find(all, request.strategy, &Strategy::name);
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const Strategy& strategy : all)
    names.push_back(strategy.name);
  throw UsageError("--strategy: " + unknown_name("strategy", request.strategy, names));
}

/// Whether bytes move on \p streams, or only recorded times pass.
bool moves_bytes(const Program& program, const std::vector<std::size_t>& streams) {
  const auto is_of = [&](std::size_t stream) { return std::ranges::find(streams, stream) != streams.end(); };
  const bool calls = std::ranges::any_of(
      program.calls, [&](const Call& call) { return !call.is_timed && is_of(call.stream); });
  bool messages = false;
  for (const Script& script : program.scripts) {
    for (const std::size_t stream : streams)
      messages = messages || std::ranges::any_of(script.streams[stream], [](const Operation& operation) {
                   return std::holds_alternative<Exchange>(operation.work);
                 });
  }
  return calls || messages;
}

/// What is to be simulated, and where its results go.
class Explainer {
 public:
  Explainer(const ExplainRequest& request, const ExperimentFile& file)
      : request_(request),
        experiment_(made(file)),
        strategy_(strategy_named(request, experiment_)),
        causes_(causes_of(experiment_, strategy_)) {}

  Explanation explain(const WaterfallKnown& waterfall_known) {
    cus_ = best_partition_in_worker();
    plan_as_it_is();
    plan_path();
    if (!request_.page.empty()) plan_schedule();
    run_planned();
    as_it_is_ = compared_of(results_[as_it_is_task_]);
    plan_waterfall();
    run_planned();
    Explanation explanation = without_levers();
    waterfall_known(explanation);
    if (!request_.levers) return explanation;
    plan_levers();
    run_planned();
    explanation.levers = lever_results();
    explanation.choices = choice_results(explanation.waterfall);
    return explanation;
  }

 private:
  /// Positions of one lever's tasks, indexed by draw, the nominal values first.
  struct LeverTasks {
    std::vector<std::size_t> low, high;
    std::size_t improved = 0;
  };

  Explanation without_levers() const {
    const WaterfallRuns runs = waterfall_runs();
    Explanation explanation{.experiment = experiment_.name,
                            .system = title_of(experiment_.cluster),
                            .strategy = strategy_.name,
                            .seeds = experiment_.measure.seeds,
                            .waterfall = waterfall_of(runs),
                            .interference = interference_split(runs),
                            .communication = {},
                            .path = c3::path_of(results_[path_]),
                            .path_of = {},
                            .levers = {},
                            .choices = {},
                            .schedule = {}};
    if (may_be_shortened(experiment_)) explanation.path_of = abridged_part(experiment_);
    explanation.communication = communication();
    if (schedule_) explanation.schedule = schedule_of_json(results_[*schedule_]);
    return explanation;
  }

  /// The tasks that were added since.
  void run_planned() {
    const std::vector<ParallelTask> added(tasks_.begin() + std::ssize(results_), tasks_.end());
    for (std::string& result : run(added))
      results_.push_back(std::move(result));
  }

  std::vector<std::string> run(const std::vector<ParallelTask>& tasks) const {
    ProgressLine progress(request_.quiet, "simulations");
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    return run_in_parallel(tasks, request_.jobs > 0 ? request_.jobs : cores,
                           [&](std::size_t done) { progress(done, tasks.size()); });
  }

  /// No simulation runs in this process: each has one engine.
  CuChoice best_partition_in_worker() const {
    const std::vector<CuChoice> choices = cu_choices(experiment_, strategy_);
    if (choices.size() == 1) return choices.front();
    const ParallelTask task{"the best partition",
                            [this] { return Json(best_partition(experiment_, strategy_)).dump(); }};
    CuChoice best;
    const Json json = Json::parse(run({task}).front());
    for (const Json& cus : json.elements())
      best.push_back(static_cast<int>(cus.integer()));
    return best;
  }

  std::size_t add(std::string name, std::function<std::string()> work) {
    tasks_.push_back({std::move(name), std::move(work)});
    return tasks_.size() - 1;
  }

  std::size_t add_run(std::string name, CauseSet removed) {
    const auto known = sets_.find(removed);
    if (known != sets_.end()) return known->second;
    const std::size_t task = add(std::move(name), [this, removed] {
      return variant_text(without(experiment_, strategy_, causes_in(removed, causes_)));
    });
    sets_.emplace(removed, task);
    return task;
  }

  int seeds() const { return experiment_.measure.seeds; }

  void plan_as_it_is() {
    as_it_is_task_ = add("the run as it is", [this] {
      return text_of(compared_run(without(experiment_, strategy_, {}), cus_, seeds()));
    });
  }

  /// In a worker: what run_of_variant() reads.
  std::string variant_text(const Counterfactual& variant) const {
    return text_of(explained_run(variant, cus_, seeds(), as_it_is_.sizes));
  }

  ExplainedRun run_of_variant(std::size_t task) const {
    return scaled(run_of(results_[task]), as_it_is_.over_variant);
  }

  void plan_waterfall() {
    for (const CauseOrder& order : cause_orders(causes_))
      for (const CauseSet set : sets_along(order))
        if (set != 0) add_run("a counterfactual run", set);
    for (std::size_t cause = 0; cause < causes_.size(); ++cause) {
      if (causes_[cause].kind != CauseKind::communication) continue;
      free_.push_back(add_run(causes_[cause].name(), CauseSet{1} << cause));
      least_.push_back(add("latency of " + causes_[cause].name(), [this, cause] {
        const Experiment least = with_least_bytes(experiment_, causes_[cause].streams);
        return variant_text(without(least, strategy_, {}));
      }));
    }
    if (!experiment_.step || training_of(experiment_).recompute == Recompute::none) return;
    std::vector<std::string> sets = request_.sets;
    sets.emplace_back("training.recompute=\"none\"");
    if (training_of(experiment_).recompute_every > 1) sets.emplace_back("~training.recompute_every");
    not_recomputed_ = made(ExperimentFile::load(request_.file, sets));
    without_recomputation_ = add("the step without recomputation", [this] {
      return variant_text(without(*not_recomputed_, strategy_, causes_));
    });
  }

  void plan_path() {
    path_ = add("the critical path", [this] { return text_of(critical_path(experiment_, strategy_, cus_)); });
  }

  void plan_schedule() {
    schedule_ =
        add("the schedule", [this] { return schedule_json(step_schedule(experiment_, strategy_, cus_)); });
  }

  std::size_t add_lever(const Lever& lever, const MovedExperiment& moved, std::optional<std::uint64_t> draw) {
    return add(lever.name, [this, moved, draw] { return variant_text(without(moved(draw), strategy_, {})); });
  }

  void plan_levers() {
    levers_ = levers_of(request_, experiment_);
    for (const Lever& lever : levers_) {
      LeverTasks& tasks = lever_tasks_.emplace_back();
      for (int draw = -1; draw < request_.draws; ++draw) {
        const auto of_draw = draw < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(draw));
        tasks.low.push_back(add_lever(lever, lever.at_low, of_draw));
        tasks.high.push_back(add_lever(lever, lever.at_high, of_draw));
      }
      tasks.improved = add_lever(lever, lever.improved, std::nullopt);
    }
  }

  WaterfallRuns waterfall_runs() const {
    WaterfallRuns runs{.causes = causes_, .runs = {{0, as_it_is_.run}}, .work = {}};
    for (const auto& [set, task] : sets_)
      runs.runs.emplace(set, run_of_variant(task));
    if (without_recomputation_) runs.without_recomputation = run_of_variant(*without_recomputation_);
    runs.work = kernel_work(not_recomputed_ ? *not_recomputed_ : experiment_);
    if (experiment_.step) runs.model_at_peak = experiment_.step->model_at_peak();
    return runs;
  }

  /// How exposed communication divides in the run as it is. Bandwidth and latency divide the time in which
  /// bytes move as they divide what the kind costs in all.
  std::vector<CommunicationSplit> communication() const {
    const ExplainedRun& as_it_is = as_it_is_.run;
    std::vector<CommunicationSplit> splits;
    std::size_t number = 0;
    for (const Cause& cause : causes_) {
      if (cause.kind != CauseKind::communication) continue;
      const Seconds all = as_it_is.time - run_of_variant(free_[number]).time;
      const Seconds moving = as_it_is.time - run_of_variant(least_[number]).time;
      ++number;
      const auto exposed = std::ranges::find(as_it_is.exposed, cause.what, &ExposedTime::kind);
      if (exposed == as_it_is.exposed.end()) continue;
      CommunicationSplit split{.name = cause.what, .exposed = exposed->time, .waiting = exposed->waiting};
      constexpr double kNothing = 1e-6;
      if (all.value > kNothing * as_it_is.time.value && moves_bytes(experiment_.program, cause.streams)) {
        const Seconds moves = exposed->time - exposed->waiting;
        split.bandwidth = std::clamp(moving / all, 0.0, 1.0) * moves;
        split.latency = moves - *split.bandwidth;
      }
      splits.push_back(std::move(split));
    }
    return splits;
  }

  static double elasticity(Seconds low, Seconds high) {
    return std::log(high / low) / (2.0 * std::log(kLeverStep));
  }

  std::vector<LeverResult> lever_results() const {
    std::vector<LeverResult> results;
    for (std::size_t i = 0; i < levers_.size(); ++i) {
      const LeverTasks& tasks = lever_tasks_[i];
      std::vector<double> drawn;
      for (std::size_t draw = 1; draw < tasks.low.size(); ++draw)
        drawn.push_back(elasticity(time_of_task(tasks.low[draw]), time_of_task(tasks.high[draw])));
      std::ranges::sort(drawn);
      LeverResult result{.name = levers_[i].name,
                         .kind = levers_[i].kind,
                         .at_low = time_of_task(tasks.low.front()),
                         .at_high = time_of_task(tasks.high.front()),
                         .improved = time_of_task(tasks.improved)};
      result.elasticity = elasticity(result.at_low, result.at_high);
      if (!drawn.empty()) {
        result.p5 = drawn[nearest_rank(drawn.size(), 5)];
        result.p95 = drawn[nearest_rank(drawn.size(), 95)];
      }
      results.push_back(std::move(result));
    }
    return ranked(std::move(results), &LeverResult::saving);
  }

  /// Runs the step with \p choice, and returns its time or why it cannot run, as a text.
  std::string try_choice(const Choice& choice) const {
    try {
      KeyChange key = choice.key;
      const Experiment changed =
          with_change(request_.file, request_.sets, key, experiment_.step ? experiment_.step->tokens : 0)
              .file.nominal();
      if (changed.step && !changed.step->fits()) throw InfeasibleError("does not fit in memory");
      const auto strategy = std::ranges::find(changed.strategies, strategy_.name, &Strategy::name);
      // The partition of its streams, which may be others.
      const CuChoice cus = best_partition(changed, *strategy);
      const ExplainedRun run = explained_run(without(changed, *strategy, {}), cus, seeds());
      return Json{{"sets", key.sets}, {"time", run.time.value}}.dump();
    } catch (const ConfigError& error) {
      return Json{{"problem", error.what()}}.dump();
    } catch (const InfeasibleError& error) {
      return Json{{"problem", error.what()}}.dump();
    }
  }

  std::vector<ChoiceResult> choice_results(const Waterfall& fall) const {
    const std::vector<Choice> choices = choices_of(experiment_, fall);
    std::vector<ParallelTask> tasks;
    for (const Choice& choice : choices)
      tasks.push_back({choice.key.what, [this, &choice] { return try_choice(choice); }, true});
    const std::vector<std::string> texts = run(tasks);
    std::vector<ChoiceResult> results;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      ChoiceResult& result = results.emplace_back(ChoiceResult{.choice = choices[i]});
      if (texts[i].empty()) {
        result.problem = "its simulation was killed, as when memory runs out";
        continue;
      }
      const Json json = Json::parse(texts[i]);
      if (json.contains("problem")) {
        result.problem = json["problem"].text();
        continue;
      }
      result.time = Seconds{json["time"].number()};
      result.choice.key.sets = json["sets"].texts();
    }
    return ranked(std::move(results), [&](const ChoiceResult& result) { return result.saving(fall.time); });
  }

  Seconds time_of_task(std::size_t task) const { return run_of_variant(task).time; }

  const ExplainRequest& request_;
  Experiment experiment_;
  const Strategy& strategy_;
  std::vector<Cause> causes_;
  CuChoice cus_;
  std::optional<Experiment> not_recomputed_;
  std::vector<Lever> levers_;

  std::vector<ParallelTask> tasks_;
  std::size_t as_it_is_task_ = 0;
  ComparedRun as_it_is_;
  std::map<CauseSet, std::size_t> sets_;  ///< tasks by what is impossible in them; without the run as it is
  std::vector<std::size_t> free_, least_;
  std::optional<std::size_t> without_recomputation_;
  std::size_t path_ = 0;
  std::optional<std::size_t> schedule_;
  std::vector<LeverTasks> lever_tasks_;
  std::vector<std::string> results_;  ///< one per task
};

}  // namespace

Experiment made(const ExperimentFile& file, std::optional<std::uint64_t> draw) {
  return draw ? file.make(draw) : with_program(file.nominal());
}

Explanation explain(const ExplainRequest& request, const ExperimentFile& file,
                    const WaterfallKnown& waterfall_known) {
  return Explainer(request, file).explain(waterfall_known);
}

}}  // namespace c3::app
