// Training steps on random grids of tensor-, context- and data-parallel and pipeline ranks over up to 64 GPUs:
// one rank of each class for all of them takes as long as all of them, and moves as much. C3SIM_ATTACK=200
// draws more grids than the few that every run has time for.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "tests/support/folded_runs.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/random_programs.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/models/blocks/block_kind.hpp"
#include "workloads/training/context_rules.hpp"
#include "workloads/training/pipeline_rules.hpp"

namespace c3::training_folding_test {

using namespace test;

namespace {

/// A step of a small model on some nodes of eight GPUs.
struct DrawnGrid {
  ClusterSpec cluster;
  TrainingSetup setup;

  std::string text() const {
    return std::to_string(cluster.ranks()) + " GPUs, tensor " + std::to_string(setup.tensor_parallel) +
           ", pipeline " + std::to_string(setup.pipeline.stages) + ", " +
           std::string(name_of(setup.pipeline.schedule)) + ", " + std::to_string(setup.micro_batches) +
           " micro-batches, " + std::string(name_of(setup.sharding)) + ", gathers " +
           std::string(name_of(setup.parameter_gather)) + ", shard group " + std::to_string(setup.shard_group) +
           ", messages " + std::string(name_of(setup.pipeline.messages)) +
           (setup.context.ranks > 1 ? ", context " + std::to_string(setup.context.ranks) + " by " +
                                          std::string(name_of(setup.context.exchange))
                                    : "") +
           (setup.pipeline.scatter_gather ? ", scatter and gather" : "") + ", deferred " +
           std::to_string(setup.pipeline.deferred_head_gradients);
  }
};

class RandomGrids {
 public:
  enum class Draw : std::uint8_t { plain, shared_sequences, unlike_layers, passed_on };
  explicit RandomGrids(std::uint32_t seed, Draw draw = Draw::plain) : random_(seed), draw_(draw) {}

  /// A grid that there can be: drawn until it breaks no rule.
  DrawnGrid next() {
    for (;;) {
      DrawnGrid grid = any();
      if (!broken_pipeline_rules(grid.setup, grid.cluster.ranks()).empty()) continue;
      switch (draw_) {
        case Draw::plain:
          return grid;
        case Draw::shared_sequences:
          return shared(grid);
        case Draw::unlike_layers:
          return hybrid(grid);
        case Draw::passed_on:
          return passed_on(grid);
      }
    }
  }

 private:
  template <class Value, std::size_t kCount>
  Value one_of(const std::array<Value, kCount>& values) {
    return values[random_() % kCount];
  }
  bool coin() { return random_() % 2 == 0; }

  DrawnGrid any() {
    DrawnGrid grid{.cluster = nodes_of_eight(one_of(std::array{2, 4, 8}), false, one_switch(8)),
                   .setup = coin() ? llama_setup() : gpt_setup()};
    grid.cluster.gpu = mi300x_like_trainer();
    TrainingSetup& setup = grid.setup;
    setup.tensor_parallel = one_of(std::array{1, 2, 4});
    setup.sequence_parallel = setup.tensor_parallel > 1 && coin();
    setup.sharding = one_of(std::array{Sharding::none, Sharding::optimizer});
    PipelineSetup& pipeline = setup.pipeline;
    pipeline.stages = one_of(std::array{1, 2, 4});
    if (pipeline.stages > 1) {
      pipeline.schedule =
          one_of(std::array{ScheduleKind::gpipe, ScheduleKind::one_f_one_b, ScheduleKind::interleaved,
                            ScheduleKind::zb_h1, ScheduleKind::zb_v, ScheduleKind::dualpipe});
      const bool has_chunks =
          pipeline.schedule == ScheduleKind::interleaved || pipeline.schedule == ScheduleKind::zb_v;
      if (has_chunks) pipeline.virtual_stages = 2;
      if (coin()) pipeline.messages = PipelineMessages::overlapped;
    }
    setup.model.layers = pipeline.stages * pipeline.virtual_stages;
    setup.micro_batches = one_of(std::array{2, 4, 8});
    draw_overlap(setup, grid.cluster.ranks() / (setup.tensor_parallel * pipeline.stages));
    return grid;
  }

