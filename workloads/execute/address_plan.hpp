#pragma once
/// Where the operands of a program's operations lie in memory, and so which of its channels they load.

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "gpu/channels/channel_load.hpp"
#include "gpu/memory.hpp"
#include "workloads/program/program.hpp"

namespace c3::inline workloads {

/// A tensor that an operation reads or writes, and what of it is touched at about the same time.
struct PlacedOperand {
  std::string name;  ///< of its operation, with the operand's: "mlp.down A"
  Bytes bytes;       ///< of the tensor
  bool is_written = false;
  Footprint footprint;
};

/// Gives addresses to the operands of a program, one after another in the order of streams and operations, and
/// works out how each operation loads the channels. Operations of one name and shape have the same operands, as
/// the same kernel of many layers and steps does. A tensor from 1 MiB on begins at a multiple of 2 MiB, a
/// smaller one at one of 512 B: the granularity of cudaMalloc and of PyTorch's blocks. At about the same time
/// touched are
///  - of a product's operands, one step of K of all rows that lie along it, `kStep` elements each, or `kStep`
///  whole
///    rows that lie across it; of its result, the parts of rows of a tile;
///  - of a collective's buffer, `kInFlight` bytes of each of its channels, which have equal parts of it;
///  - of everything else, all of it.
/// Wrong when: work groups have drifted apart from the step in which they began; pages are scattered over
/// memory in pieces smaller than the stride between rows; the allocator reuses what was freed.
class AddressPlan {
 public:
  static constexpr std::int64_t kStep = 64;        ///< elements
  static constexpr std::int64_t kTile = 256;       ///< columns of a product's result
  static constexpr std::int64_t kMostRows = 4096;  ///< of a footprint: it repeats long before
  static constexpr int kUsualWidth = 64;           ///< channels of a collective
  static constexpr std::int64_t kInFlight = 4096;  ///< B: some 100 GB/s of 64 channels times a latency

  /// \p hbm must outlive it and have channels. \throws InfeasibleError as AddressMapping
  AddressPlan(const HbmSpec& hbm, const Program& program);

  /// How \p operation, a kernel or a collective of \p width channels, loads the channels of memory; nullptr:
  /// all alike. Lives as long as the plan. The same whatever was asked before.
  const ChannelShares* shares_of(const Operation& operation, int width = kUsualWidth);
  /// Of the same, its operands.
  std::vector<PlacedOperand> operands_of(const Operation& operation, int width = kUsualWidth) const;
  const AddressMapping& mapping() const { return mapping_; }
  /// Of one channel, for rows' cycles.
  BytesPerSecond channel_rate() const;

 private:
  using Key = std::tuple<std::string, std::uint64_t>;  ///< name, bytes

  void allocate(const Operation& operation);
  std::int64_t address_of(const PlacedOperand& operand) const;

  const HbmSpec& hbm_;
  const Program& program_;
  AddressMapping mapping_;
  std::map<Key, std::int64_t> addresses_;
  std::int64_t end_ = 0;
  std::map<std::string, ChannelShares> shares_;  ///< by the footprints of all operands
};

}  // namespace c3::workloads
