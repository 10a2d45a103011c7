#include "workloads/execute/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "workloads/execute/buffers.hpp"
#include "workloads/execute/loss_split.hpp"
#include "workloads/execute/lower_bound.hpp"
#include "workloads/execute/nearest_rank.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/execute/steady_state.hpp"

namespace c3 {
namespace {

/// One repetition of a strategy: which draw and seed, and how long it took.
struct Sample {
  std::size_t draw = 0;  ///< position in Study::experiments_
  std::uint64_t seed = 0;
  Seconds time, kernels, collectives;
  std::vector<Seconds> streams;
  std::vector<std::string> notes = {};
  std::optional<StepBreakdown> step = {};
  bool is_shortened = false;
};

/// Whether \p experiment sets stream beside stream, and not kernels beside collectives.
bool compares_streams(const Experiment& experiment) {
  bool kernels = false, collectives = false;
  for (const StreamSpec& stream : experiment.streams) {
    for (const Operation& operation : stream.operations) {
      kernels = kernels || kernel_of(operation).has_value();
      collectives = collectives || std::holds_alternative<CollectiveCall>(operation.work);
    }
  }
  return experiment.streams.size() > 1 && kernels != collectives;
}

/// Nearest-rank percentile, so that it is one of the samples. \p samples must be sorted and not empty.
const Sample& percentile(const std::vector<Sample>& samples, double percent) {
  return samples[nearest_rank(samples.size(), percent)];
}

class Study {
 public:
  Study(const ExperimentFactory& make, Progress progress) : progress_(std::move(progress)) {
    experiments_.push_back(make(std::nullopt));
    const int draws = experiments_.front().measure.draws;
    if (draws > 0) {
      experiments_.clear();
      for (int draw = 0; draw < draws; ++draw)
        experiments_.push_back(make(static_cast<std::uint64_t>(draw)));
    }
    for (const Experiment& experiment : experiments_)
      check_buffers(experiment);
    plan_runs();
  }

  StudyResult run() {
    const Experiment& experiment = experiments_.front();
    measure_alone();
    std::vector<std::vector<Sample>> samples;
    std::vector<CuChoice> chosen;
    for (const Strategy& strategy : experiment.strategies) {
      auto [best, choice] = best_samples(strategy);
      samples.push_back(std::move(best));
      chosen.push_back(std::move(choice));
    }
    const Seconds serial = serial_time(samples);
    StudyResult result{experiment.name, experiment.measure.seed, conditions_of(experiment), {}};
    for (std::size_t i = 0; i < samples.size(); ++i) {
      result.strategies.push_back(evaluate(experiment.strategies[i], samples[i], chosen[i], serial));
    }
    return result;
  }

 private:
  bool has_loss_split(const Strategy& strategy) const {
    return experiments_.front().measure.loss_split && !strategy.serial;
  }

  void plan_runs() {
    const Experiment& experiment = experiments_.front();
    const auto seeds = static_cast<std::size_t>(experiment.measure.seeds);
    planned_ = 2 * experiments_.size() * seeds;  // the two isolated sides
    if (compares_streams(experiment)) planned_ += experiment.streams.size() * experiments_.size() * seeds;
    for (const Strategy& strategy : experiment.strategies) {
      planned_ += cu_choices(experiment, strategy).size() * experiments_.size() * seeds;
      if (has_loss_split(strategy)) planned_ += loss_split_runs(experiment, strategy) * seeds;
    }
  }

  void note_run() {
    ++ran_;
    if (progress_) progress_(ran_, planned_);
  }

  /// \p setup with every draw and seed.
  std::vector<Sample> sample(const Strategy& strategy, RunSetup setup) {
    std::vector<Sample> samples;
    for (std::size_t draw = 0; draw < experiments_.size(); ++draw) {
      for (int seed = 0; seed < experiments_[draw].measure.seeds; ++seed) {
        setup.seed = static_cast<std::uint64_t>(seed);
        const RunResult run = run_step(experiments_[draw], strategy, setup);
        samples.push_back(
            {draw, setup.seed, run.time, run.kernels.duration(), run.collectives.duration(), {}, run.notes});
        samples.back().step = run.step;
        samples.back().is_shortened = run.is_shortened;
        for (const SideSpan& span : run.streams)
          samples.back().streams.push_back(span.duration());
        has_kernels_ = has_kernels_ || run.kernels.any;
        has_collectives_ = has_collectives_ || run.collectives.any;
        note_run();
      }
    }
    return samples;  // by draw, then seed
  }

