#include "collectives/spec.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace c3 {

std::string_view name_of(Backend backend) {
  switch (backend) {
    case Backend::cu:
      return "cu";
    case Backend::dma:
      return "dma";
    case Backend::fused:
      return "fused";
  }
  throw std::logic_error("name_of: unknown backend");
}

std::string_view name_of(FusedReduction reduction) {
  switch (reduction) {
    case FusedReduction::near_memory:
      return "near_memory";
    case FusedReduction::atomics:
      return "atomics";
    case FusedReduction::cu:
      return "cu";
  }
  throw std::logic_error("name_of: unknown reduction");
}

std::string_view name_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::ll:
      return "ll";
    case Protocol::ll128:
      return "ll128";
    case Protocol::simple:
      return "simple";
  }
  throw std::logic_error("name_of: unknown protocol");
}

std::string_view name_of(LaunchPath path) {
  switch (path) {
    case LaunchPath::graph:
      return "graph";
    case LaunchPath::eager:
      return "eager";
    case LaunchPath::one_process:
      return "one_process";
  }
  throw std::logic_error("name_of: unknown launch path");
}

bool offers(const CollectiveLibrarySpec& library, Protocol protocol) {
  return protocol == Protocol::simple || (protocol == Protocol::ll ? library.ll : library.ll128).has_value();
}

const ProtocolSpec& protocol_of(const CollectiveLibrarySpec& library, Protocol protocol) {
  if (!offers(library, protocol)) throw std::logic_error("protocol_of: not offered");
  if (protocol == Protocol::simple) return library.simple;
  return protocol == Protocol::ll ? *library.ll : *library.ll128;
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

}  // namespace c3
