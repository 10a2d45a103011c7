#include "workloads/training/memory_ledger.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

namespace c3 { inline namespace workloads {

/// PyTorch's caching allocator over the steps of a run: a pool for each stream.
class MemoryLedger::Allocator {
 public:
  explicit Allocator(const MemoryLedger& ledger) : ledger_(ledger), places_(ledger.entries_.size()) {}

  /// The first step, the optimizer's first tensors, and a step more, which finds those in its way.
  void run_two_steps() {
    run(0);
    for (Tensor tensor = 0; tensor < places_.size(); ++tensor)
      if (ledger_.entries_[tensor].is_late) allocate(tensor);
    end_step();
    run(ledger_.step_begin_);
  }

  Bytes reserved() const { return sum_of(&MemoryPool::reserved); }
  Bytes held() const { return held_; }
  bool is_settled() const { return is_settled_; }

 private:
  void run(std::size_t from) {
    const std::vector<std::size_t>& periods = ledger_.periods_;
    std::vector<std::pair<Bytes, Bytes>> by_period;  // reserved and held
    for (std::size_t change = from; change < ledger_.changes_.size(); ++change) {
      while (by_period.size() < periods.size() && periods[by_period.size()] == change)
        by_period.emplace_back(reserved(), held_);
      const Tensor tensor = ledger_.changes_[change];
      const Entry& entry = ledger_.entries_[tensor];
      if (entry.to == change + 1) {
        release(tensor);
      } else if (entry.unused == change + 1) {
        unused_ += entry.bytes;
      } else if (!entry.is_late) {
        allocate(tensor);
      }
    }
    constexpr std::size_t kFewestPeriods = 4;
    constexpr double kMostGrowth = 1e-3;  // pieces that nothing fits in add up ever more slowly
    is_settled_ = is_settled_ && by_period.size() >= kFewestPeriods;
    if (!is_settled_) return;
    const auto& [reserved_before, held_before] = by_period[by_period.size() / 2];
    const auto& [reserved_now, held_now] = by_period.back();
    is_settled_ = held_now == held_before && reserved_now <= (1.0 + kMostGrowth) * reserved_before;
  }

  void end_step() {
    for (Tensor tensor = 0; tensor < places_.size(); ++tensor)
      if (places_[tensor] && ledger_.entries_[tensor].from > ledger_.step_begin_) release(tensor);
  }

  void allocate(Tensor tensor) {
    const Entry& entry = ledger_.entries_[tensor];
    constexpr MemoryPool::Address kPage = 20 << 20;
    places_[tensor] = pools_.try_emplace(entry.pool, kPage).first->second.allocate(entry.bytes);
    held_ = std::max(held_, sum_of(&MemoryPool::held) - unused_);
  }

  void release(Tensor tensor) {
    const Entry& entry = ledger_.entries_[tensor];
    if (entry.unused != entry.to) unused_ -= entry.bytes;
    pools_.at(entry.pool).release(*std::exchange(places_[tensor], std::nullopt));
  }

  Bytes sum_of(Bytes (MemoryPool::*size)() const) const {
    Bytes sum;
    for (const auto& [stream, pool] : pools_)
      sum += (pool.*size)();
    return sum;
  }

  const MemoryLedger& ledger_;
  std::map<std::size_t, MemoryPool> pools_;
  std::vector<std::optional<MemoryPool::Address>> places_;  ///< by tensor, while it is there
  Bytes held_, unused_;
  bool is_settled_ = true;
};

MemoryLedger::Tensor MemoryLedger::allocate(std::size_t pool, MemoryClass memory_class, std::string name,
                                            Bytes bytes) {
  const Tensor tensor = entries_.size();
  changes_.push_back(tensor);
  entries_.push_back({.name = std::move(name),
                      .memory_class = memory_class,
                      .bytes = bytes,
                      .pool = pool,
                      .from = changes_.size()});
  in_use_ += bytes;
  if (in_use_ > peak_) {
    peak_ = in_use_;
    peak_change_ = changes_.size();
    peak_moment_ = ranges_.empty() ? std::string() : ranges_.back().second;
  }
  return tensor;
}

void MemoryLedger::set_moment(std::string moment) { ranges_.emplace_back(changes_.size(), std::move(moment)); }

void MemoryLedger::allocate_late(std::size_t pool, MemoryClass memory_class, std::string name, Bytes bytes) {
  entries_[allocate(pool, memory_class, std::move(name), bytes)].is_late = true;
}

void MemoryLedger::let_go(Tensor tensor) {
  Entry& entry = entries_.at(tensor);
  if (entry.unused != 0) throw std::logic_error("MemoryLedger: '" + entry.name + "' is let go twice");
  changes_.push_back(tensor);
  entry.unused = changes_.size();
  in_use_ -= entry.bytes;
}

void MemoryLedger::release(Tensor tensor) {
  Entry& entry = entries_.at(tensor);
  if (entry.to != 0) throw std::logic_error("MemoryLedger: '" + entry.name + "' is released twice");
  changes_.push_back(tensor);
  entry.to = changes_.size();
  if (entry.unused != 0) return;
  entry.unused = entry.to;
  in_use_ -= entry.bytes;
}

MemoryLedger::Account MemoryLedger::account() const {
  Allocator allocator(*this);
  allocator.run_two_steps();
  MemoryPeak peak{
      .bytes = peak_, .held = allocator.held(), .reserved = allocator.reserved(), .moment = peak_moment_};
  std::map<std::pair<MemoryClass, std::string>, Bytes> tenants;
  for (const Entry& entry : entries_) {
    if (entry.from > peak_change_ || (entry.unused != 0 && entry.unused <= peak_change_)) continue;
    peak.by_class[static_cast<std::size_t>(entry.memory_class)] += entry.bytes;
    tenants[{entry.memory_class, entry.name}] += entry.bytes;
  }
  for (const auto& [tenant, bytes] : tenants)
    peak.tenants.push_back({tenant.second, tenant.first, bytes});
  std::ranges::stable_sort(peak.tenants, std::ranges::greater(), &MemoryTenant::bytes);
  return {std::move(peak), allocator.is_settled()};
}

std::vector<MemoryMoment> MemoryLedger::moments() const {
  std::vector<MemoryMoment> moments;
  MemoryMoment now;
  std::size_t change = 0;
  const auto apply = [&] {
    const Entry& entry = entries_[changes_[change++]];
    const bool begins = entry.from == change;
    if (!begins && entry.unused != change) return;  // was let go of before
    Bytes& of_class = now.by_class[static_cast<std::size_t>(entry.memory_class)];
    const Bytes more = begins ? entry.bytes : -1.0 * entry.bytes;
    of_class += more;
    now.bytes += more;
  };
  for (std::size_t range = 0; range < ranges_.size(); ++range) {
    while (change < ranges_[range].first)
      apply();
    now.name = ranges_[range].second;
    moments.push_back(now);
    const std::size_t end = range + 1 < ranges_.size() ? ranges_[range + 1].first : changes_.size();
    while (change < end) {
      apply();
      if (now.bytes > moments.back().bytes) moments.back() = now;
    }
  }
  return moments;
}

}}  // namespace c3::workloads
