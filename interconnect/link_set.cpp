#include "interconnect/link_set.hpp"

#include <stdexcept>

namespace c3 { inline namespace interconnect {

// Topologies without these links inherit the functions below; nobody may call them.

void LinkSet::add_to_switch(Route&, int, Bytes) const {
  throw std::logic_error("LinkSet: no switch to send to");
}

void LinkSet::add_from_switch(Route&, int, Bytes) const {
  throw std::logic_error("LinkSet: no switch to receive from");
}

void LinkSet::add_to_nic(Route&, int, int, Bytes) const {
  throw std::logic_error("LinkSet: no vertex to send to");
}

void LinkSet::add_from_nic(Route&, int, int, Bytes) const {
  throw std::logic_error("LinkSet: no vertex to receive from");
}

void LinkSet::add_to_host(Route&, int, Bytes) const { throw std::logic_error("LinkSet: no host to send to"); }

void LinkSet::add_from_host(Route&, int, Bytes) const {
  throw std::logic_error("LinkSet: no host to receive from");
}

void LinkSet::add_host_memory(Route&, int, Bytes) const {
  throw std::logic_error("LinkSet: no memory of a host");
}

Seconds LinkSet::host_latency(int) const { throw std::logic_error("LinkSet: no host"); }

BytesPerSecond LinkSet::host_rate(int) const { throw std::logic_error("LinkSet: no link to a host"); }

Seconds LinkSet::nic_latency(int, int) const { throw std::logic_error("LinkSet: no vertex with a NIC"); }

}}  // namespace c3::interconnect