  /// Draws numbers of its own, so that grids stay as they are.
  void draw_overlap(TrainingSetup& setup, int data_parallel) {
    const auto coin = [&] { return overlap_() % 2 == 0; };
    PipelineSetup& pipeline = setup.pipeline;
    if (setup.sharding == Sharding::optimizer) {
      const bool is_interleaved = pipeline.schedule == ScheduleKind::interleaved;
      if (coin())
        setup.parameter_gather = is_interleaved ? ParameterGather::aligned : ParameterGather::overlapped;
      if (data_parallel % 4 == 0 && coin()) setup.shard_group = data_parallel / 2;
    }
    if (pipeline.stages == 1) return;
    pipeline.scatter_gather = setup.tensor_parallel > 1 && !setup.sequence_parallel && coin();
    const bool is_split = pipeline.schedule == ScheduleKind::zb_h1 || pipeline.schedule == ScheduleKind::zb_v ||
                          pipeline.schedule == ScheduleKind::dualpipe;
    if (!is_split && coin()) pipeline.deferred_head_gradients = 2;
    const bool may_wait =
        pipeline.schedule == ScheduleKind::interleaved && pipeline.messages == PipelineMessages::overlapped;
    if (may_wait && coin()) pipeline.messages = PipelineMessages::steady;
  }

  /// Draws numbers of its own, too. Each way of exchange has its turn.
  DrawnGrid shared(DrawnGrid grid) {
    TrainingSetup& setup = grid.setup;
    const int replicas = grid.cluster.ranks() / (setup.tensor_parallel * setup.pipeline.stages);
    setup.framework.attention = AttentionCode::flash2;
    setup.framework.grouped_heads = true;
    setup.shard_group = 0;
    ContextSplit& context = setup.context;
    context.exchange = enum_values<ContextExchange>()[exchange_++ % 4];
    const bool is_hierarchical = context.exchange == ContextExchange::hierarchical;
    context.inner = is_hierarchical ? 2 : 0;
    for (int ranks = is_hierarchical ? 4 : 2; ranks <= std::min(8, replicas); ranks *= 2) {
      if (context_() % 2 == 0 && context.ranks > 1) break;
      const int before = std::exchange(context.ranks, ranks);
      if (!broken_context_rules(setup).empty()) context.ranks = before;
    }
    if (context.ranks == 1) context = {};
    return grid;
  }

  /// Layers have two kinds of blocks in turn, all kinds on all grids together.
  DrawnGrid hybrid(DrawnGrid grid) {
    ModelDimensions& model = grid.setup.model;
    const BlockKind kind = kBlockKinds[kind_++ % kBlockKinds.size()];
    BlockDimensions block{.name = "own", .kind = kind, .sizes = usual_sizes(kind)};
    for (std::size_t i = 0; i < block.sizes.size(); ++i) {
      const std::string_view key = kind->keys[i].name;
      if (!kind->keys[i].usual) block.sizes[i] = key == "groups" ? 4 : key.ends_with("heads") ? 8 : 16;
      if (key == "window" && kind == BlockKind::attention) block.sizes[i] = 16;
    }
    if (kind == BlockKind::latent || kind == BlockKind::sparse_latent) {
      model.latent =
          LatentDimensions{.query_rank = 24, .kv_rank = 16, .plain_dim = 8, .rotated_dim = 8, .value_dim = 16};
      grid.setup.sequence_parallel = grid.setup.tensor_parallel > 1;
      grid.setup.pipeline.scatter_gather = false;
    }
    model.structure = Structure::decoder;
    model.layers *= 2;
    model.blocks = {std::move(block)};
    model.layer_pattern = {"own", "attention"};
    grid.setup.framework.attention = AttentionCode::flash2;
    grid.setup.framework.grouped_heads = true;
    return grid;
  }

  /// Tensor-parallel ranks pass parts on to neighbours, and parts of sums to all others.
  static DrawnGrid passed_on(DrawnGrid grid) {
    TrainingSetup& setup = grid.setup;
    setup.tensor_parallel = 4;
    setup.sequence_parallel = true;
    setup.tensor_overlap = TensorOverlap::ring;
    setup.pipeline.scatter_gather = false;
    setup.shard_group = 0;
    return grid;
  }

