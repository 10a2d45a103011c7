#pragma once
/// What ranks exchange beside the kernels of one part of a model.

#include <cstdint>

#include "engine/units.hpp"

namespace c3 { inline namespace workloads {

/// One exchange that a kernel of a part starts, and for which a later one waits.
struct PartTransfer {
  enum class Way : std::uint8_t { ring, all_to_all, all_gather, reduce_scatter, all_reduce };
  enum class Over : std::uint8_t { context, tensor };
  Way way = Way::ring;
  Bytes bytes;                ///< ring: to the next rank; others: as CollectiveCall counts them
  Over over = Over::context;  ///< ranks that share sequences, or that share each weight

  bool operator==(const PartTransfer&) const = default;
};

}}  // namespace c3::workloads
