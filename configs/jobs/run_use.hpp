#pragma once
/// What a run asks of its system and framework, as far as that decides which keys can change its times.

#include <optional>
#include <set>

#include "gpu/kernels/operator_class.hpp"
#include "workloads/experiment.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace configs {

/// What decides which keys of a framework matter to a training step.
struct StepUse {
  Sharding sharding = Sharding::none;
  int tensor_parallel = 1;
  bool has_experts = false;
  Bytes bucket, first_bucket;  ///< sizes that the framework has
  Bytes bucket_of_ranks;       ///< least size of either, by the number of data-parallel ranks
};

struct RunUse {
  bool kernels = false;  ///< some kernel runs
  GpuUse of_gpu = {};    ///< what kernels depend on
  bool collectives = false;
  bool rooted = false;           ///< some collective has a root, so that links are busy in one direction
  bool in_pairs = false;         ///< some collective sends in pairs
  bool messages = false;         ///< some ranks send to others, each of which is such a collective
  bool host_copies = false;      ///< something goes between GPUs and the memory of their hosts
  bool channels = false;         ///< some collective runs on compute units
  bool engines = false;          ///< some collective runs on copy engines
  bool fused = false;            ///< some collective is fused with its producer
  bool in_memory = false;        ///< some operator runs on units inside the memory
  bool masks = false;            ///< some strategy gives a stream CUs of its own
  bool beside = false;           ///< streams run beside one another
  bool host_calls = false;       ///< a host launches each collective, see LaunchPath
  bool alone = false;            ///< one kernel by its closed form, as `c3sim kernel` times it
  bool measured_launch = false;  ///< its launch is that of its measured class
  std::set<HbmArbitration> arbitrations;  ///< under which strategies run
  std::optional<StepUse> step;            ///< absent where there is no training step

  void add(const Operator& op, const GpuSpec& gpu);
  void add(const CollectiveCall& call);
};

/// Everything but `step`.
RunUse use_of(const Experiment& experiment);
StepUse use_of(const TrainingSetup& setup, int ranks);

}}  // namespace c3::configs