  std::mt19937 random_, overlap_{28}, context_{29};
  Draw draw_ = Draw::plain;
  std::size_t kind_ = 0;
  std::size_t exchange_ = 0;
};

Experiment experiment_of(const DrawnGrid& grid) {
  Experiment experiment =
      test::experiment_of(grid.cluster, training_step(grid.setup, grid.cluster.ranks()).program);
  experiment.measure.kernel_grain = experiment.measure.vector_grain = KernelGrain::fluid;
  return experiment;
}

/// Work of all ranks: kernels, and bytes that collectives and messages move.
struct Work {
  double kernels = 0.0, communication = 0.0, operations = 0.0;
};

Work work_of(const RunResult& result) {
  Work work;
  for (const SimulatedClass& rank_class : result.classes) {
    work.kernels += rank_class.multiplicity() * rank_class.times.kernels.value;
    work.communication += rank_class.multiplicity() * rank_class.times.communication.value;
    for (const ClassTime& of_class : rank_class.times.classes)
      work.operations += rank_class.multiplicity() * of_class.count;
  }
  return work;
}

int grids() {
  const char* const count = std::getenv("C3SIM_ATTACK");
  return count == nullptr ? 12 : std::atoi(count);
}

bool has_ring(const ContextSplit& context) {
  return context.key_ranks() > 1 && context.exchange != ContextExchange::gather;
}

/// \returns how many of \p grids shared sequences.
int check_folded_grids(RandomGrids random) {
  int shared = 0;
  double sum = 0.0, worst = 0.0, widest = 0.0;
  for (int i = 0; i < grids(); ++i) {
    const DrawnGrid grid = random.next();
    const std::string text = grid.text();
    CAPTURE(text);
    if (grid.setup.context.ranks > 1) ++shared;
    const Experiment experiment = experiment_of(grid);
    const RunResult all = run(experiment, Fold::none), mean = run(experiment, Fold::mean);
    CHECK(all.classes.size() == static_cast<std::size_t>(grid.cluster.ranks()));
    // All ranks of a stage are alike; those that pass keys and values on are so in turn. Of a group whose
    // members send parts of sums to all others, no two are alike.
    const double times = factor(mean, experiment);
    const bool sends_to_all = grid.setup.tensor_overlap == TensorOverlap::ring;
    const int places = sends_to_all ? grid.setup.tensor_parallel : has_ring(grid.setup.context) ? 2 : 1;
    const int classes = grid.setup.pipeline.stages * places;
    CHECK(times >= grid.cluster.ranks() / classes);
    sum += times;
    const double spread = tolerance(experiment, all, mean);
    const double difference = std::abs(mean.time / all.time - 1.0);
    worst = std::max(worst, difference);
    CHECK(difference <= spread);
    check_interval(experiment, all, mean);
    if (mean.estimate) widest = std::max(widest, (mean.estimate->high - mean.estimate->low) / mean.time);
    const Work explicit_work = work_of(all), folded_work = work_of(mean);
    CHECK(folded_work.operations == explicit_work.operations);
    // The tolerance is a share of the step's time, like that of check_activity: a short collective shows the
    // latency of one step.
    const double allowed = spread * all.time.value * grid.cluster.ranks();
    CHECK(std::abs(folded_work.kernels - explicit_work.kernels) <= allowed);
    CHECK(std::abs(folded_work.communication - explicit_work.communication) <= allowed);
  }
  MESSAGE("folded " << sum / grids() << " times in the mean; times differ by " << 100.0 * worst
                    << " % at most, intervals are up to " << 100.0 * widest << " % wide");
  return shared;
}

}  // namespace

TEST_CASE("training steps on random grids of up to 64 GPUs take as long folded as rank by rank") {
  REQUIRE(grids() > 0);
  CHECK(check_folded_grids(RandomGrids(20251125)) == 0);
}

TEST_CASE("steps whose ranks share sequences, by every exchange, take as long folded as rank by rank") {
  CHECK(check_folded_grids(RandomGrids(20251126, RandomGrids::Draw::shared_sequences)) >= grids() / 2);
}

TEST_CASE("steps whose layers have blocks of every kind take as long folded as rank by rank") {
  CHECK(check_folded_grids(RandomGrids(20251127, RandomGrids::Draw::unlike_layers)) == 0);
}

TEST_CASE("steps whose tensor-parallel ranks pass parts on take as long folded as rank by rank") {
  CHECK(check_folded_grids(RandomGrids(20251128, RandomGrids::Draw::passed_on)) == 0);
}

}  // namespace c3::training_folding_test
