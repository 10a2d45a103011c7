#include "workloads/training/training_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "workloads/models/transformer.hpp"
#include "workloads/pipeline/pipeline_play.hpp"
#include "workloads/training/context_rules.hpp"
#include "workloads/training/expert_rules.hpp"
#include "workloads/training/head_rules.hpp"
#include "workloads/training/offload_rules.hpp"
#include "workloads/training/pipeline_rules.hpp"
#include "workloads/training/step_composer.hpp"

namespace c3 { inline namespace workloads {

namespace {

void check(const TrainingSetup& setup, int ranks) {
  const ModelDimensions& model = setup.model;
  const auto divides = [](std::int64_t count, std::int64_t by, const std::string& what) {
    if (count % by != 0) throw std::invalid_argument(fmt::format("{} is not a multiple of {}", what, by));
  };
  const std::int64_t share = setup.tensor_parallel;
  divides(ranks, share * setup.pipeline.stages * setup.context.ranks,
          fmt::format("the number of ranks, {},", ranks));
  const auto follows = [](const BrokenRules& broken) {
    if (!broken.empty()) throw std::invalid_argument(broken.front().key + ": " + broken.front().what);
  };
  follows(broken_context_rules(setup));
  follows(broken_pipeline_rules(setup, ranks));
  for (const BlockDimensions& mixer : mixers_of(model))
    for (const DividedCount& divided : mixer.kind->divided(model, mixer.sizes))
      divides(divided.count, share, fmt::format("{} = {}", divided.what, divided.count));
  divides(model.ffn, share, fmt::format("ffn = {}", model.ffn));
  if (setup.sequence_parallel)
    divides(setup.tokens(), share, fmt::format("{} tokens of a micro-batch", setup.tokens()));
  divides(setup.tokens(), setup.product_parts(), fmt::format("{} tokens of a micro-batch", setup.tokens()));
  if (model.vocabulary == 0) throw std::invalid_argument("the model has no 'vocabulary'");
  follows(broken_expert_rules(setup, ranks));
  if (model.structure == Structure::encoder_decoder)
    throw std::invalid_argument("encoder-decoder models are not supported in training steps");
  follows(broken_head_rules(setup));
  follows(broken_offload_rules(setup));
}

using KeepStage = std::function<void(StepStageFacts&&)>;

/// What a step is known to need and to do, without its operations.
struct StepAccount {
  StepFacts facts;
  std::vector<StepStageFacts> stages;  ///< by script
  std::int64_t left_out = 0;           ///< micro-batches from which nothing new followed
};

/// Writes a script for each stage of a pipeline, or one for all ranks.
class StagesWriter {
 public:
  /// \param content of StepContent::memory write() gives the facts alone
  /// \param left_out micro-batches that the step has beside those of \p setup, see StepStage
  StagesWriter(const TrainingSetup& setup, int ranks, StepContent content = StepContent::operations,
               std::int64_t left_out = 0)
      : setup_(setup),
        content_(content),
        left_out_(left_out),
        grid_(ranks, setup.tensor_parallel, setup.pipeline.stages, setup.context.ranks),
        schedule_(schedule_of(setup)),
        chunks_(stage_layers(setup.pipeline, setup.model.layers)) {
    if (setup.model.experts && setup.experts.routing != Routing::balanced)
      loads_ = draw_loads(setup, ExpertGrid(setup, ranks).data());
  }

  /// \param keep called with the facts of each script, in their order; may be empty
  WrittenStep write(const KeepStage& keep = {}) { return write(0, setup_.pipeline.stages, keep); }

  /// The second of several stages, which is the first that has no other work than layers; of two the first.
  WrittenStep write_stage() {
    const int stage = setup_.pipeline.stages > 2 ? 1 : 0;
    return write(stage, stage + 1, {});
  }

 private:
  /// Stages from \p first to before \p end.
  WrittenStep write(int first, int end, const KeepStage& keep) {
    WrittenStep step;
    step.facts.tokens = setup_.tokens() * (setup_.micro_batches + left_out_) * grid_.replicas().size;
    const StepCommunicators over = communicators();
    const int positions = loads_ ? loads_->positions() : 1;
    const int scripts = setup_.pipeline.stages * positions;
    for (int stage = first; stage < end; ++stage) {
      for (int position = 0; position < positions; ++position) {
        if (scripts > 1) begin_script(stage, position);
        StepProgram program(setup_, builder_, content_);
        StepStage step_stage = stage_of(stage);
        if (loads_) step_stage.experts = {&*loads_, position};
        StepStageFacts facts =
            StepComposer(setup_, grid_, schedule_, std::move(step_stage), over, program).compose();
        add(step.facts, facts, scripts);
        if (keep) keep(std::move(facts));
      }
    }
    step.program = builder_.take(scripts > 1 ? grid_.ranks() : 0);
    if (setup_.pipeline.stages > 1) step.facts.pipeline = pipeline_facts();
    return step;
  }

