#include "interconnect/nic_links.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace c3 {

NicRange nics_of(int gpu, int gpus, int nics) {
  const int first = gpu * nics / gpus;
  return {first, std::max(1, (gpu + 1) * nics / gpus - first)};
}

namespace {

DuplexPart add_duplex(LinkLayout& layout, const std::string& name, int gpu, const LinkSpec& link,
                      double share) {
  return {.forward = layout.add(name + ".out", gpu, link.one_way * share),
          .backward = layout.add(name + ".in", gpu, link.one_way * share),
          .duplex = layout.add(name + ".duplex", gpu, link.both_ways * (2.0 * share))};
}

}  // namespace

NicLinks::NicLinks(LinkLayout& layout, const NodeSpec& node, const FabricSpec& fabric, bool folded)
    : gpus_(node.gpus), nic_count_(fabric.nics_per_node) {
  for (int gpu = 0; gpu < (folded ? 1 : gpus_); ++gpu)
    pcie_.push_back(add_duplex(layout, fmt::format("pcie{}", gpu), gpu, node.pcie, 1.0));
  const int kept = folded ? range_of(0).count : nic_count_;
  const double share = folded ? std::min(1.0, double(nic_count_) / gpus_) : 1.0;
  for (int nic = 0; nic < kept; ++nic) {
    const int gpu = nic * gpus_ / nic_count_;  // the first that uses it
    nics_.push_back(add_duplex(layout, fmt::format("nic{}", nic), gpu, fabric.nic, share));
  }
}

void NicLinks::add_out(Route& route, int gpu, Bytes wire_bytes) const {
  const auto add = [&](const DuplexPart& link, Bytes bytes) {
    route.add(link.forward, bytes);
    route.add(link.duplex, bytes);
  };
  const NicRange range = range_of(gpu);
  add(pcie_[static_cast<std::size_t>(gpu)], wire_bytes);
  for (int nic = range.first; nic < range.first + range.count; ++nic)
    add(nics_[static_cast<std::size_t>(nic)], wire_bytes / double(range.count));
}

void NicLinks::add_in(Route& route, int gpu, Bytes wire_bytes) const {
  const auto add = [&](const DuplexPart& link, Bytes bytes) {
    route.add(link.backward, bytes);
    route.add(link.duplex, bytes);
  };
  const NicRange range = range_of(gpu);
  add(pcie_[static_cast<std::size_t>(gpu)], wire_bytes);
  for (int nic = range.first; nic < range.first + range.count; ++nic)
    add(nics_[static_cast<std::size_t>(nic)], wire_bytes / double(range.count));
}

}  // namespace c3
