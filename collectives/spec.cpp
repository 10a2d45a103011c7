#include "collectives/spec.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace c3 { inline namespace collectives {

bool offers(const CollectiveLibrarySpec& library, Protocol protocol) {
  return protocol == Protocol::simple || (protocol == Protocol::ll ? library.ll : library.ll128).has_value();
}

const ProtocolSpec& protocol_of(const CollectiveLibrarySpec& library, Protocol protocol) {
  if (!offers(library, protocol)) throw std::logic_error("protocol_of: not offered");
  if (protocol == Protocol::simple) return library.simple;
  return protocol == Protocol::ll ? *library.ll : *library.ll128;
}

std::vector<int> ClusterSpec::first_of_each_node(int gpus) const {
  std::vector<int> ranks;
  for (int of_node = 0; of_node < nodes; ++of_node) {
    for (int member = 0; member < gpus; ++member)
      ranks.push_back(of_node * node.gpus + member);
  }
  return ranks;
}

std::string title_of(const ClusterSpec& cluster) {
  if (cluster.nodes == 1) return cluster.name;
  return fmt::format("{} x {} nodes, {}", cluster.name, cluster.nodes, cluster.fabric->name);
}

bool passes_between_nodes(const ClusterSpec& cluster, Protocol protocol) {
  if (protocol == Protocol::simple || !cluster.fabric) return true;
  const FlagSupport flags = cluster.fabric->transport.flags;
  return flags == FlagSupport::all || (flags == FlagSupport::words && protocol == Protocol::ll);
}

}}  // namespace c3::collectives
