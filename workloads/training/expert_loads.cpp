#include "workloads/training/expert_loads.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/random.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// The bits of a stream, one after another, as the standard's distributions take them.
class Bits {
 public:
  using result_type = std::uint64_t;
  explicit Bits(RandomStream stream) : stream_(stream) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return UINT64_MAX; }
  result_type operator()() { return stream_.bits(next_++); }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

void scale_to_one(std::vector<double>& shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares)
    share /= sum;
}

/// A token does not choose an expert twice: none gets more than \p most, others what it cannot take.
void cap(std::vector<double>& shares, double most) {
  for (std::size_t round = 0; round < shares.size(); ++round) {
    double over = 0.0, room = 0.0;
    for (const double share : shares) {
      over += std::max(0.0, share - most);
      if (share < most) room += share;
    }
    if (over <= 1e-12 || room <= 0.0) return;
    for (double& share : shares)
      share = share < most ? share * (1.0 + over / room) : most;
  }
}

std::vector<double> drawn_shares(const ExpertDimensions& model, double concentration, Bits& bits) {
  std::gamma_distribution<double> gamma(concentration, 1.0);
  std::vector<double> shares(static_cast<std::size_t>(model.experts));
  for (double& share : shares)
    share = std::max(gamma(bits), 1e-300);
  scale_to_one(shares);
  cap(shares, 1.0 / static_cast<double>(model.per_token));
  return shares;
}

std::vector<double> by_position(const std::vector<double>& of_experts, int ranks) {
  const auto here = of_experts.size() / static_cast<std::size_t>(ranks);
  std::vector<double> shares;
  for (auto begin = of_experts.begin(); begin != of_experts.end(); begin += static_cast<std::ptrdiff_t>(here))
    shares.push_back(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(here), 0.0));
  return shares;
}

}  // namespace

double ExpertLoads::busiest() const {
  double sum = 0.0;
  for (const std::vector<double>& layer : shares_)
    sum += std::ranges::max(layer) * static_cast<double>(layer.size());
  return sum / static_cast<double>(shares_.size());
}

ExpertLoads draw_loads(const TrainingSetup& setup, int replicas) {
  const ExpertSetup& experts = setup.experts;
  const auto layers = static_cast<std::size_t>(setup.model.layers);
  if (experts.routing == Routing::histogram) {
    std::vector<double> shares = experts.shares;
    scale_to_one(shares);
    return {std::vector(layers, by_position(shares, experts.ranks))};
  }
  std::optional<ExpertLoads> slowest;
  for (int replica = 0; replica < replicas; ++replica) {
    std::vector<std::vector<double>> drawn;
    for (std::size_t layer = 0; layer < layers; ++layer) {
      Bits bits(RandomStream(static_cast<std::uint64_t>(experts.routing_seed),
                             (static_cast<std::uint64_t>(replica) << 32U) + layer));
      drawn.push_back(
          by_position(drawn_shares(*setup.model.experts, experts.concentration, bits), experts.ranks));
    }
    ExpertLoads loads(std::move(drawn));
    if (!slowest || loads.busiest() > slowest->busiest()) slowest = std::move(loads);
  }
  return std::move(*slowest);
}

}}  // namespace c3::workloads
