#pragma once
/// How published tables took the times of their kernels: from nearly idle, again and again, on buffers that the
/// caches may still hold. A time is scored by what the same measurement of the model would give.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "gpu/clock/governor.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace studies {

/// Who collected a table of ai-dynamo/aiconfigurator (commit 095f58a5, collector/*/collect_gemm.py).
enum class Collector : std::uint8_t {
  tensorrt_llm,  ///< one activation, and as many weights as fill L2, 5 at most
  sglang,        ///< six products, each with operands of its own
  vllm,          ///< the same; its weights are whatever the allocation holds
};

/// Without watts: 3 calls, 3 replays of a graph, then 6 timed ones. With watts: as many as fill a second, or
/// 0.3 s where a replay takes less than 0.1 ms, 3,000 at most (collector/helper.py).
enum class Repetition : std::uint8_t { six, one_second };

/// One row as it was taken.
struct TakenRow {
  GemmShape shape;
  bool quantised = false;  ///< two kernels quantise the activations before the product
  Seconds measured;
  Collector collector = Collector::tensorrt_llm;
  Repetition repetition = Repetition::six;
  bool finds_warm = true;  ///< operands that earlier calls left in the caches
  Seconds predicted = {};  ///< the time that this measurement gives of the model
};

/// The GPU as tables were taken on it: in milliseconds, and in nothing longer than a second.
GpuSpec in_burst(std::string_view name);

/// Products of one replay.
double products_of_replay(const TakenRow& row, const GpuSpec& gpu);

/// The kernels of one call, with what the calls before have left in the caches.
std::vector<Operator> kernels_of(const TakenRow& row, const GpuSpec& gpu);

/// How long the GPU is busy from the first call to the last, when a call takes \p time.
Seconds busy_time(const TakenRow& row, const GpuSpec& gpu, Seconds time);

/// The time that this measurement gives of the model.
Seconds taken_time(const TakenRow& row, const GpuSpec& gpu);

}}  // namespace c3::studies
