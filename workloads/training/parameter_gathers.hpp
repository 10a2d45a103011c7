#pragma once
/// Gathers of parameters beside the forward passes that first need them (Megatron-Core: overlap_param_gather).

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "workloads/training/data_parallel.hpp"

namespace c3 { inline namespace workloads {

/// What ranks have updated in the step before is gathered in the buckets in which gradients are reduced, from
/// the one that the forward pass of a chunk needs first to the last. Overlapped: a chunk's first bucket goes
/// when its first layer is about to run, which waits for it, and each other one as soon as the one before it
/// has been waited for. Aligned: whole chunks go at once, the first two when the step begins, each other one
/// when the chunk before it begins on the first stage, so that all stages of the pipeline gather at the same
/// time. Source: NVIDIA/Megatron-LM, megatron/core/distributed/param_and_grad_buffer.py, start_param_sync and
/// finish_param_sync; pipeline_parallel/schedules.py, param_sync_func. Wrong when: a bucket ends with a whole
/// tensor, and is larger for it.
class ParameterGathers {
 public:
  /// Sizes of a chunk's buckets, in numbers, in the order in which its backward pass fills them.
  using Buckets = std::vector<std::int64_t>;
  struct Chunk {
    ChunkUnits of_stage;
    std::vector<std::int64_t> numbers = {};  ///< of each of its units
    Buckets buckets = {};                    ///< which add up to the same
  };
  using CallOf = std::function<CollectiveCall(std::int64_t numbers)>;

  /// \p program must outlive it. \param gathers the stream of its collectives
  ParameterGathers(bool aligned, int stage, const std::vector<Chunk>& chunks, CallOf call, StepProgram& program,
                   StepProgram::Stream gathers);

  void begin_step();
  void begin_forward(std::size_t number);
  void before_forward(std::size_t unit);

 private:
  struct Bucket {
    std::int64_t numbers = 0;
    bool is_launched = false, is_awaited = false;
    EventId gathered = 0;
  };
  struct Place {
    std::size_t chunk = 0, first = 0, last = 0;  ///< buckets, both included
  };

  void add(const Chunk& chunk);
  void launch(Bucket& bucket);
  void launch_chunk(std::size_t chunk);

  bool aligned_;
  std::size_t stage_;
  CallOf call_;
  StepProgram& program_;
  StepProgram::Stream compute_, gathers_;
  std::vector<std::vector<Bucket>> buckets_;  ///< by chunk, in the order of the forward pass
  std::vector<std::size_t> first_passes_;     ///< by chunk
  std::vector<std::optional<Place>> places_;  ///< by unit
};

}}  // namespace c3::workloads
