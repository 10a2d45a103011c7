#include "interconnect/interconnect.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace c3 {

Interconnect::Interconnect(FluidSystem& fluid, const NodeSpec& spec, const Setup& setup)
    : spec_(spec), folded_(setup.folded) {
  for (std::size_t i = 0; i < (setup.private_links ? setup.streams.size() : 1); ++i) {
    links_.push_back(make_links(fluid, setup.private_links ? "." + setup.streams[i] : ""));
  }
}

Interconnect::Links Interconnect::make_links(FluidSystem& fluid, const std::string& suffix) const {
  Links links;
  const auto count = static_cast<std::size_t>(spec_.gpus * spec_.gpus);
  links.direction.resize(count);
  links.duplex.resize(count);
  const auto add = [&](const std::string& name, int gpu, BytesPerSecond capacity) {
    return fluid.add_resource({.name = name, .unit = "B/s", .gpu = gpu}, capacity.value);
  };
  for (int src = 0; src < (folded_ ? 1 : spec_.gpus); ++src) {
    for (int dst = 0; dst < spec_.gpus; ++dst) {
      if (src == dst) continue;
      links.direction[index(src, dst)] = add(fmt::format("link{}-{}{}", src, dst, suffix), src, spec_.link.one_way);
      if (!folded_ && src > dst) {
        links.duplex[index(src, dst)] = links.duplex[index(dst, src)];
      } else {
        const std::string name = fmt::format("link{}-{}.duplex{}", src, dst, suffix);
        links.duplex[index(src, dst)] = add(name, src, 2.0 * spec_.link.both_ways);
      }
    }
  }
  return links;
}

void Interconnect::add_route(std::vector<Demand>& demands, int stream, int src, int dst, Bytes wire_bytes) const {
  if (src == dst || (folded_ && src != 0)) throw std::logic_error("Interconnect::add_route: no such route");
  const Links& links = links_[links_.size() > 1 ? static_cast<std::size_t>(stream) : 0];
  add_demand(demands, links.direction[index(src, dst)], wire_bytes.value);
  add_demand(demands, links.duplex[index(src, dst)], wire_bytes.value);
  if (folded_) add_demand(demands, links.duplex[index(0, spec_.gpus - dst)], wire_bytes.value);
}

Seconds Interconnect::latency(int src, int dst) const { return src == dst ? Seconds{} : spec_.link.latency; }

}  // namespace c3
