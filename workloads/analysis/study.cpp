#include "workloads/analysis/study.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <numeric>
#include <utility>

#include "engine/interrupt.hpp"
#include "workloads/analysis/library_choices.hpp"
#include "workloads/analysis/loss_split.hpp"
#include "workloads/analysis/periodic_power.hpp"
#include "workloads/analysis/sides_alone.hpp"
#include "workloads/analysis/steady_state.hpp"
#include "workloads/analysis/study_bounds.hpp"
#include "workloads/analysis/study_samples.hpp"
#include "workloads/execute/memory_plan.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/execute/shared_schedules.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// The repetitions of one setup: every draw and seed, in turn.
struct Series {
  const Strategy* strategy = nullptr;
  RunSetup setup;
  StudyPart part = StudyPart::together;
  Seconds bound = {};                   ///< no repetition of nominal values ends before; 0 where unknown
  const Strategy* heated_by = nullptr;  ///< whose repetition the boards come from; nullptr: of what runs itself
  std::vector<Sample> samples = {};
};

/// What is left of a strategy's partitions.
struct Best {
  std::vector<Sample> samples;  ///< by time
  CuChoice cus;
};

class Study {
 public:
  Study(const ExperimentFactory& make, const StudyWatch& watch)
      : watch_(watch),
        experiments_(all_draws(make)),
        steps_(experiments_.begin(), experiments_.end()),
        memory_(checked_memory()),
        cost_(plan()) {}