  static std::vector<Sample> by_time(std::vector<Sample> samples) {
    std::ranges::stable_sort(samples, {}, &Sample::time);
    return samples;
  }

  void measure_alone() {
    const Strategy alone{.name = "alone", .order = {}, .streams = {}};
    std::vector<std::vector<Sample>> parts = {sample(alone, {.side = Side::kernels}),
                                              sample(alone, {.side = Side::collectives})};
    alone_kernels_ = median(parts[0]);
    alone_collectives_ = median(parts[1]);
    if (compares_streams(experiments_.front())) {
      parts.clear();
      for (std::size_t stream = 0; stream < experiments_.front().streams.size(); ++stream) {
        parts.push_back(sample(alone, {.only_stream = stream}));
        alone_streams_.push_back(median(parts.back()));
      }
    }
    set_ideal(parts);
  }

  static Seconds median(const std::vector<Sample>& samples) { return percentile(by_time(samples), 50).time; }

  /// All \p parts at once, none hindering another.
  void set_ideal(const std::vector<std::vector<Sample>>& parts) {
    ideal_.resize(experiments_.size());
    for (const std::vector<Sample>& part : parts) {
      for (std::size_t draw = 0; draw < ideal_.size(); ++draw) {
        std::vector<Sample> of_draw;
        std::ranges::copy_if(part, std::back_inserter(of_draw), [draw](const Sample& s) { return s.draw == draw; });
        ideal_[draw] = std::max(ideal_[draw], median(of_draw));
      }
      alone_longest_ = std::max(alone_longest_, median(part));
      alone_sum_ += median(part);
    }
  }

  std::pair<std::vector<Sample>, CuChoice> best_samples(const Strategy& strategy) {
    std::pair<std::vector<Sample>, CuChoice> best;
    for (const CuChoice& choice : cu_choices(experiments_.front(), strategy)) {
      std::vector<Sample> samples = by_time(sample(strategy, {.cus = choice}));
      if (best.first.empty() || percentile(samples, 50).time < percentile(best.first, 50).time) {
        best = {std::move(samples), choice};
      }
    }
    return best;
  }

  /// Median of the first serial strategy; of all parts in turn when the experiment has none.
  Seconds serial_time(const std::vector<std::vector<Sample>>& samples) const {
    const auto& strategies = experiments_.front().strategies;
    for (std::size_t i = 0; i < strategies.size(); ++i) {
      if (strategies[i].serial) return percentile(samples[i], 50).time;
    }
    return alone_sum_;
  }

  StrategyResult evaluate(const Strategy& strategy, const std::vector<Sample>& samples, const CuChoice& cus,
                          Seconds serial) {
    const Sample& middle = percentile(samples, 50);
    const Experiment& experiment = experiments_[middle.draw];
    StrategyResult result;
    result.name = strategy.name;
    result.time = middle.time;
    if (samples.size() > 1) {
      result.spread = TimeSpread{percentile(samples, 5).time, percentile(samples, 95).time};
    }
    result.recorded_seed = middle.seed;
    result.notes = middle.notes;
    if (experiment.measure.draws > 0) result.recorded_draw = middle.draw;

    if (middle.step) result.step = step_result(experiment, middle);
    result.lower_bound = bound_of(strategy, experiment);
    check_bounds(strategy, samples);

    result.speedup = serial / result.time;
    result.ideal_speedup = alone_sum_ / alone_longest_;
    if (result.ideal_speedup > 1.0)
      result.share_of_ideal = (result.speedup - 1.0) / (result.ideal_speedup - 1.0);
    if (has_kernels_) result.kernel = {alone_kernels_, middle.kernels};
    if (has_collectives_) result.collective = {alone_collectives_, middle.collectives};
    for (std::size_t i = 0; i < alone_streams_.size(); ++i)
      result.streams.push_back({experiment.streams[i].name, {alone_streams_[i], middle.streams[i]}});
    result.cus = cus;
    for (std::size_t i = 0; i < cus.size(); ++i) {
      if (policy_of(strategy, experiment.streams[i].name).cus.is_swept()) result.best_cus = cus[i];
    }
    if (has_loss_split(strategy)) result.loss = loss(strategy, middle.draw, cus);
    return result;
  }

