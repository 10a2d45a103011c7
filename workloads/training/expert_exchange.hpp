#pragma once
/// Tokens brought to the ranks that have their experts, and back, forward and backward.

#include <optional>
#include <string>
#include <vector>

#include "workloads/models/parts.hpp"
#include "workloads/training/expert_grid.hpp"
#include "workloads/training/routing.hpp"
#include "workloads/training/step_program.hpp"

namespace c3 { inline namespace workloads {

/// The collectives of a micro-batch's tokens in one layer.
struct ExpertCalls {
  std::vector<CollectiveCall> out;            ///< to the experts
  std::vector<CollectiveCall> back;           ///< always in the type in which layers compute
  std::vector<CollectiveCall> gradients_out;  ///< backward of `back`, in that type
  /// Between nodes, beside the first of each way: what passes there passes in small parts, one after another.
  std::optional<CollectiveCall> network_out = {}, network_back = {};  ///< network_back of gradients, too
};
/// alltoall: over expert-parallel ranks, then gathered among those that share experts; back their sums are
/// scattered first. allgather: all tokens of all these ranks are gathered, and sums scattered. deepep: each
/// token once to each rank that has one of its experts. hybridep: once to each other node that has one, to the
/// rank of the same place there, which hands it to the node's ranks; back these add up what the node has
/// made of it, and one sum returns (NVIDIA/Megatron-LM, megatron/core/transformer/moe/token_dispatcher.py;
/// deepseek-ai/DeepEP, branch hybrid-ep, docs/Hybrid-EP_Implementation.md). Where experts are not equally busy,
/// every rank sends most to the busiest (all_to_all_v). \param loads nullptr: all are equally busy. \pre the
/// model has experts
ExpertCalls expert_calls(const TrainingSetup& setup, const ExpertGrid& grid, const ExpertLoads* loads = nullptr,
                         std::int64_t layer = 0);

/// Told of a rank's parts as they are launched, on the stream `dispatch`. Forward, tokens leave when they
/// are in order, and what experts have made leaves when it is in order again; backward, gradients take these
/// ways in reverse. Kernels of experts and of the block around them wait for what is under way, others do not:
/// shared experts run beside it. Where the framework needs to know how many tokens come, the host waits before
/// they leave. Tokens of another micro-batch may travel on the same stream.
class ExpertExchange {
 public:
  /// All references must outlive it.
  ExpertExchange(const TrainingSetup& setup, const ExpertGrid& grid, ExpertPosition at, StepProgram& program);

  /// Two micro-batches whose passes run in turns have an exchange each; \p other is the other one's.
  void run_beside(ExpertExchange& other) {
    other_ = &other;
    other.other_ = this;
  }
  /// What follows is of \p layer.
  void begin_layer(std::int64_t layer);
  void before(PartId part);
  void after(PartId part, Pass pass);

 private:
  struct UnderWay {
    std::string name;
    MemoryLedger::Tensor buffer = 0;
    std::optional<EventId> arrived = std::nullopt;
  };
  /// Marks the end of what is under way on the stream.
  void record_arrival();
  void launch(const std::string& name, const std::vector<CollectiveCall>& calls,
              const std::optional<CollectiveCall>& network, Bytes arrives);

  const TrainingSetup& setup_;
  ExpertGrid grid_;
  ExpertPosition at_;
  ExpertCalls calls_;
  RoutedTokens routed_;
  StepProgram& program_;
  StepProgram::Stream compute_;
  std::optional<UnderWay> under_way_;
  std::optional<MemoryLedger::Tensor> read_;  ///< by the part that is being launched
  ExpertExchange* other_ = nullptr;
};

}}  // namespace c3::workloads
