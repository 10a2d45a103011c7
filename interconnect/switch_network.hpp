#pragma once
/// The switches of a fabric: which links there are, and which of them a transfer takes. Routes are arithmetic
/// on the numbers of NICs, so that nothing grows with the pairs of them. NIC n is NIC n % m of node n / m.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "interconnect/fabric.hpp"
#include "interconnect/link_layout.hpp"

namespace c3 { inline namespace interconnect {

class SwitchNetwork {
 public:
  SwitchNetwork() = default;
  SwitchNetwork(const SwitchNetwork&) = delete;
  SwitchNetwork& operator=(const SwitchNetwork&) = delete;
  virtual ~SwitchNetwork() = default;

  using AddLink = std::function<void(const std::string& name, BytesPerSecond capacity)>;
  /// Names every link in the order of its number: "leaf0-spine1" leads from a leaf to a spine.
  virtual void add_links(const AddLink& add) const = 0;
  /// How many they are.
  virtual double links() const = 0;

  /// What goes from NIC \p src to NIC \p dst of another node takes. \param flow chooses among paths.
  virtual void add_path(Route& route, int src, int dst, Bytes wire_bytes, std::uint64_t flow) const = 0;

  /// Links between switches on the way.
  virtual int hops(int src, int dst) const = 0;
};

/// Switches with links between them; nullptr for a single one. \p fabric must outlive it.
std::unique_ptr<SwitchNetwork> make_switch_network(const FabricSpec& fabric, int nodes);

/// The share of the switches that one rank of \p network has, which stands for all: transfers from NIC 0 load
/// what all ranks' transfers over the same distance load, in the mean. Requires is_symmetric(network).
std::unique_ptr<SwitchNetwork> make_folded_switch_network(const NetworkSpec& network);

/// Latency from each of \p members, nodes of a fabric of \p nodes, to the next, the last to the first: in the
/// mean, of switches beyond the first and the links to them. 0 behind one switch.
Seconds latency_between_switches(const FabricSpec& fabric, int nodes, const std::vector<int>& members);

std::unique_ptr<SwitchNetwork> make_tree(const FabricSpec& fabric, int nodes);
std::unique_ptr<SwitchNetwork> make_dragonfly(const FabricSpec& fabric, int nodes);
std::unique_ptr<SwitchNetwork> make_torus(const FabricSpec& fabric);

/// Mixes the bits of \p value well, and alike on every machine.
std::uint64_t mix(std::uint64_t value);
/// The hash by which one flow of a transfer chooses its path.
std::uint64_t flow_hash(std::uint64_t seed, int src_nic, int dst_nic, int lane, int flow);

}}  // namespace c3::interconnect
