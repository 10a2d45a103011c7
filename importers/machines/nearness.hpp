#pragma once
/// A tree of processors and PCIe switches from how near devices are to each other.

#include <vector>

#include "importers/machines/machine.hpp"

namespace c3 { inline namespace importers {

/// What is between two devices, from near to far.
enum class Nearness { one_switch, switches, processor, far };

struct NearPair {
  int a = 0;  ///< GPUs first, then NICs
  int b = 0;
  Nearness nearness = Nearness::far;
};

/// Puts hubs into \p machine and its GPUs and NICs to them: devices at one switch, groups of those below a
/// common switch, and a processor for each set of devices that \p pairs join at all. Devices of which nothing
/// is said have a processor of their own.
void plug_in(Machine& machine, const std::vector<NearPair>& pairs);

}}  // namespace c3::importers
