#include <array>

#include "configs/spec_readers.hpp"

namespace c3 {
namespace {

constexpr int kMostGpus = 64;  // of one node; more are joined by a fabric

constexpr std::array<std::pair<std::string_view, NodeTopology>, 2> kTopologies = {{
    {"full_mesh", NodeTopology::full_mesh},
    {"switched", NodeTopology::switched},
}};

}  // namespace

NodeSpec read_node(Section& section) {
  NodeSpec node{.name = section.slug("name"),
                .topology = section.choice<NodeTopology>("topology", kTopologies),
                .gpus = static_cast<int>(section.integer("gpus", 1, kMostGpus)),
                .link = {.raw = section.bandwidth("link_raw"),
                         .one_way = section.bandwidth("link_one_way"),
                         .both_ways = section.bandwidth("link_both_ways"),
                         .latency = section.duration("link_latency")}};
  if (node.link.one_way > node.link.raw) section.fail("link_one_way", "must not be above link_raw");
  if (node.link.both_ways > node.link.one_way) section.fail("link_both_ways", "must not be above link_one_way");
  section.finish();
  return node;
}

}  // namespace c3