  static StepResult step_result(const Experiment& experiment, const Sample& sample) {
    const StepFacts& facts = *experiment.step;
    return {.facts = facts,
            .is_shortened = sample.is_shortened,
            .times = *sample.step,
            .tokens_per_second = static_cast<double>(facts.tokens) / sample.time.value,
            .mfu = facts.model_flops / facts.peak / sample.time,
            .hfu = facts.hardware_flops / facts.peak / sample.time,
            .gpus = experiment.cluster.ranks()};
  }

  static Seconds bound_of(const Strategy& strategy, const Experiment& experiment) {
    const LowerBound bound = lower_bound(experiment, strategy);
    return strategy.serial ? bound.serial : bound.together();
  }

  /// Each time against the bound of its own draw.
  void check_bounds(const Strategy& strategy, const std::vector<Sample>& samples) const {
    for (const Sample& sample : samples) {
      const Seconds bound = bound_of(strategy, experiments_[sample.draw]);
      if (sample.time >= bound) continue;
      throw std::logic_error(fmt::format("strategy '{}' took {} s, less than its lower bound of {} s",
                                         strategy.name, sample.time.value, bound.value));
    }
  }

  LossSplit loss(const Strategy& strategy, std::size_t draw, const CuChoice& cus) {
    const Experiment& experiment = experiments_[draw];
    std::vector<std::uint64_t> seeds(static_cast<std::size_t>(experiment.measure.seeds));
    std::iota(seeds.begin(), seeds.end(), 0);
    return split_loss(experiment, strategy, cus, seeds, ideal_[draw], [this] { note_run(); });
  }

  Progress progress_;
  std::vector<Experiment> experiments_;  ///< one per draw; one when nothing is drawn
  std::size_t ran_ = 0, planned_ = 0;
  Seconds alone_kernels_, alone_collectives_;  ///< medians
  std::vector<Seconds> alone_streams_;         ///< medians; empty unless streams are compared
  Seconds alone_sum_, alone_longest_;          ///< of the parts' medians
  std::vector<Seconds> ideal_;                 ///< by draw: the longest of the parts' medians over seeds
  bool has_kernels_ = false, has_collectives_ = false;
};

}  // namespace

StudyConditions conditions_of(const Experiment& experiment) {
  const GpuSpec& gpu = experiment.cluster.gpu;
  return {.system = title_of(experiment.cluster),
          .hbm_arbitration = gpu.hbm.arbitration,
          .dispatch_policy = gpu.dispatch.policy,
          .seeds = experiment.measure.seeds,
          .draws = experiment.measure.draws};
}

StudyResult run_study(const ExperimentFactory& make, const Progress& progress) {
  return Study(make, progress).run();
}

std::vector<CollectiveRecord> record_run(const Experiment& experiment, const StrategyResult& result,
                                         Observer& observer) {
  const auto strategy = std::ranges::find(experiment.strategies, result.name, &Strategy::name);
  if (strategy == experiment.strategies.end()) throw std::logic_error("record_run: no strategy " + result.name);
  RunSetup setup;
  setup.cus = result.cus;
  setup.seed = result.recorded_seed;
  setup.observer = &observer;
  const bool is_shortened = result.step && result.step->is_shortened;
  return run_once(is_shortened ? abridged(experiment) : experiment, *strategy, setup).records;
}

}  // namespace c3
