#pragma once
/// Which tensors of a program camp on channels of memory, and with which address mappings.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/execute/address_plan.hpp"

namespace c3 { inline namespace workloads {

/// A tensor that a kernel, a phase of its call or a collective touches.
struct BufferReach {
  std::string name;   ///< "mlp.down A"
  std::string phase;  ///< of a call; empty: the kernel or collective itself
  Bytes bytes;
  bool is_written = false;
  std::int64_t address = 0;
  /// Share of memory's bandwidth that a stream of it alone reaches, by mapping as in kReachMappings: the sum of
  /// its channels' loads over (channels x the fullest). Absent: the number of channels does not allow the
  /// mapping.
  std::vector<std::optional<double>> reach;
};

/// Without random, which spreads every stream.
inline constexpr std::array kReachMappings = {ChannelMapping::consecutive, ChannelMapping::exclusive_or,
                                              ChannelMapping::ipoly, ChannelMapping::page_entropy};

/// The share that all tensors of \p phase reach together.
double reach_of(const TouchedPhase& phase, const AddressMapping& mapping, BytesPerSecond channel_rate);

/// Every tensor of \p program once for each phase that touches it, the least of its operations. \p gpu has
/// channels.
std::vector<BufferReach> buffer_reaches(const GpuSpec& gpu, const Program& program);

}}  // namespace c3::workloads
