#include "configs/scales.hpp"

namespace c3 {
namespace {

void scale(LinkSpec& link, double factor) {
  link.raw = link.raw * factor;
  link.one_way = link.one_way * factor;
  link.both_ways = link.both_ways * factor;
}

}  // namespace

double read_scale(Section& section, std::string_view key) {
  constexpr double kLeast = 1e-3;
  constexpr double kMost = 1e3;
  return section.has(key) ? section.fraction(key, kMost, kLeast) : 1.0;
}

void scale(HbmSpec& hbm, double factor) {
  hbm.peak = hbm.peak * factor;
  hbm.read = hbm.read * factor;
  hbm.write = hbm.write * factor;
  hbm.copy = hbm.copy * factor;
  hbm.service = hbm.service / factor;
}

void scale_flops(ComputeSpec& compute, double factor) {
  for (MatrixRate& rate : compute.matrix) {
    rate.peak = rate.peak * factor;
    rate.sustained = rate.sustained * factor;
  }
}

void scale_links(NodeSpec& node, double factor) {
  scale(node.link, factor);
  scale(node.pcie, factor);
  for (LinkSpec& link : node.other_links)
    scale(link, factor);
}

void scale_links(CollectiveLibrarySpec& library, double factor) {
  library.link_payload = library.link_payload * factor;
  library.tuner_bandwidth = library.tuner_bandwidth * factor;
  library.nvls_payload = library.nvls_payload * factor;
  library.nvls_tuner_bandwidth = library.nvls_tuner_bandwidth * factor;
}

void scale_links(FabricSpec& fabric, double factor) {
  scale(fabric.nic, factor);
  scale(fabric.link, factor);
}

}  // namespace c3
