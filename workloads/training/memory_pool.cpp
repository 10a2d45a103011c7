#include "workloads/training/memory_pool.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace c3 { inline namespace workloads {
namespace {

MemoryPool::Address rounded_up(MemoryPool::Address value, MemoryPool::Address to) {
  return (value + to - 1) / to * to;
}

}  // namespace

MemoryPool::Address MemoryPool::allocate(Bytes bytes) {
  const auto size = rounded_up(std::max<Address>(1, static_cast<Address>(std::ceil(bytes.value))), kBlock);
  const auto fitting = by_size_.lower_bound({size, 0});
  Address begin = 0;
  if (fitting != by_size_.end()) {
    const auto [free_size, at] = *fitting;
    begin = at;
    erase_free(free_.find(at));
    if (free_size > size) add_free(at + size, free_size - size);
  } else {
    begin = grown(size);
  }
  used_.emplace(begin, size);
  return begin;
}

MemoryPool::Address MemoryPool::grown(Address size) {
  Address begin = end_;
  if (!free_.empty()) {  // the free end grows
    const auto last = std::prev(free_.end());
    if (last->first + last->second == end_) {
      begin = last->first;
      erase_free(last);
    }
  }
  if (begin + size > end_) end_ += rounded_up(begin + size - end_, page_);
  if (end_ > begin + size) add_free(begin + size, end_ - begin - size);
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
    size += neighbour->second;
    begin = std::min(begin, neighbour->first);
    return erase_free(neighbour);
  };
  auto next = free_.lower_bound(begin);
  if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == begin) join(std::prev(next));
  if (next != free_.end() && next->first == begin + size) next = join(next);
  free_.emplace_hint(next, begin, size);
  if (begin + size < end_) by_size_.emplace(size, begin);
  free_pages_ += pages_within(begin, size);
}

std::map<MemoryPool::Address, MemoryPool::Address>::iterator MemoryPool::erase_free(
    std::map<Address, Address>::iterator block) {
  free_pages_ -= pages_within(block->first, block->second);
  by_size_.erase({block->second, block->first});
  return free_.erase(block);
}

MemoryPool::Address MemoryPool::pages_within(Address begin, Address size) const {
  const Address first = rounded_up(begin, page_);
  const Address last = (begin + size) / page_ * page_;
  return last > first ? last - first : 0;
}

}}  // namespace c3::workloads
