#include "interconnect/interconnect.hpp"

#include <stdexcept>

namespace c3 {
namespace {

std::unique_ptr<LinkSet> make_links(FluidSystem& fluid, const NodeSpec& spec, bool folded,
                                    const std::string& suffix) {
  switch (spec.topology) {
    case NodeTopology::full_mesh:
      return make_full_mesh(fluid, spec, folded, suffix);
    case NodeTopology::switched:
      return make_switched(fluid, spec, folded, suffix);
  }
  throw std::logic_error("Interconnect: unknown topology");
}

}  // namespace

Interconnect::Interconnect(FluidSystem& fluid, const NodeSpec& spec, const Setup& setup)
    : spec_(spec), folded_(setup.folded) {
  for (std::size_t i = 0; i < (setup.private_links ? setup.streams.size() : 1); ++i) {
    links_.push_back(make_links(fluid, spec, folded_, setup.private_links ? "." + setup.streams[i] : ""));
  }
}

void Interconnect::add_route(std::vector<Demand>& demands, int stream, int src, int dst,
                             Bytes wire_bytes) const {
  if (src == dst || (folded_ && src != 0)) throw std::logic_error("Interconnect::add_route: no such route");
  links_[links_.size() > 1 ? static_cast<std::size_t>(stream) : 0]->add_route(demands, src, dst, wire_bytes);
}

BytesPerSecond raw_egress(const NodeSpec& node) {
  const double links = node.topology == NodeTopology::full_mesh ? node.gpus - 1.0 : 1.0;
  return node.link.raw * links;
}

Seconds Interconnect::latency(int src, int dst) const { return src == dst ? Seconds{} : spec_.link.latency; }

}  // namespace c3
