/// c3sim sample epoch: a training job whose sequences differ in length, by the iterations that stand for all.

#include <fmt/format.h>

#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "app/command/exit_code.hpp"
#include "app/sample/sample_output.hpp"
#include "app/sample/sample_request.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/toml/config_error.hpp"
#include "workloads/analysis/steady_state.hpp"
#include "workloads/sampling/simulated_epoch.hpp"
#include "workloads/training/training_step.hpp"

namespace c3 { inline namespace app {
namespace {

/// Sequences of one step.
struct StepShape {
  std::string key;            ///< key of their length
  std::int64_t sequence = 0;  ///< their length
  std::int64_t batch = 0;     ///< how many, on all ranks
};

StepShape shape_of(const ExperimentFile& file, const Experiment& nominal) {
  if (const std::optional<RecurrentJob> job = file.recurrent())
    return {"recurrent.sequence", job->sequence, job->batch * nominal.cluster.ranks()};
  const std::int64_t sequence = training_of(nominal).sequence;
  return {"training.sequence", sequence, nominal.step->tokens / sequence};
}

/// Steps of one experiment at any length of its sequences, by strategy.
class LengthSteps {
 public:
  /// \param key of that length
  LengthSteps(const SampleEpochRequest& request, std::string key) : request_(request), key_(std::move(key)) {}

  Seconds time(std::int64_t length, std::size_t strategy) {
    const auto [found, is_new] = times_.try_emplace({length, strategy});
    if (is_new) {
      const Experiment step = at(length);
      found->second = run_step(step, step.strategies.at(strategy), {}).time;
    }
    return found->second;
  }

  /// Notes in \p sampled which lengths were simulated under \p strategy so far.
  void count(std::size_t strategy, SampledStrategy& sampled) const {
    for (const auto& [step, time] : times_) {
      if (step.second != strategy) continue;
      ++sampled.lengths;
      sampled.simulated += time;
    }
  }

 private:
  Experiment at(std::int64_t length) const {
    std::vector<std::string> sets = request_.sets;
    sets.push_back(fmt::format("{}={}", key_, length));
    sets.emplace_back("~workload");  // its lengths are those of the whole job
    return ExperimentFile::load(request_.file, sets).make(std::nullopt);
  }

  const SampleEpochRequest& request_;
  std::string key_;
  std::map<std::pair<std::int64_t, std::size_t>, Seconds> times_;
};

/// Every iteration of the epoch; one of each length is simulated.
Seconds whole_epoch(const std::vector<std::int64_t>& lengths, std::size_t strategy, LengthSteps& steps) {
  Seconds sum;
  for (const std::int64_t length : lengths)
    sum += steps.time(length, strategy);
  return sum;
}

std::int64_t sum_of(const std::vector<std::int64_t>& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

/// Iterations of \p job, before any is simulated.
SampledJob job_of(const Experiment& nominal, const StepShape& step, const SequenceLengths& job) {
  SampledJob sampled{
      .experiment = nominal.name, .sequences = job.sequences, .batches = job.batches, .batch = step.batch};
  const std::vector<std::int64_t> lengths = draw_lengths(job, nominal.measure.seed);
  sampled.lengths = iteration_lengths(job, lengths, sampled.batch, step.sequence);
  sampled.padding =
      1.0 - static_cast<double>(sum_of(lengths)) / static_cast<double>(sampled.batch * sum_of(sampled.lengths));
  return sampled;
}

}  // namespace

int sample_epoch(const SampleEpochRequest& request) {
  const ExperimentFile file = ExperimentFile::load(request.file, request.sets);
  const std::optional<SequenceLengths> lengths = file.lengths();
  if (!lengths)
    throw ConfigError({std::make_shared<const std::string>(request.file), 1, 1}, "workload.lengths",
                      "is missing: how long the sequences of the job are, as in [workload.lengths] "
                      "histogram = [[512, 30], [1024, 70]]");
  const Experiment nominal = file.make(std::nullopt);
  const StepShape step = shape_of(file, nominal);
  SampledJob job = job_of(nominal, step, *lengths);
  job.bound = request.points.error;
  LengthSteps steps(request, step.key);
  for (std::size_t i = 0; i < nominal.strategies.size(); ++i) {
    SampledStrategy sampled{.name = nominal.strategies[i].name, .sample = {}, .simulated = {}, .whole = {}};
    const auto time_of = [&](std::int64_t length) { return steps.time(length, i); };
    sampled.sample = simulated_epoch(job.lengths, request.points, time_of);
    steps.count(i, sampled);
    if (request.whole) sampled.whole = whole_epoch(job.lengths, i, steps);
    job.strategies.push_back(std::move(sampled));
  }
  fmt::print("{}", request.json ? job_json(job) : job_text(job));
  return kExitOk;
}

}}  // namespace c3::app
