#include <fmt/format.h>

#include "interconnect/link_set.hpp"

namespace c3 {
namespace {

/// One full-duplex port for each GPU to a switch that never blocks: out, in, and both together, as a link of a
/// mesh. Folded, rank 0's port receives what it sends.
class Switched final : public LinkSet {
 public:
  Switched(FluidSystem& fluid, const NodeSpec& spec, bool folded, const std::string& suffix) : folded_(folded) {
    const auto add = [&](int gpu, const char* part, BytesPerSecond capacity) {
      const std::string name = fmt::format("port{}.{}{}", gpu, part, suffix);
      return fluid.add_resource({.name = name, .unit = "B/s", .gpu = gpu}, capacity.value);
    };
    for (int gpu = 0; gpu < (folded ? 1 : spec.gpus); ++gpu) {
      out_.push_back(add(gpu, "out", spec.link.one_way));
      in_.push_back(add(gpu, "in", spec.link.one_way));
      duplex_.push_back(add(gpu, "duplex", 2.0 * spec.link.both_ways));
    }
  }

  void add_route(std::vector<Demand>& demands, int src, int dst, Bytes wire_bytes) const override {
    const auto from = static_cast<std::size_t>(src);
    const std::size_t to = folded_ ? from : static_cast<std::size_t>(dst);
    add_demand(demands, out_[from], wire_bytes.value);
    add_demand(demands, in_[to], wire_bytes.value);
    add_demand(demands, duplex_[from], wire_bytes.value);
    add_demand(demands, duplex_[to], wire_bytes.value);
  }

 private:
  bool folded_;
  std::vector<ResourceId> out_, in_, duplex_;  ///< by simulated rank
};

}  // namespace

std::unique_ptr<LinkSet> make_switched(FluidSystem& fluid, const NodeSpec& spec, bool folded,
                                       const std::string& suffix) {
  return std::make_unique<Switched>(fluid, spec, folded, suffix);
}

}  // namespace c3
