#pragma once
/// What a stage of a pipeline sends to others and receives from them.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "workloads/pipeline/schedule.hpp"
#include "workloads/training/pipeline_setup.hpp"
#include "workloads/training/step_program.hpp"

namespace c3 { inline namespace workloads {

/// Communicators over which ranks send messages: activations and gradients of stages do not share their order.
struct StepCommunicators {
  CommunicatorId activations = 0, gradients = 0;
  CommunicatorId embedding = 0;  ///< of both ends, whose word tables are one
  CommunicatorId opposite = 0;   ///< of stages that have the same layers (DualPipe)
  CommunicatorId tensor = 0;     ///< of tensor-parallel ranks (TensorOverlap::ring)
  CommunicatorId context = 0;    ///< of context-parallel ranks that pass on keys and values
};

/// What goes over the boundary between two stages.
struct BoundaryTensor {
  Bytes bytes;            ///< that a rank has of it
  int tensor_ranks = 1;   ///< that share each weight
  CollectiveCall gather;  ///< over these, where each has sent its part
};

/// Boundary activations and their gradients of one stage, told of its tasks in their order. Batched (as in
/// Megatron-Core, batch_isend_irecv): what a pass has made leaves in one launch with the receives of the next
/// pass, which waits for the launch to end. Overlapped (overlap_p2p_comm): sends and receives are launched by
/// themselves, on streams of their own for each neighbour, since what waits for one stage must not hold up what
/// goes to another; a receive is launched before the pass before the one that needs it, and a pass' output is
/// kept until the next pass of its kind has run. Steady (overlap_p2p_comm without
/// overlap_p2p_comm_warmup_flush): overlapped while forward and backward passes take turns; before and
/// after that a receive is launched with what the pass before it sends, and the next pass waits for both. With
/// scatter and gather each tensor-parallel rank sends its part of what all of them have, over its own way, and
/// they gather it before the pass (arXiv 2104.04473, section 4.1). Events that tell of an end are recorded when
/// somebody waits for them: in a shared hardware queue they would hold up what is behind. Wrong when: a
/// framework receives further ahead; outputs leave later than that, so that more of them are kept.
class StageMessages {
 public:
  /// All references must outlive it.
  StageMessages(const PipelineSetup& setup, const PipelineSchedule& schedule, int stage, BoundaryTensor tensor,
                StepCommunicators over, StepProgram& program);

  /// Waits, on the compute stream, for what task \p number of the stage needs.
  void before(std::size_t number);
  /// Its kernels have been launched.
  void after(std::size_t number);
  /// All tasks have run: waits for what is still leaving.
  void end();

 private:
  using Tensor = MemoryLedger::Tensor;
  using Tasks = std::vector<PipelineTask>;
  /// A way from one stage to another.
  struct Link {
    int peer = 0;          ///< stage
    int number = 0;        ///< of the stage from which activations come
    bool returns = false;  ///< from the last stage towards the first
  };
  struct Received {
    Tensor buffer;
    StepProgram::Stream stream;
    std::optional<EventId> event;  ///< recorded behind it
  };

  const Tasks& tasks() const { return schedule_.tasks[static_cast<std::size_t>(stage_)]; }
  bool is_batched() const { return setup_.messages == PipelineMessages::batched; }
  std::optional<Link> source_of(const PipelineTask& task) const;
  std::optional<Link> target_of(const PipelineTask& task) const;
  std::optional<Link> link(ChunkPlace own, std::optional<ChunkPlace> other, bool other_is_first) const;
  Message message(const Link& link, bool sends) const;
  std::string stream_name(PipelinePass pass, const Link& link) const;
  /// The first task from \p number on that is not one of weights' gradients; the end where there is none.
  std::size_t next_with_messages(std::size_t number) const;

  /// Whether task \p number overlaps with messages: not of the warm-up or the flush, where those are waited
  /// for.
  bool overlaps(std::size_t number) const;
  void wait_for_sends();
  void gather(std::size_t number);
  Bytes message_bytes() const { return tensor_.bytes / (setup_.scatter_gather ? tensor_.tensor_ranks : 1); }

  void launch_batch(std::size_t next);
  void wait_for_batch();
  void receive(std::size_t number);
  void record_on(StepProgram::Stream stream);
  void send(const PipelineTask& task);
  Tensor hold(const char* name, Bytes bytes);

  const PipelineSetup& setup_;
  const PipelineSchedule& schedule_;
  int stage_;
  BoundaryTensor tensor_;
  StepCommunicators over_;
  StepProgram& program_;
  StepProgram::Stream compute_;
  std::map<std::size_t, Received> received_;     ///< by task
  std::size_t received_to_ = 0;                  ///< tasks before this one need no receive any more
  std::map<PipelinePass, Tensor> leaving_;       ///< overlapped: outputs
  std::set<StepProgram::Stream> sends_on_;       ///< overlapped: streams
  std::size_t steady_from_ = 0, steady_to_ = 0;  ///< tasks that overlap with messages
  std::optional<StepProgram::Stream> awaited_;   ///< on which a send is, for which the next pass waits
  std::vector<Tensor> outputs_;                  ///< batched: in the launch that is under way, or to come
  std::vector<std::pair<Message, std::string>> batch_;  ///< messages of the next launch, and what they carry
  bool is_batch_under_way_ = false;                     ///< to be waited for
};

}}  // namespace c3::workloads
