#pragma once
/// The address space in which one stream's tensors are, as PyTorch's caching allocator fills it.

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "engine/units.hpp"

namespace c3 { inline namespace workloads {

/// One segment that grows at its end by whole pages (`expandable_segments`): a tensor gets the smallest free
/// block that it fits in, of equal ones the first, and the one at the end, which can grow, last; what it
/// leaves of that stays free; free neighbours become one block. Nothing is given back while there is room.
/// Source: PyTorch, c10/cuda/CUDACachingAllocator.cpp. Wrong when: segments have fixed sizes, which leaves
/// more in pieces; small tensors (up to 1 MiB) have a pool of their own.
class MemoryPool {
 public:
  using Address = std::uint64_t;
  static constexpr Address kBlock = 512;

  /// \param page bytes by which it grows, a multiple of kBlock
  explicit MemoryPool(Address page = kBlock) : page_(page) {}

  /// \param bytes rounded up to kBlock, and at least so many. \returns where it begins
  Address allocate(Bytes bytes);
  /// \pre \p address was returned by allocate() and not released since.
  void release(Address address);
  Bytes reserved() const { return Bytes{static_cast<double>(end_)}; }
  /// What it would keep if it gave back every page on which no tensor is.
  Bytes held() const { return Bytes{static_cast<double>(end_ - free_pages_)}; }

 private:
  Address grown(Address size);  ///< where \p size more bytes begin
  void add_free(Address begin, Address size);
  /// \returns the free block after it
  std::map<Address, Address>::iterator erase_free(std::map<Address, Address>::iterator block);
  Address pages_within(Address begin, Address size) const;

  Address page_;
  Address end_ = 0;
  Address free_pages_ = 0;                         ///< bytes of whole pages within free blocks
  std::unordered_map<Address, Address> used_;      ///< size by address
  std::map<Address, Address> free_;                ///< likewise
  std::set<std::pair<Address, Address>> by_size_;  ///< (size, address) of what is free but at the end
};

}}  // namespace c3::workloads