  StepCommunicators communicators() {
    StepCommunicators over;
    if (setup_.tensor_overlap == TensorOverlap::ring)
      over.tensor = builder_.communicator("tensor", grid_.groups(GridAxis::tensor));
    if (setup_.context.key_ranks() > 1 && setup_.context.exchange != ContextExchange::gather)
      over.context = builder_.communicator("context", ring_of_keys(setup_.context, grid_));
    if (setup_.pipeline.stages == 1) return over;
    const RankGroups groups = grid_.groups(GridAxis::pipeline);
    over.activations = builder_.communicator("pipeline", groups);
    if (setup_.pipeline.messages != PipelineMessages::batched)
      over.gradients = builder_.communicator("pipeline gradients", groups);
    if (ties_ends()) over.embedding = builder_.communicator("embedding", groups);
    if (schedule_.path == ChunkPath::both) over.opposite = builder_.communicator("opposite stages", groups);
    return over;
  }

  void begin_script(int stage, int position) {
    const std::vector<int> ranks = grid_.ranks_of_stage(stage);
    const bool has_stages = setup_.pipeline.stages > 1;
    if (!loads_) return builder_.begin_script(ranks, fmt::format("stage {}", stage));
    builder_.begin_script(ExpertGrid(setup_, grid_.ranks()).ranks_at(position, ranks),
                          has_stages ? fmt::format("stage {}, experts {}", stage, position)
                                     : fmt::format("experts {}", position));
  }

  /// Whether the first and the last word table are one, on different stages.
  bool ties_ends() const {
    return setup_.model.tied_embedding && !std::ranges::any_of(chunks_.front(), &StageChunk::head);
  }

  StepStage stage_of(int number) const {
    StepStage stage{
        .number = number, .chunks = chunks_[static_cast<std::size_t>(number)], .left_out = left_out_};
    stage.sums_embedding = ties_ends() && (stage.has_embedding() || stage.has_head());
    return stage;
  }

  /// Flops are of an average GPU, memory of the ranks that need most. \param scripts of as many ranks
  void add(StepFacts& facts, const StepStageFacts& stage, int scripts) const {
    for (const auto& [dtype, flops] : stage.flops) {
      auto typed = std::ranges::find(facts.flops, dtype, &TypedFlops::dtype);
      if (typed == facts.flops.end()) typed = facts.flops.insert(typed, {.dtype = dtype});
      typed->model += flops.model / static_cast<double>(scripts);
      typed->hardware += flops.hardware / static_cast<double>(scripts);
    }
    MemoryPeak memory = stage.memory;
    if (scripts > 1) {
      const std::size_t before =
          facts.reserved.size() / static_cast<std::size_t>(loads_ ? loads_->positions() : 1);
      if (setup_.pipeline.stages > 1) memory.moment = fmt::format("stage {}, {}", before, memory.moment);
      facts.reserved.push_back(memory.reserved);
    }
    const auto needs = [](const MemoryPeak& peak) { return std::pair(peak.held, peak.bytes); };
    if (needs(memory) > needs(facts.memory)) facts.memory = std::move(memory);
  }

  /// The schedule's bubble if forward passes take half as long as backward passes, and messages no time.
  PipelineFacts pipeline_facts() const {
    constexpr Seconds kPass{1.0};
    TrainingSetup whole = setup_;
    whole.micro_batches += left_out_;
    const PlayedPipeline played = play(schedule_of(whole), {kPass, kPass, kPass, {}});
    return {.stages = setup_.pipeline.stages,
            .schedule = std::string(name_of(setup_.pipeline.schedule)),
            .bubble_share = played.bubble_share()};
  }

  const TrainingSetup& setup_;
  const StepContent content_;
  const std::int64_t left_out_;
  RankGrid grid_;
  PipelineSchedule schedule_;
  std::vector<std::vector<StageChunk>> chunks_;
  std::optional<ExpertLoads> loads_;
  ProgramBuilder builder_;
};

class TrainingFamily : public ProgramFamily {
 public:
  explicit TrainingFamily(TrainingSetup setup) : setup_(std::move(setup)) {}

