#include <fmt/format.h>

#include "interconnect/link_set.hpp"

namespace c3 { inline namespace interconnect {
namespace {

/// One full-duplex link for each pair: each direction carries at most `one_way`, and both together at most
/// twice `both_ways`, because reverse traffic takes acknowledgement slots. Folded, what 0 sends
/// over one link comes to it over another, so a transfer loads the shared part of both.
class FullMesh final : public LinkSet {
 public:
  FullMesh(LinkLayout& layout, const NodeSpec& spec, bool folded)
      : gpus_(spec.gpus),
        latency_(spec.link.latency),
        folded_(folded),
        direction_(static_cast<std::size_t>(gpus_ * gpus_)),
        duplex_(static_cast<std::size_t>(gpus_ * gpus_)) {
    for (int src = 0; src < (folded ? 1 : gpus_); ++src) {
      for (int dst = 0; dst < gpus_; ++dst) {
        if (src == dst) continue;
        direction_[index(src, dst)] =
            layout.add(fmt::format("link{}-{}", src, dst), src, spec.link.one_way, Counted::link, dst);
        if (!folded && src > dst) {
          duplex_[index(src, dst)] = duplex_[index(dst, src)];
        } else {
          duplex_[index(src, dst)] = layout.add(fmt::format("link{}-{}.duplex", src, dst), src,
                                                2.0 * spec.link.both_ways, Counted::nothing, dst);
        }
      }
    }
  }

  void add_route(Route& route, int src, int dst, Bytes wire_bytes, int from) const override {
    route.add(direction_[index(src, dst)], wire_bytes);
    route.add(duplex_[index(src, dst)], wire_bytes);
    if (folded_) route.add(duplex_[index(0, from)], wire_bytes);
  }

  Seconds latency(int /*src*/, int /*dst*/) const override { return latency_; }

 private:
  std::size_t index(int src, int dst) const {
    return static_cast<std::size_t>(src) * static_cast<std::size_t>(gpus_) + static_cast<std::size_t>(dst);
  }

  int gpus_;
  Seconds latency_;
  bool folded_;
  std::vector<ResourceId> direction_;  ///< indexed by src * gpus + dst
  std::vector<ResourceId> duplex_;     ///< the same resource for both directions, unless folded
};

}  // namespace

std::unique_ptr<LinkSet> make_full_mesh(LinkLayout& layout, const NodeSpec& spec, bool folded) {
  return std::make_unique<FullMesh>(layout, spec, folded);
}

}}  // namespace c3::interconnect
