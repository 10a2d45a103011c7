#pragma once
/// What a search makes best, as a cost that it makes least.

#include <cstdint>
#include <string_view>

#include "base/enum_names.hpp"
#include "engine/units.hpp"

namespace c3::inline workloads {

enum class Objective {
  time,                  ///< least, of the run or step
  tokens_per_s,          ///< most, of all GPUs together
  tokens_per_s_per_gpu,  ///< most
};
constexpr auto enum_names(Objective) {
  return std::to_array<EnumName<Objective>>({{"time", Objective::time},
                                             {"tokens_per_s", Objective::tokens_per_s},
                                             {"tokens_per_s_per_gpu", Objective::tokens_per_s_per_gpu}});
}

/// How much a candidate does in its time.
struct CandidateSize {
  std::int64_t tokens = 0;  ///< of a training step, all GPUs; 0: it is none
  int gpus = 1;

  bool operator==(const CandidateSize&) const = default;
};

/// Of a candidate that takes \p time: s, s for each token, or GPU-seconds for each token. It grows with the
/// time, so that of a lower bound it is a lower bound. \pre \p size has tokens unless \p objective is the time
double cost_of(Objective objective, Seconds time, const CandidateSize& size);

/// What people read in place of \p cost: s, tokens/s, or tokens/s of a GPU.
double value_of(Objective objective, double cost);
std::string_view unit_of(Objective objective);

}  // namespace c3::workloads
