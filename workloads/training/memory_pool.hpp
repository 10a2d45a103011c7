#pragma once
/// The address space in which one stream's tensors are, as PyTorch's caching allocator fills it.

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "engine/units.hpp"

namespace c3::inline workloads {

/// One segment that grows at its end (`expandable_segments`): a tensor gets the smallest free block that it
/// fits in, of equal ones the first; what it leaves of that stays free; free neighbours become one block.
/// Nothing is given back. Wrong when: segments have fixed sizes, which leaves more in pieces; small tensors (up
/// to 1 MiB) have a pool of their own.
class MemoryPool {
 public:
  using Address = std::uint64_t;

  /// \param bytes rounded up to 512, and at least so many. \returns where it begins
  Address allocate(Bytes bytes);
  /// \pre \p address was returned by allocate() and not released since.
  void release(Address address);
  Bytes reserved() const { return Bytes{static_cast<double>(end_)}; }

 private:
  void add_free(Address begin, Address size);

  Address end_ = 0;
  std::map<Address, Address> used_;                ///< size by address
  std::map<Address, Address> free_;                ///< likewise
  std::set<std::pair<Address, Address>> by_size_;  ///< (size, address) of what is free
};

}  // namespace c3::workloads