  const TrainingSetup& setup() const { return setup_; }
  StepSize size() const override { return {setup_.model.layers, setup_.micro_batches}; }
  /// Stages that have unlike numbers of layers cannot have fewer alike.
  std::int64_t layer_period() const override {
    const PipelineSetup& pipeline = setup_.pipeline;
    const std::int64_t alike = std::lcm(setup_.recompute_every, workloads::layer_period(setup_.model));
    if (pipeline.stages == 1) return with_ends(alike);
    const bool is_even = pipeline.layout.empty() && pipeline.first_layers == 0 && pipeline.last_layers == 0 &&
                         dense_layers() == 0;
    return is_even ? with_ends(alike * pipeline.stages * pipeline.virtual_stages) : setup_.model.layers;
  }
  std::int64_t stages() const override { return setup_.pipeline.stages; }
  std::int64_t fewest_micro_batches() const override {
    const std::int64_t of_schedule = has_two_directions() ? 2 * stages() : 1;
    return std::max(of_schedule, ProgramFamily::fewest_micro_batches());
  }
  std::int64_t micro_batch_period() const override { return workloads::micro_batch_period(setup_); }

  std::shared_ptr<const ProgramFamily> at(const StepSize& size) const override {
    TrainingSetup setup = setup_;
    setup.model.layers = size.layers;
    setup.micro_batches = size.micro_batches;
    return std::make_shared<const TrainingFamily>(std::move(setup));
  }

  void check(const ClusterSpec& cluster) const override { workloads::check(setup_, cluster.ranks()); }
  WrittenStep write(const ClusterSpec& cluster) const override {
    return written(cluster, [](StagesWriter& writer) { return writer.write(); });
  }
  StepFacts facts(const ClusterSpec& cluster) const override { return account(cluster).facts; }

  /// The account of as few micro-batches as settle it: once periods need no further page, more of them change
  /// nothing.
  StepAccount account(const ClusterSpec& cluster) const {
    const TrainingSetup whole = on(cluster);
    workloads::check(whole, cluster.ranks());
    const std::int64_t all = whole.micro_batches, period = micro_batch_period();
    // What comes from both ends of the stages at once has no period of its own.
    const std::int64_t first = has_two_directions() ? all : first_accounted();
    for (std::int64_t few = first; 2 * few <= all; few += (few + period - 1) / period * period) {
      StepAccount account = account_of(whole, few, cluster);
      if (std::ranges::all_of(account.stages, &StepStageFacts::is_settled)) return account;
    }
    return account_of(whole, all, cluster);
  }

  /// \pre there are several stages
  WrittenStep write_stage(const ClusterSpec& cluster) const {
    return written(cluster, [](StagesWriter& writer) { return writer.write_stage(); });
  }

  bool writes_same(const ProgramFamily& other) const override {
    const auto* const training = dynamic_cast<const TrainingFamily*>(&other);
    return training != nullptr && training->setup_ == setup_;
  }

  /// The setup with what depends on the GPU.
  TrainingSetup on(const ClusterSpec& cluster) const {
    TrainingSetup setup = setup_;
    if (const auto dtype = setup.precision.recipe->dtype)
      setup.precision.takes_any_layout = takes_any_layout(cluster.gpu, *dtype);
    setup.optimizer.hbm = cluster.gpu.hbm;
    return setup;
  }

