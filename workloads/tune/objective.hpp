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
  tokens_per_usd,        ///< most, at the list price of the nodes
  usd,                   ///< least, of the run or step
};
constexpr auto enum_names(Objective) {
  return std::to_array<EnumName<Objective>>({{"time", Objective::time},
                                             {"tokens_per_s", Objective::tokens_per_s},
                                             {"tokens_per_s_per_gpu", Objective::tokens_per_s_per_gpu},
                                             {"tokens_per_usd", Objective::tokens_per_usd},
                                             {"usd", Objective::usd}});
}

/// How much a candidate does in its time.
struct CandidateSize {
  std::int64_t tokens = 0;  ///< of a training step, all GPUs; 0: it is none
  int gpus = 1;
  double usd_per_gpu_hour = 0.0;  ///< NodeSpec::usd_per_gpu_hour; 0: not known

  bool operator==(const CandidateSize&) const = default;
};

/// Whether \p objective counts tokens, which only training steps have.
bool needs_tokens(Objective objective);
/// Whether \p objective counts money, so that it requires a price.
bool needs_price(Objective objective);

/// What \p time costs, in USD, at the price of \p size.
double usd_of(Seconds time, const CandidateSize& size);

/// Of a candidate that takes \p time: s or USD, or for each token s, GPU-seconds or USD. It grows with the
/// time, so that of a lower bound it is a lower bound. \pre \p size has tokens and a price where \p objective
/// needs them
double cost_of(Objective objective, Seconds time, const CandidateSize& size);

/// What people read in place of \p cost: s, tokens/s, tokens/s of a GPU, tokens/USD, or USD.
double value_of(Objective objective, double cost);
std::string_view unit_of(Objective objective);
/// Whether the best has the most of value_of(), not the least.
bool is_most(Objective objective);

}  // namespace c3::workloads
