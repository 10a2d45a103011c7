#pragma once
/// Where the operands of a program's operations lie in memory, and so which of its channels they load.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "gpu/channels/channel_load.hpp"
#include "gpu/channels/footprint.hpp"
#include "gpu/memory.hpp"
#include "gpu/spec.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// Gives addresses to the operands of a program, one after another in the order of streams and operations, and
/// works out how each operation loads the channels. Operations of one name and shape have the same operands, as
/// the same kernel of many layers and steps does. A tensor from 1 MiB on begins at a multiple of 2 MiB, a
/// smaller one at one of 512 B: the granularity of cudaMalloc and of PyTorch's blocks. At about the same time
/// touched are
///  - of a kernel's tensors, what its class of operators says (OperatorClass::touches), in each phase of its
///    call: of a product's operands, a step of K, and of its result, a tile;
///  - of a collective's buffer, `kInFlight` bytes of each of its channels, which have equal parts of it;
///  - of everything else, all of it.
/// Wrong when: work groups have drifted apart from the step in which they began; pages are scattered over
/// memory in pieces smaller than the stride between rows; the allocator reuses what was freed.
class AddressPlan {
 public:
  static constexpr int kUsualWidth = 64;           ///< channels of a collective
  static constexpr std::int64_t kInFlight = 4096;  ///< B: some 100 GB/s of 64 channels times a latency

  /// \p gpu and \p program must outlive it; \p gpu has channels. \throws InfeasibleError as AddressMapping
  AddressPlan(const GpuSpec& gpu, const Program& program);

  /// How \p operation, a kernel or a collective of \p width channels, loads the channels of memory, by phase of
  /// its call; empty: all alike. Lives as long as the plan. The same whatever was asked before.
  std::span<const ChannelShares> shares_of(const Operation& operation, int width = kUsualWidth);
  /// Of the same, what it touches; tensors have their operation's name before theirs: "mlp.down A". Empty: all
  /// channels alike.
  std::vector<TouchedPhase> phases_of(const Operation& operation, int width = kUsualWidth) const;
  const AddressMapping& mapping() const { return mapping_; }
  /// Of one channel, for rows' cycles.
  BytesPerSecond channel_rate() const;

 private:
  using Key = std::tuple<std::string, std::uint64_t>;  ///< name, bytes

  void allocate(const Operation& operation);
  std::int64_t address_of(const TouchedTensor& operand) const;
  ChannelShares shares_of(const TouchedPhase& phase) const;

  const GpuSpec& gpu_;
  const Program& program_;
  AddressMapping mapping_;
  std::map<Key, std::int64_t> addresses_;
  std::int64_t end_ = 0;
  std::map<std::string, std::vector<ChannelShares>> shares_;  ///< by the footprints of all operands
};

}}  // namespace c3::workloads
