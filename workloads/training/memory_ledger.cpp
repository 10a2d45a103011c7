#include "workloads/training/memory_ledger.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace c3::inline workloads {

MemoryLedger::Tensor MemoryLedger::allocate(std::size_t pool, MemoryClass memory_class, std::string name,
                                            Bytes bytes) {
  entries_.push_back({.name = std::move(name),
                      .memory_class = memory_class,
                      .bytes = bytes,
                      .pool = pool,
                      .address = pools_[pool].allocate(bytes),
                      .from = ++changes_});
  in_use_ += bytes;
  if (in_use_ > peak_) {
    peak_ = in_use_;
    peak_change_ = changes_;
    peak_moment_ = moment_;
  }
  return entries_.size() - 1;
}

void MemoryLedger::release(Tensor tensor) {
  Entry& entry = entries_.at(tensor);
  if (entry.to != 0) throw std::logic_error("MemoryLedger: '" + entry.name + "' is released twice");
  entry.to = ++changes_;
  pools_[entry.pool].release(entry.address);
  in_use_ -= entry.bytes;
}

Bytes MemoryLedger::reserved() const {
  Bytes sum;
  for (const auto& [stream, pool] : pools_)
    sum += pool.reserved();
  return sum;
}

MemoryPeak MemoryLedger::peak() const {
  MemoryPeak peak{.bytes = peak_, .reserved = reserved(), .moment = peak_moment_};
  std::map<std::pair<MemoryClass, std::string>, Bytes> tenants;
  for (const Entry& entry : entries_) {
    if (entry.from > peak_change_ || (entry.to != 0 && entry.to <= peak_change_)) continue;
    peak.by_class[static_cast<std::size_t>(entry.memory_class)] += entry.bytes;
    tenants[{entry.memory_class, entry.name}] += entry.bytes;
  }
  for (const auto& [tenant, bytes] : tenants)
    peak.tenants.push_back({tenant.second, tenant.first, bytes});
  std::ranges::stable_sort(peak.tenants, std::ranges::greater(), &MemoryTenant::bytes);
  return peak;
}

}  // namespace c3::workloads
