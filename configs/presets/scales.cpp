#include "configs/presets/scales.hpp"

#include "configs/fields/fabric_fields.hpp"
#include "configs/fields/library_fields.hpp"
#include "configs/fields/node_fields.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::string_view kLinkScale = "link_scale";

}  // namespace

double read_scale(Section& section, std::string_view key, const Conditions& used_if) {
  constexpr double kLeast = 1e-3;
  constexpr double kMost = 1e3;
  const double factor = section.has(key) ? section.fraction(key, kMost, kLeast) : 1.0;
  section.explain({key, "multiplies every rate of the kind; no preset has it", 1.0, used_if});
  return factor;
}

void scale_links(NodeSpec& node, double factor) {
  scale_fields(node.link, kLinkFields, kLinkScale, factor);
  scale_fields(node.pcie, kLinkFields, kLinkScale, factor);
  scale_fields(node.c2c, kLinkFields, kLinkScale, factor);
  scale_fields(node.host, kSocketFields, kLinkScale, factor);
  for (LinkSpec& link : node.other_links)
    scale_fields(link, kLinkFields, kLinkScale, factor);
}

void scale_links(CollectiveLibrarySpec& library, double factor) {
  scale_fields(library, kLibraryFields, kLinkScale, factor);
  scale_fields(library, kNvlsFields, kLinkScale, factor);
}

void scale_links(FabricSpec& fabric, double factor) {
  scale_fields(fabric.nic, kLinkFields, kLinkScale, factor);
  scale_fields(fabric.link, kLinkFields, kLinkScale, factor);
}

}}  // namespace c3::configs
