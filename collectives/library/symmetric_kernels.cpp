#include "collectives/library/symmetric_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "collectives/library/rail_kernels.hpp"
#include "collectives/library/symmetric_switch.hpp"

namespace c3 { inline namespace collectives {
namespace {

constexpr int kMostChannels = 64;
constexpr double kCell = 1024.0;            ///< a rank's bytes are dealt in whole cells of this size [B]
constexpr double kGibibytes = 1073.741824;  ///< [B/us]

/// What a kernel's authors measured of it: rates in GiB/s, latency in us.
struct Figures {
  double base, of_channel, peak;
};

/// How often a kernel's bytes pass a port, and how many of them one work group moves by one store or load.
struct Traffic {
  double bytes, reach;
  double sent;  ///< bytes that a rank sends, or has the switch multicast
  int most = kMostChannels;
};

bool is_blackwell(const PublishedFigures& figures) {
  return figures.cluster.gpu.family.tuned_as == TunedGpu::blackwell;
}

bool by_switch(Algorithm algorithm) { return algorithm == Algorithm::symmetric_nvls; }

/// Releases have had these since 2.27, when such kernels came.
Figures figures_of(const PublishedFigures& figures, Algorithm algorithm, Protocol protocol) {
  const bool is_ll = protocol == Protocol::ll;
  const bool reduces_to_all = figures.reduces_to_all();
  const bool adds_in_switch = reduces_to_all && by_switch(algorithm);
  if (!is_blackwell(figures))
    return {is_ll ? 4.5 : 7.8, reduces_to_all ? 65.0 : 44.0, adds_in_switch ? 480.0 : 320.0};
  const double of_ll = figures.call.kind == CollectiveKind::all_gather ? 8.5 : 11.0;
  const double of_simple = reduces_to_all ? 19.5 : 13.0;
  return {is_ll ? of_ll : of_simple, 55.0, adds_in_switch ? 1000.0 : 600.0};
}

/// \p bytes that one rank contributes, or in an all-reduce has. In ll a line is twice its payload, and takes
/// more than twice the instructions: nine times the bytes. A multicast saves instructions, not bytes at the
/// receiver.
Traffic traffic_of(const PublishedFigures& figures, Algorithm algorithm, Protocol protocol, double bytes) {
  const double ranks = figures.ranks;
  const bool reduces_to_all = figures.reduces_to_all();
  if (protocol == Protocol::ll) {
    const bool adds = figures.call.kind == CollectiveKind::reduce_scatter;
    return {9.0 * ranks * bytes, switch_multicasts(figures) && !adds ? 1.1 : 1.0, (ranks - 1.0) * bytes};
  }
  if (by_switch(algorithm)) {
    const int most = static_cast<int>(std::ceil((is_blackwell(figures) ? 32.0 : 16.0) / ranks));
    if (reduces_to_all) return {bytes / ranks + bytes, ranks, bytes / ranks, most};
    return {(ranks - 1.0) * bytes, 0.55 * ranks, bytes, most};
  }
  const double once = reduces_to_all ? 2.0 * (ranks - 1.0) / ranks * bytes : (ranks - 1.0) * bytes;
  return {once, 1.0, once};
}

/// Smooth versions of min(value, ceiling) and max(0, value).
double below(double value, double ceiling, double softness) {
  return ceiling - softness * std::log1p(std::expm1(ceiling / softness) * std::exp(-value / softness));
}
double above_zero(double value) { return value >= 100.0 ? value : std::log1p(std::exp(value)); }

/// [us]
double time_of(const Figures& of_kernel, const Traffic& traffic, int channels) {
  const double of_channel = of_kernel.of_channel * kGibibytes;
  const double rate = below(channels * of_channel * traffic.reach, of_kernel.peak * kGibibytes, of_channel);
  return of_kernel.base + above_zero(traffic.bytes / rate - 1.0);
}

/// The fewest work groups that take at most 2.5 % longer than the most, within the user's limits.
int fewest_channels(const Figures& of_kernel, const Traffic& traffic, const ChannelLimits& limits) {
  const int most = limits.most > 0 ? std::min(limits.most, traffic.most) : traffic.most;
  const double enough = 1.025 * time_of(of_kernel, traffic, most);
  for (int channels = std::max(1, limits.least); channels < most; ++channels) {
    if (time_of(of_kernel, traffic, channels) <= enough) return channels;
  }
  return most;
}

bool has_kernel(const PublishedFigures& figures, Algorithm algorithm, Protocol protocol) {
  const CollectiveCall& call = figures.call;
  const bool is_there = supports(algorithm, call.kind) && figures.nodes == 1 && !figures.over_pcie &&
                        figures.library.rules == TunerRules::nccl && figures.since(27);
  const bool sums_bytes_in_switch = by_switch(algorithm) && !switch_adds(figures);
  if (!is_there || sums_bytes_in_switch || (by_switch(algorithm) && !switch_multicasts(figures))) return false;
  if (protocol == Protocol::simple) return algorithm != Algorithm::symmetric_gather;
  const bool gathers_first = figures.reduces_to_all() == (algorithm == Algorithm::symmetric_gather);
  constexpr double kMostInLl = 2147483648.0;  // its counters have 32 bits
  return protocol == Protocol::ll && !by_switch(algorithm) && gathers_first &&
         figures.call.bytes.value < kMostInLl;
}

}  // namespace

std::optional<SymmetricKernel> symmetric_kernel(const PublishedFigures& figures, Algorithm algorithm,
                                                Protocol protocol) {
  if (!has_kernel(figures, algorithm, protocol)) return std::nullopt;
  const double of_rank = figures.call.bytes.value / (figures.reduces_to_all() ? 1.0 : figures.ranks);
  const Figures of_kernel = figures_of(figures, algorithm, protocol);
  const Traffic traffic = traffic_of(figures, algorithm, protocol, std::ceil(of_rank / kCell) * kCell);
  const int channels = fewest_channels(of_kernel, traffic, figures.library.channel_limits);
  const double rate = of_kernel.of_channel * kGibibytes * 1e6 * traffic.reach;
  return SymmetricKernel{.time = microseconds(time_of(of_kernel, traffic, channels)),
                         .channels = channels,
                         .base = microseconds(of_kernel.base),
                         .channel_rate = BytesPerSecond{rate * traffic.sent / traffic.bytes}};
}

std::optional<CollectiveMethod> symmetric_method(const PublishedFigures& figures,
                                                 const CollectiveMethod& usual) {
  if (!figures.library.registered_buffers) return std::nullopt;
  if (rail_kernel(figures))
    return CollectiveMethod{Algorithm(kSymmetricRails), Protocol::simple, usual.channels};
  std::optional<CollectiveMethod> best;
  double least = std::numeric_limits<double>::infinity();
  const auto try_out = [&](Algorithm algorithm, Protocol protocol) {
    const std::optional<SymmetricKernel> kernel = symmetric_kernel(figures, algorithm, protocol);
    if (!kernel) return;
    const double price = kernel->time.value * (1.0 + 0.025 * kernel->channels);
    if (price >= least) return;
    least = price;
    best = CollectiveMethod{algorithm, protocol, usual.channels};
  };
  try_out(Algorithm::symmetric_gather, Protocol::ll);
  try_out(Algorithm::symmetric, Protocol::ll);
  try_out(Algorithm::symmetric, Protocol::simple);
  try_out(Algorithm::symmetric_nvls, Protocol::simple);
  const bool may_fall_back = figures.since(29) && !figures.since(29, 7);
  if (best && may_fall_back && best->protocol == Protocol::ll && usual.protocol != Protocol::ll)
    return std::nullopt;
  return best;
}

bool gathers_by_engines(const PublishedFigures& figures) {
  constexpr double kMostByKernel = 8.0 * 1024.0 * 1024.0;
  const CollectiveCall& call = figures.call;
  if (!figures.library.registered_buffers || call.kind != CollectiveKind::all_gather) return false;
  const Bytes element = call.dtype ? element_size(*call.dtype) : Bytes{1.0};
  const double elements = call.bytes / element / figures.ranks;
  return is_blackwell(figures) && figures.since(29, 2) && figures.nodes == 1 && !figures.over_pcie &&
         figures.library.rules == TunerRules::nccl && elements > kMostByKernel;
}

}}  // namespace c3::collectives
