#pragma once
/// Training steps of drawn splits, schedules and frameworks.

#include <rapidcheck.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/training_pipelines.hpp"

namespace c3::test {

template <class T>
T one_of(const std::vector<T>& values) {
  return *rc::gen::elementOf(values);
}

/// Layers in any numbers, also none: E, t and L with bars anywhere between.
inline std::string drawn_layout(int chunks, std::int64_t layers) {
  std::vector<std::int64_t> of_chunk(static_cast<std::size_t>(chunks));
  for (std::int64_t layer = 0; layer < layers; ++layer)
    ++of_chunk[static_cast<std::size_t>(*rc::gen::inRange(0, chunks))];
  std::string layout = "E";
  for (std::size_t chunk = 0; chunk < of_chunk.size(); ++chunk)
    layout += (chunk > 0 ? "|" : "") + std::string(static_cast<std::size_t>(of_chunk[chunk]), 't');
  return layout + "L";
}

inline TrainingSetup drawn_setup() {
  const auto layers = *rc::gen::inRange<std::int64_t>(1, 7);
  TrainingSetup setup = *rc::gen::arbitrary<bool>() ? llama_setup(layers) : gpt_setup(layers);
  setup.model.tied_embedding = *rc::gen::arbitrary<bool>();
  Framework& framework = setup.framework;
  framework.overlaps_gradients = *rc::gen::arbitrary<bool>();
  framework.in_place_reduction = *rc::gen::arbitrary<bool>();
  framework.fused_accumulation = *rc::gen::arbitrary<bool>();
  framework.bucket = framework.first_bucket = Bytes{one_of<double>({1e5, 4e6, 1e9})};
  setup.sharding = one_of<Sharding>({Sharding::none, Sharding::optimizer, Sharding::parameters});
  setup.tensor_parallel = one_of<int>({1, 2});
  setup.sequence_parallel = setup.tensor_parallel > 1 && *rc::gen::arbitrary<bool>();
  setup.lora.rank = one_of<std::int64_t>({0, 0, 8});
  setup.recompute = one_of<Recompute>({Recompute::none, Recompute::full});
  PipelineSetup& pipeline = setup.pipeline;
  pipeline.stages = one_of<int>({1, 2, 4});
  if (pipeline.stages == 1) return setup;
  pipeline.schedule = one_of<ScheduleKind>({ScheduleKind::one_f_one_b, ScheduleKind::interleaved,
                                            ScheduleKind::zb_h1, ScheduleKind::zb_v, ScheduleKind::dualpipe});
  pipeline.virtual_stages = pipeline.schedule == ScheduleKind::interleaved ? *rc::gen::inRange(1, 4)
                            : pipeline.schedule == ScheduleKind::zb_v      ? 2
                                                                           : 1;
  pipeline.messages =
      pipeline.schedule == ScheduleKind::one_f_one_b ? PipelineMessages::batched : PipelineMessages::overlapped;
  pipeline.layout = drawn_layout(pipeline.stages * pipeline.virtual_stages, layers);
  pipeline.deferred_head_gradients = one_of<std::int64_t>({0, 0, 1, 4});
  setup.micro_batches = 2 * pipeline.stages;
  if (setup.sharding == Sharding::optimizer)
    setup.parameter_gather =
        pipeline.schedule == ScheduleKind::interleaved
            ? one_of<ParameterGather>(
                  {ParameterGather::after_optimizer, ParameterGather::overlapped, ParameterGather::aligned})
            : one_of<ParameterGather>({ParameterGather::after_optimizer, ParameterGather::overlapped});
  return setup;
}

}  // namespace c3::test