 private:
  template <class Write>
  WrittenStep written(const ClusterSpec& cluster, Write write) const {
    const TrainingSetup setup = on(cluster);
    workloads::check(setup, cluster.ranks());
    StagesWriter writer(setup, cluster.ranks());
    WrittenStep step = write(writer);
    step.facts = with_sizes(setup, std::move(step.facts), cluster);
    return step;
  }
  /// Micro-batches after which a stage has done all that it does, and four periods more; as many beyond whole
  /// periods as the step.
  std::int64_t first_accounted() const {
    const std::int64_t period = micro_batch_period();
    const std::int64_t least = fewest_micro_batches() + setup_.pipeline.deferred_head_gradients + 4 * period;
    return least + (setup_.micro_batches % period + period - least % period) % period;
  }
  /// The account with \p few of the micro-batches of \p whole.
  static StepAccount account_of(TrainingSetup whole, std::int64_t few, const ClusterSpec& cluster) {
    const std::int64_t left_out = whole.micro_batches - few;
    whole.micro_batches = few;
    StepAccount account{.facts = {}, .stages = {}, .left_out = left_out};
    StagesWriter writer(whole, cluster.ranks(), StepContent::memory, left_out);
    WrittenStep step =
        writer.write([&](StepStageFacts&& facts) { account.stages.push_back(std::move(facts)); });
    account.facts = with_sizes(whole, std::move(step.facts), cluster);
    return account;
  }
  /// \p facts with what they say of the GPU.
  static StepFacts with_sizes(const TrainingSetup& setup, StepFacts facts, const ClusterSpec& cluster) {
    facts.peak = product_rate(cluster.gpu, setup.dtype).peak;
    for (TypedFlops& typed : facts.flops)
      typed.peak = product_rate(cluster.gpu, *typed.dtype).peak;
    facts.memory_size = cluster.gpu.hbm.size - setup.framework.reserved;
    return facts;
  }
  /// Half of the micro-batches go through the stages from the last to the first.
  bool has_two_directions() const { return setup_.pipeline.schedule == ScheduleKind::dualpipe; }
  std::int64_t dense_layers() const { return setup_.model.experts ? setup_.model.experts->dense_layers : 0; }
  /// Layers whose activations are offloaded, of all chunks; 0 where all layers' are.
  std::int64_t offloaded_ends() const {
    const std::int64_t chunks = setup_.pipeline.stages * setup_.pipeline.virtual_stages;
    const std::int64_t first = setup_.offload.layers * chunks;
    return first >= setup_.model.layers ? 0 : first;
  }
  /// \p period as often as it takes to have as many layers as are unlike the others at both ends.
  std::int64_t with_ends(std::int64_t period) const {
    const std::int64_t ends = std::max({dense_layers(), setup_.precision.first_layers, offloaded_ends()}) +
                              setup_.precision.last_layers;
    return period * std::max<std::int64_t>(1, (ends + period - 1) / period);
  }

  TrainingSetup setup_;
};

}  // namespace

std::map<std::string, StreamPolicy> usual_policies(const TrainingSetup& setup) {
  std::map<std::string, StreamPolicy> policies;
  if (setup.tensor_overlap == TensorOverlap::user_buffers)
    policies["tensor_gather"].backend = policies["tensor_copy"].backend = Backend::dma;
  if (setup.tensor_overlap == TensorOverlap::ring) policies["tensor_ring"].backend = Backend::dma;
  if (setup.tensor_overlap == TensorOverlap::fused) policies["tensor"].backend = Backend::fused;
  return policies;
}

WrittenStep training_step(const TrainingSetup& setup, int ranks) {
  check(setup, ranks);
  return StagesWriter(setup, ranks).write();
}

std::shared_ptr<const ProgramFamily> training_family(TrainingSetup setup) {
  return std::make_shared<const TrainingFamily>(std::move(setup));
}

void set_training(Experiment& experiment, TrainingSetup setup) {
  set_step(experiment, training_family(std::move(setup)));
}

namespace {

const TrainingFamily& family_of(const Experiment& experiment) {
  const auto* const training =
      experiment.family ? dynamic_cast<const TrainingFamily*>(&*experiment.family) : nullptr;
  if (training == nullptr) throw std::logic_error("training_of: the experiment is not a training step");
  return *training;
}

}  // namespace

const TrainingSetup& training_of(const Experiment& experiment) { return family_of(experiment).setup(); }

bool is_training(const Experiment& experiment) {
  return experiment.family && dynamic_cast<const TrainingFamily*>(&*experiment.family) != nullptr;
}

std::optional<WrittenStep> written_stage(const ProgramFamily& family, const ClusterSpec& cluster) {
  const auto* const training = dynamic_cast<const TrainingFamily*>(&family);
  if (training == nullptr || training->stages() == 1) return std::nullopt;
  return training->write_stage(cluster);
}

StepMemory memory_of_step(const Experiment& experiment) {
  const StepAccount account = family_of(experiment).account(experiment.cluster);
  StepMemory memory{.facts = account.facts, .stages = {}};
  for (const StepStageFacts& facts : account.stages)
    memory.stages.push_back({facts.memory, facts.ledger.moments(), account.left_out});
  return memory;
}

}}  // namespace c3::workloads
