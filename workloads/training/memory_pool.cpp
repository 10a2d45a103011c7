#include "workloads/training/memory_pool.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace c3::inline workloads {

MemoryPool::Address MemoryPool::allocate(Bytes bytes) {
  constexpr double kBlock = 512.0;
  const auto size = static_cast<Address>(std::max(1.0, std::ceil(bytes.value / kBlock)) * kBlock);
  const auto fitting = by_size_.lower_bound({size, 0});
  Address begin = end_;
  if (fitting != by_size_.end()) {
    const auto [free_size, at] = *fitting;
    by_size_.erase(fitting);
    free_.erase(at);
    begin = at;
    if (free_size > size) add_free(at + size, free_size - size);
  } else if (!free_.empty() && std::prev(free_.end())->first + std::prev(free_.end())->second == end_) {
    const auto [at, free_size] = *std::prev(free_.end());  // the free end grows
    by_size_.erase({free_size, at});
    free_.erase(at);
    begin = at;
    end_ = at + size;
  } else {
    end_ += size;
  }
  used_.emplace(begin, size);
  return begin;
}

void MemoryPool::release(Address address) {
  const auto used = used_.find(address);
  const Address size = used->second;
  used_.erase(used);
  add_free(address, size);
}

void MemoryPool::add_free(Address begin, Address size) {
  const auto join = [&](std::map<Address, Address>::iterator neighbour) {
    by_size_.erase({neighbour->second, neighbour->first});
    size += neighbour->second;
    begin = std::min(begin, neighbour->first);
    free_.erase(neighbour);
  };
  const auto after = free_.find(begin + size);
  if (after != free_.end()) join(after);
  const auto next = free_.lower_bound(begin);
  if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == begin) join(std::prev(next));
  free_.emplace(begin, size);
  by_size_.emplace(size, begin);
}

}  // namespace c3::workloads
