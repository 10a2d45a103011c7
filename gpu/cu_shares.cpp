#include "gpu/cu_shares.hpp"

#include <algorithm>
#include <stdexcept>

namespace c3 { inline namespace gpu {

CuShares::CuShares(int xcds, int cus_per_xcd)
    : cus_per_xcd_(cus_per_xcd), cus_(static_cast<std::size_t>(xcds) * static_cast<std::size_t>(cus_per_xcd)) {}

// Nearly always the first: one kernel is on the CU.
CuShares::Entry* CuShares::find(std::vector<Entry>& entries, const ComputeClient& client) {
  for (Entry& entry : entries) {
    if (entry.client == &client) return &entry;
  }
  return nullptr;
}

CuShares::Unit& CuShares::touch(int xcd, int cu) {
  if (units_.empty()) units_.resize(cus_);
  Unit& unit = units_[index(xcd, cu)];
  if (!unit.touched) {
    unit.touched = true;
    touched_.push_back({xcd, cu});
  }
  return unit;
}

void CuShares::join(int xcd, int cu, ComputeClient& client, int waves, int groups) {
  std::vector<Entry>& entries = touch(xcd, cu).entries;
  Entry* entry = find(entries, client);
  if (entry == nullptr) entry = &entries.emplace_back(Entry{.client = &client, .waves = waves});
  entry->groups += groups;
}

void CuShares::join_alone(int xcd, int cu, ComputeClient& client, int waves, int groups) {
  if (units_.empty()) units_.resize(cus_);
  units_[index(xcd, cu)].entries.push_back(
      {.client = &client, .groups = groups, .waves = waves, .settled = {.groups = groups}});
}

void CuShares::leave(int xcd, int cu, const ComputeClient& client, int groups) {
  Entry* const entry = find(touch(xcd, cu).entries, client);
  if (entry == nullptr || entry->groups < groups) throw std::logic_error("CuShares::leave: nobody is there");
  entry->groups -= groups;
}

void CuShares::settle() {
  to_tell_.clear();
  for (const auto [xcd, cu] : touched_) {
    std::vector<Entry>& entries = units_[index(xcd, cu)].entries;
    std::erase_if(entries, [](const Entry& entry) { return entry.groups == 0; });
    divide(entries);
    for (Entry& entry : entries)
      publish(xcd, entry);
  }
  for (const auto [client, xcd] : to_tell_)
    client->on_shares_changed(xcd);
  for (const auto [xcd, cu] : touched_)
    units_[index(xcd, cu)].touched = false;
  touched_.clear();
}

// Filled from the least demanding kernel up: who asks for less than its part of what is left gets that, and the
// rest is for the others.
void CuShares::divide(std::vector<Entry>& entries) {
  for (Entry& entry : entries)
    entry.available = 1.0;
  if (entries.size() < 2) return;
  const auto waves = [](const Entry& entry) { return static_cast<double>(entry.groups) * entry.waves; };
  unserved_.clear();
  double waves_left = 0.0;
  for (Entry& entry : entries) {
    unserved_.push_back({&entry, entry.client->arithmetic_asked(entry.groups)});
    waves_left += waves(entry);
  }
  std::ranges::stable_sort(unserved_, {}, [&](const Asking& one) { return one.asked / waves(*one.entry); });
  double left = 1.0;
  for (const Asking& one : unserved_) {
    const double fair = left * (waves(*one.entry) / waves_left);
    if (one.asked > fair) one.entry->available = fair;
    left -= std::min(one.asked, fair);
    waves_left -= waves(*one.entry);
  }
}

void CuShares::publish(int xcd, Entry& entry) {
  const ArithmeticShare now{entry.groups, entry.available};
  if (now == entry.settled) return;
  entry.settled = now;
  const Told told{entry.client, xcd};
  if (std::ranges::find(to_tell_, told) == to_tell_.end()) to_tell_.push_back(told);
}

ArithmeticShare CuShares::of(const ComputeClient& client, int xcd, int cu) const {
  if (units_.empty()) throw std::logic_error("CuShares::of: nobody is there");
  for (const Entry& entry : units_[index(xcd, cu)].entries) {
    if (entry.client == &client) return entry.settled;
  }
  throw std::logic_error("CuShares::of: nobody is there");
}

}}  // namespace c3::gpu
