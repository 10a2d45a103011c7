#include "collectives/better_choice.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "collectives/library/tuner.hpp"
#include "engine/errors.hpp"

namespace c3 { inline namespace collectives {
namespace {

/// Another method is measured when grain gang estimates that it takes less time by this share than the chosen.
constexpr double kWorthMeasuring = 0.5 * kWorthAWord;

std::string text_of(const CollectiveMethod& method) {
  return fmt::format("{} {}", name_of(method.algorithm), name_of(method.protocol));
}

std::string text_of(const CollectiveMeasurement& measured) {
  return fmt::format("{:.1f} us, limit {}", measured.time / 1.0_us, measured.limit);
}

/// On many ranks only where one stands for all, which it does not do for many groups.
bool is_cheap(const ClusterSpec& cluster, const CollectiveCall& call, Algorithm algorithm) {
  constexpr int kMany = 128;
  return cluster.ranks() <= kMany || (!call.groups && is_symmetric(call, algorithm, cluster));
}

/// All that could run instead.
std::vector<CollectiveMethod> others_of(const ClusterSpec& cluster, const CollectiveCall& call,
                                        const MeasuredMethod& how, const MethodWish& wish) {
  if (how.backend != Backend::cu || (wish.algorithm && wish.protocol)) return {};
  std::vector<CollectiveMethod> others = offered_methods(call, cluster, wish);
  std::erase_if(others, [&](const CollectiveMethod& method) {
    // Within a node collnet takes as long on one channel as on many, so that few would look fast.
    return method == how.method || method.algorithm == Algorithm::collnet ||
           !is_cheap(cluster, call, method.algorithm);
  });
  return others;
}

std::optional<BetterChoice> better_of(const ClusterSpec& cluster, const CollectiveCall& call,
                                      const MeasuredMethod& how, const MethodWish& wish,
                                      std::optional<CollectiveMeasurement> of_chosen) {
  const std::vector<CollectiveMethod> others = others_of(cluster, call, how, wish);
  const bool is_asked = of_chosen || is_cheap(cluster, call, how.method.algorithm);
  if (others.empty() || !is_asked) return std::nullopt;
  if (!of_chosen) of_chosen = measure_collective(cluster, call, how);
  MeasuredMethod other = how;
  other.grain = CollectiveGrain::gang;
  const std::optional<FastestMethod> fastest = fastest_of(cluster, call, other, others);
  if (!fastest || fastest->time > of_chosen->time * (1.0 - kWorthMeasuring)) return std::nullopt;
  other.grain = how.grain;
  other.method = fastest->method;
  const CollectiveMeasurement of_better = measure_collective(cluster, call, other);
  if (of_better.time > of_chosen->time * (1.0 - kWorthAWord)) return std::nullopt;
  return BetterChoice{how.method, *of_chosen, fastest->method, of_better};
}

}  // namespace

// This is a remark beside an answer: a method that cannot run must not end the run that asked.
std::optional<BetterChoice> better_choice(const ClusterSpec& cluster, const CollectiveCall& call,
                                          const MeasuredMethod& how, const MethodWish& wish,
                                          std::optional<CollectiveMeasurement> of_chosen) {
  try {
    return better_of(cluster, call, how, wish, std::move(of_chosen));
  } catch (const InfeasibleError&) {
    return std::nullopt;
  }
}

std::string words_of(const BetterChoice& choice, const CollectiveLibrarySpec& library) {
  return fmt::format("{} {} takes {} ({}); {} would take {:.0f} % less ({})",
                     library.rules == TunerRules::nccl ? "NCCL" : "RCCL", name_of(library.version),
                     text_of(choice.chosen), text_of(choice.of_chosen), text_of(choice.better),
                     100.0 * choice.share_saved(), text_of(choice.of_better));
}

}}  // namespace c3::collectives
