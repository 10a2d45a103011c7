#include <fmt/format.h>

#include "interconnect/link_set.hpp"

namespace c3 {
namespace {

/// One full-duplex link for each pair: each direction carries at most `one_way`, and both together at most
/// twice `both_ways`, because reverse traffic takes acknowledgement slots. Folded, the reverse of link 0 -> k
/// carries what 0 -> N-k carries, so a transfer loads the shared part of both.
class FullMesh final : public LinkSet {
 public:
  FullMesh(FluidSystem& fluid, const NodeSpec& spec, bool folded, const std::string& suffix)
      : gpus_(spec.gpus),
        latency_(spec.link.latency),
        folded_(folded),
        direction_(static_cast<std::size_t>(gpus_ * gpus_)),
        duplex_(static_cast<std::size_t>(gpus_ * gpus_)) {
    const auto add = [&](const std::string& name, int gpu, BytesPerSecond capacity) {
      return fluid.add_resource({.name = name, .unit = "B/s", .gpu = gpu}, capacity.value);
    };
    for (int src = 0; src < (folded ? 1 : gpus_); ++src) {
      for (int dst = 0; dst < gpus_; ++dst) {
        if (src == dst) continue;
        direction_[index(src, dst)] = add(fmt::format("link{}-{}{}", src, dst, suffix), src, spec.link.one_way);
        if (!folded && src > dst) {
          duplex_[index(src, dst)] = duplex_[index(dst, src)];
        } else {
          const std::string name = fmt::format("link{}-{}.duplex{}", src, dst, suffix);
          duplex_[index(src, dst)] = add(name, src, 2.0 * spec.link.both_ways);
        }
      }
    }
  }

  void add_route(std::vector<Demand>& demands, int src, int dst, Bytes wire_bytes) const override {
    add_demand(demands, direction_[index(src, dst)], wire_bytes.value);
    add_demand(demands, duplex_[index(src, dst)], wire_bytes.value);
    if (folded_) add_demand(demands, duplex_[index(0, gpus_ - dst)], wire_bytes.value);
  }

  Seconds latency(int /*src*/, int /*dst*/) const override { return latency_; }

 private:
  std::size_t index(int src, int dst) const {
    return static_cast<std::size_t>(src) * static_cast<std::size_t>(gpus_) + static_cast<std::size_t>(dst);
  }

  int gpus_;
  Seconds latency_;
  bool folded_;
  std::vector<ResourceId> direction_;  ///< by src * gpus + dst
  std::vector<ResourceId> duplex_;     ///< the same resource for both directions, unless folded
};

}  // namespace

std::unique_ptr<LinkSet> make_full_mesh(FluidSystem& fluid, const NodeSpec& spec, bool folded,
                                        const std::string& suffix) {
  return std::make_unique<FullMesh>(fluid, spec, folded, suffix);
}

}  // namespace c3