  StudyResult run() {
    const Experiment& experiment = experiments_.front();
    std::vector<Series> alone = alone_series();
    const auto serial = std::ranges::find_if(experiment.strategies, &Strategy::serial);
    const auto other = std::ranges::find_if_not(experiment.strategies, &Strategy::serial);
    for (Series& series : alone)
      extend(series);
    for (const auto& first : {serial, other}) {
      if (first != experiment.strategies.end()) extend(pilots_.emplace_back(series_of(*first).front()));
    }
    if (!alone.empty()) measure_alone(alone);
    if (is_heated_apart()) measure_in_turn(*serial);

    // Every speedup needs the first serial strategy, or without one the isolated runs in turn.
    std::optional<Best> serial_best;
    if (serial != experiment.strategies.end()) serial_best = best_of(*serial);
    std::optional<Seconds> serial_time;
    if (!alone.empty()) serial_time = alone_sum_;
    if (serial_best) serial_time = percentile(serial_best->samples, 50).time();

    LibraryChoices choices(experiment);
    StudyResult result{experiment.name, experiment.measure.seed, conditions_of(experiment), {}};
    for (const Strategy& strategy : experiment.strategies) {
      const bool is_serial = serial_best && &strategy == &*serial;
      const Best best = is_serial ? std::move(*serial_best) : best_of(strategy);
      if (is_serial) serial_best.reset();
      result.strategies.push_back(evaluate(strategy, best.samples, best.cus, serial_time));
      if (watch_.recorder == nullptr) continue;
      if (std::optional<std::string> note = choices.note(strategy))
        result.strategies.back().notes.push_back(std::move(*note));
      finish(strategy, result.strategies.back(), best.samples);
    }
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static std::vector<Experiment> all_draws(const ExperimentFactory& make) {
    std::vector<Experiment> experiments;
    experiments.push_back(make(std::nullopt));
    const int draws = experiments.front().measure.draws;
    if (draws > 0) experiments.clear();
    for (int draw = 0; draw < draws; ++draw) {
      checkpoint();
      experiments.push_back(make(static_cast<std::uint64_t>(draw)));
    }
    return experiments;
  }

  std::vector<ExperimentMemory> checked_memory() const {
    std::vector<ExperimentMemory> memory;
    for (const Experiment& experiment : experiments_) {
      checkpoint();
      memory.emplace_back(experiment);
    }
    return memory;
  }

  std::size_t repetitions() const {
    return experiments_.size() * static_cast<std::size_t>(experiments_.front().measure.seeds);
  }

  bool has_loss_split(const Strategy& strategy) const {
    return experiments_.front().measure.loss_split && !strategy.serial;
  }

  StudyCost plan() const {
    const Experiment& experiment = experiments_.front();
    const std::size_t sides = experiment.measure.alone ? 2 + compared_streams() : 0;
    std::size_t partitions = 0, subsets = 0, recorded = 0, settings = is_heated_apart() ? 2 : 1;
    for (const Strategy& strategy : experiment.strategies) {
      if (!is_default(own_settings(strategy))) ++settings;
      partitions += cu_choices(experiment, strategy).size();
      if (watch_.recorder != nullptr && !runs_once(strategy)) ++recorded;
      if (has_loss_split(strategy)) subsets += loss_split_runs(experiment, strategy);
    }
    StudyCost cost({.seeds = experiment.measure.seeds,
                    .draws = experiment.measure.draws,
                    .strategies = experiment.strategies.size(),
                    .partitions = partitions});
    cost.plan(StudyPart::alone, settings * sides * repetitions());
    cost.plan(StudyPart::together, partitions * repetitions());
    cost.plan(StudyPart::split, subsets * static_cast<std::size_t>(experiment.measure.seeds));
    cost.plan(StudyPart::recorded, recorded);
    return cost;
  }

  /// Whether \p strategy has one whole run, whose time is then the median.
  bool runs_once(const Strategy& strategy) const {
    return repetitions() == 1 && cu_choices(experiments_.front(), strategy).size() == 1 &&
           !may_be_shortened(experiments_.front());
  }

  void begin_run(Seconds bound) {
    cost_.begin(bound);
    began_ = Clock::now();
    if (watch_.progress) watch_.progress(cost_);
  }

  void end_run(StudyPart part) {
    cost_.end(part, Clock::now() - began_);
    if (watch_.progress) watch_.progress(cost_);
  }

  /// Streams that are sides of their own.
  std::size_t compared_streams() const {
    const Program& program = experiments_.front().program;
    return compares_streams(program) ? program.streams.size() : 0;
  }

  /// Whether sides that run in turn, again and again, leave boards cooler than each side does by itself.
  bool is_heated_apart() const {
    const Experiment& experiment = experiments_.front();
    return experiment.measure.alone && heats_its_boards(experiment) &&
           std::ranges::any_of(experiment.strategies, &Strategy::serial);
  }

  /// Kernels, collectives, and where streams are compared each of them, alone under \p settings.
  std::vector<Series> sides_of(const Strategy& settings, const CuChoice& cus = {},
                               const LowerBound& bound = {}) const {
    std::vector<Series> series = {
        {&settings, {.cus = cus, .filter = OperationFilter::kernels}, StudyPart::alone, bound.kernels},
        {&settings, {.cus = cus, .filter = OperationFilter::collectives}, StudyPart::alone, bound.collectives}};
    for (std::size_t stream = 0; stream < compared_streams(); ++stream)
      series.push_back({&settings, {.cus = cus, .only_stream = stream}, StudyPart::alone});
    return series;
  }

  /// Under default settings; none without Measure::alone. The first strategy's bound holds for them, too: all
  /// that a strategy changes of it is what collectives of a fused backend need not read.
  std::vector<Series> alone_series() {
    const Experiment& experiment = experiments_.front();
    if (!experiment.measure.alone) return {};
    return sides_of(alone_, {}, bounds_.if_known(experiment.strategies.front()));
  }

  /// One for each partition that \p strategy tries.
  std::vector<Series> series_of(const Strategy& strategy) {
    const LowerBound bound = bounds_.if_known(strategy);
    std::vector<Series> series;
    for (const CuChoice& choice : cu_choices(experiments_.front(), strategy))
      series.push_back({&strategy, {.cus = choice}, StudyPart::together, of(strategy, bound)});
    return series;
  }

  /// An observed run makes schedules of its own, and those of others would lie beside them in memory, as would
  /// shorter steps.
  RunListeners begin_recording(const Strategy& strategy, const Experiment& experiment,
                               const std::string& abridged) {
    *schedules_ = {};
    for (ShorterSteps& steps : steps_)
      steps.clear();
    return watch_.recorder->begin(strategy, experiment, abridged);
  }

  /// Simulates the next repetition.
  void extend(Series& series) {
    const auto seeds = static_cast<std::size_t>(experiments_.front().measure.seeds);
    const std::size_t draw = series.samples.size() / seeds;
    series.setup.seed = series.samples.size() % seeds;
    series.setup.schedules = schedules_;
    if (series.setup.seed == 0)
      series.setup.power = series.heated_by != nullptr
                               ? periodic_start(experiments_[draw], *series.heated_by, {})
                               : periodic_start(experiments_[draw], *series.strategy, series.setup);
    const bool is_recorded =
        watch_.recorder != nullptr && series.part == StudyPart::together && runs_once(*series.strategy);
    if (is_recorded) {
      const RunListeners listeners = begin_recording(*series.strategy, experiments_[draw], "");
      series.setup.observer = listeners.observer;
      series.setup.launches = listeners.launches;
    }
    begin_run(series.bound);
    Sample& sample = series.samples.emplace_back(
        Sample{draw, series.setup.seed, run_step(steps_[draw], *series.strategy, series.setup)});
    RunResult& run = sample.run;
    if (!is_recorded) run.records = {};
    has_kernels_ = has_kernels_ || run.kernels.any;
    has_collectives_ = has_collectives_ || run.collectives.any;
    end_run(series.part);
  }

  const std::vector<Sample>& complete(Series& series) {
    while (series.samples.size() < repetitions())
      extend(series);
    return series.samples;
  }

  AloneTimes alone_times(std::vector<Series>& sides) {
    const std::vector<Sample> kernels = by_time(complete(sides[0]));
    AloneTimes times{.kernels = percentile(kernels, 50).time(),
                     .collectives = median(complete(sides[1])),
                     .streams = {},
                     .clock = clock_of(percentile(kernels, 50).run)};
    for (std::size_t i = 2; i < sides.size(); ++i)
      times.streams.push_back(median(complete(sides[i])));
    return times;
  }

  void measure_alone(std::vector<Series>& series) {
    default_times_ = alone_times(series);
    ideal_.resize(experiments_.size());
    for (std::size_t part = default_times_.streams.empty() ? 0 : 2; part < series.size(); ++part) {
      for (std::size_t draw = 0; draw < ideal_.size(); ++draw)
        ideal_[draw] = std::max(ideal_[draw], median_of_draw(series[part].samples, draw));
    }
    alone_sum_ = default_times_.sum();
  }

  /// The parts in turn take as long as each does on boards that \p serial heats.
  void measure_in_turn(const Strategy& serial) {
    std::vector<Series> series = sides_of(alone_);
    for (Series& its : series)
      its.heated_by = &serial;
    alone_sum_ = alone_times(series).sum();
  }

  /// What the sides take alone under backends, channels and partition of \p strategy.
  AloneTimes own_times(const Strategy& strategy, const CuChoice& cus) {
    const Strategy own = own_settings(strategy);
    if (is_default(own)) return default_times_;
    std::vector<Series> series = sides_of(own, cus);
    return alone_times(series);
  }

  /// All repetitions of the partition with the least median.
  Best best_of(const Strategy& strategy) {
    std::vector<Series> partitions = series_of(strategy);
    const auto pilot = std::ranges::find(pilots_, &strategy, &Series::strategy);
    if (pilot != pilots_.end()) partitions.front() = std::move(*pilot);
    Best best;
    for (Series& series : partitions) {
      std::vector<Sample> samples = by_time(complete(series));
      if (best.samples.empty() || percentile(samples, 50).time() < percentile(best.samples, 50).time())
        best = {std::move(samples), series.setup.cus};
    }
    return best;
  }

  /// Has the run of \p result's time, of those by time in \p samples, written down.
  void finish(const Strategy& strategy, const StrategyResult& result, const std::vector<Sample>& samples) {
    if (runs_once(strategy)) return watch_.recorder->finish(result, samples.front().run.records);
    const Experiment& experiment = experiments_[percentile(samples, 50).draw];
    const bool is_shortened = result.step && result.step->is_shortened;
    begin_run(is_shortened ? Seconds{} : result.lower_bound);
    const Experiment part = recorded_part(experiment, result);
    const RunListeners listeners =
        begin_recording(strategy, part, is_shortened ? abridged_part(experiment) : "");
    watch_.recorder->finish(result, record_run(part, result, *listeners.observer, listeners.launches));
    end_run(StudyPart::recorded);
  }

  StrategyResult evaluate(const Strategy& strategy, const std::vector<Sample>& samples, const CuChoice& cus,
                          std::optional<Seconds> serial) {
    const Sample& middle = percentile(samples, 50);
    const Experiment& experiment = experiments_[middle.draw];
    StrategyResult result;
    result.name = strategy.name;
    result.time = middle.time();
    if (samples.size() > 1) {
      result.spread = TimeSpread{percentile(samples, 5).time(), percentile(samples, 95).time()};
    }
    result.recorded_seed = middle.seed;
    result.recorded_corrections = steps_[middle.draw].corrections();
    for (const BoardPower& its : middle.run.power)
      result.recorded_power.push_back(its.begin);
    result.notes = middle.run.notes;
    if (experiment.measure.draws > 0) result.recorded_draw = middle.draw;

    result.classes = middle.run.classes;
    for (SimulatedClass& its : result.classes)
      its.memory = memory_[middle.draw].of(its.representative());
    result.flows = middle.run.flows;
    result.estimate = middle.run.estimate;
    if (experiment.step) result.step = step_result(experiment, middle.run);
    if (const std::optional<StepItems> items = items_of(experiment))
      result.throughput = {.of_step = *items,
                           .per_second = static_cast<double>(items->count) / result.time.value,
                           .gpus = experiment.cluster.ranks()};
    result.lower_bound = bounds_.of(strategy, middle.draw);
    for (const Sample& sample : samples)
      bounds_.check(strategy, sample.draw, sample.time());
    if (result.estimate) result.estimate->low = std::max(result.estimate->low, result.lower_bound);

    if (serial) result.speedup = *serial / result.time;
    result.clock = clock_of(middle.run);
    if (experiment.measure.alone) add_sides(result, middle.run, experiment, own_times(strategy, cus));
    result.cus = cus;
    for (std::size_t i = 0; i < cus.size(); ++i) {
      if (policy_of(strategy, experiment.program.streams[i]).cus.is_swept()) result.best_cus = cus[i];
    }
    if (has_loss_split(strategy)) result.loss = loss(strategy, samples, cus);
    return result;
  }

  /// What the isolated runs say of \p run.
  void add_sides(StrategyResult& result, const RunResult& run, const Experiment& experiment,
                 const AloneTimes& own) const {
    const double ideal = alone_sum_ / default_times_.longest();
    result.ideal_speedup = ideal;
    if (ideal > 1.0 && sides_may_overlap(experiment.program))
      result.share_of_ideal = (result.speedup.value() - 1.0) / (ideal - 1.0);
    if (has_kernels_) result.kernel_clock = own.clock;
    if (has_kernels_) result.kernel = {own.kernels, run.kernels.duration()};
    if (has_collectives_) result.collective = {own.collectives, run.collectives.duration()};
    for (std::size_t i = 0; i < own.streams.size(); ++i)
      result.streams.push_back({experiment.program.streams[i], {own.streams[i], run.streams[i].duration()}});
  }

  /// Of the draw of the median of \p samples, which are by time.
  LossSplit loss(const Strategy& strategy, const std::vector<Sample>& samples, const CuChoice& cus) {
    const std::size_t draw = percentile(samples, 50).draw;
    const Experiment& experiment = experiments_[draw];
    std::vector<std::uint64_t> seeds(static_cast<std::size_t>(experiment.measure.seeds));
    std::iota(seeds.begin(), seeds.end(), 0);
    begin_run({});
    const LossBounds bounds{.together = median_of_draw(samples, draw), .ideal = ideal_[draw]};
    return split_loss(experiment, strategy, cus, seeds, bounds, [this] {
      end_run(StudyPart::split);
      began_ = Clock::now();
    });
  }

  const StudyWatch& watch_;
  const Strategy alone_{.name = "alone", .order = {}, .streams = {}};
  std::vector<Experiment> experiments_;   ///< one per draw; one when nothing is drawn
  std::deque<ShorterSteps> steps_;        ///< by draw
  std::vector<ExperimentMemory> memory_;  ///< by draw
  StudyBounds bounds_{experiments_};
  StudyCost cost_;
  std::shared_ptr<SharedSchedules> schedules_ = std::make_shared<SharedSchedules>();
  Clock::time_point began_;     ///< of the simulation that runs now
  std::vector<Series> pilots_;  ///< begun before the others, so that the cost is known
  AloneTimes default_times_;    ///< under default settings
  Seconds alone_sum_;           ///< of the parts one after another
  std::vector<Seconds> ideal_;  ///< by draw: the longest of the parts' medians over seeds
  bool has_kernels_ = false, has_collectives_ = false;
};

}  // namespace

StudyResult run_study(const ExperimentFactory& make, const StudyWatch& watch) {
  return Study(make, watch).run();
}

}}  // namespace c3::workloads
