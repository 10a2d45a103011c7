#pragma once
/// What a search makes best, as a cost that it makes least.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/enum_names.hpp"
#include "engine/units.hpp"

namespace c3 { inline namespace workloads {

enum class Objective {
  time,                  ///< least, of the run or step
  tokens_per_s,          ///< most, of all GPUs together
  tokens_per_s_per_gpu,  ///< most
  tokens_per_usd,        ///< most, at the list price of the nodes
  usd,                   ///< least, of the run or step
  tokens_per_j,          ///< most, by the energy of all boards
  energy,                ///< least, of the run or step
};
constexpr auto enum_names(Objective) {
  return std::to_array<EnumName<Objective>>({{"time", Objective::time},
                                             {"tokens_per_s", Objective::tokens_per_s},
                                             {"tokens_per_s_per_gpu", Objective::tokens_per_s_per_gpu},
                                             {"tokens_per_usd", Objective::tokens_per_usd},
                                             {"usd", Objective::usd},
                                             {"tokens_per_j", Objective::tokens_per_j},
                                             {"energy", Objective::energy}});
}

/// What a run takes.
struct Expense {
  Seconds time = {};
  Joules energy = {};  ///< of all boards; 0: not known

  bool operator==(const Expense&) const = default;
};

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
/// Whether \p objective counts energy, so that it requires the power of the GPU.
bool needs_power(Objective objective);

/// What \p objective counts for each token, of a whole run: time, usd or energy.
Objective of_a_run(Objective objective);

/// What \p time costs, in USD, at the price of \p size.
double usd_of(Seconds time, const CandidateSize& size);

/// The cost of a candidate that takes \p expense: s, USD or J, or for each token s, GPU-seconds, USD or J. It
/// grows with time and energy, so that of lower bounds it is a lower bound. \pre \p size has tokens and a
/// price, and \p expense an energy, where \p objective needs them
double cost_of(Objective objective, const Expense& expense, const CandidateSize& size);

/// Position in \p expenses, of one candidate, of the one that costs least, the first among equals.
/// \pre there is one, and see cost_of()
std::size_t cheapest(Objective objective, std::span<const Expense> expenses, const CandidateSize& size);

/// What people read in place of \p cost: s, tokens/s, tokens/s of a GPU, tokens/USD, USD, tokens/J or J.
double value_of(Objective objective, double cost);
std::string_view unit_of(Objective objective);
/// Whether the best has the most of value_of(), not the least.
bool is_most(Objective objective);

}}  // namespace c3::workloads
