#pragma once
/// \file
/// The kernels of a trace on another GPU: recorded times beside those of the kernel model.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/units.hpp"
#include "gpu/spec.hpp"
#include "workloads/traces/kernel_class.hpp"
#include "workloads/traces/rank_record.hpp"

namespace c3 { inline namespace traces {

/// One piece of GPU work.
struct RetimedKernel {
  std::uint32_t rank = 0;      ///< in the vector of ranks, not its number
  std::uint32_t activity = 0;  ///< in its Trace::activities
  WorkClass work = WorkClass::other;
  Seconds recorded;
  std::optional<Seconds> predicted;  ///< by the model on the asked GPU, launch on the device included; 0 for
                                     ///< what another kernel's time includes. Absent: no operator or no kernel
  std::optional<Seconds> predicted_there;  ///< the same on the GPU of the recording, where that is known
  std::string operator_text;               ///< "gemm 788 x 3072 x 768 bf16"; empty without one
  std::string note;                        ///< the rule, or why there is no prediction
  bool in_another = false;

  /// What a replay in place of the model uses: the prediction, or the recorded time unchanged.
  Seconds modelled() const { return predicted.value_or(recorded); }
  /// recorded x (predicted / predicted on the recorded GPU): keeps what the model does not know of this kernel.
  /// The recorded time unchanged where either prediction is absent or no time is left to scale by.
  Seconds scaled() const;
};

/// Sums over the kernels of one class, or all.
struct RetimedClass {
  WorkClass work = WorkClass::other;
  std::size_t count = 0;
  std::size_t covered = 0;  ///< kernels with a prediction
  Seconds recorded;
  Seconds recorded_covered;  ///< recorded time of kernels with a prediction
  Seconds predicted;         ///< of kernels with a prediction
  Seconds predicted_cold;    ///< the same with nothing in the caches; 0 until it is asked for
  Seconds predicted_there;   ///< the same kernels on the recorded GPU; 0 where that is not known
  Seconds scaled;            ///< of all kernels, as RetimedKernel::scaled
  double median_error = 0;   ///< |predicted_there / recorded - 1|, median over kernels of their own time

  /// Time of all kernels: predictions, and recorded times where there are none.
  Seconds modelled() const { return predicted + (recorded - recorded_covered); }
};

/// Kernels without a prediction that are alike.
struct FallBack {
  std::string kernel;
  std::string reason;
  std::size_t count = 0;
  Seconds recorded;
};

struct Retiming {
  std::string gpu;                     ///< slug of the asked GPU
  std::string recorded_gpu;            ///< slug of the recorded one; empty: no preset fits
  std::vector<RetimedKernel> kernels;  ///< by rank, then by start
  std::vector<RetimedClass> classes;   ///< those that occur, the longest first
  RetimedClass all;                    ///< without collectives, whose time is the network's
  std::vector<FallBack> fall_backs;    ///< without collectives, the longest first
};

/// What vector kernels find in the caches. Traces do not say it, so the two are bounds. Products and attention
/// read every operand from HBM once, whatever is in the caches.
enum class FoundInCaches : std::uint8_t {
  operands,  ///< as much of their tensors as fits: the kernel before has just used them
  nothing
};

/// Times every kernel of \p ranks alone on \p gpu, with the launch that the device needs. Recorded times
/// contain what ran beside a kernel, predictions do not. \param recorded_on the GPU of the recording, or
/// nullptr Wrong when: a kernel's library is another one on \p gpu (it launches other kernels, or fewer);
/// kernels of a few microseconds, whose time is their start and end.
Retiming retime(const std::vector<Rank>& ranks, const GpuSpec& gpu, const GpuSpec* recorded_on,
                FoundInCaches found = FoundInCaches::operands);

}}  // namespace c3::traces
