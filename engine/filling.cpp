#include "engine/filling.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace c3 { inline namespace engine { namespace filling {

void Filler::fix(std::uint32_t flow, double rate, double level, std::uint32_t bottleneck) {
  Flow& f = flows_[flow];
  f.next_rate = rate;
  f.next_level = level;
  f.next_bottleneck = bottleneck;
  f.fixed = true;
  --left_;
  for (const Membership& m : f.limits()) {
    if (m.resource == bottleneck) continue;  // full: see fix_users()
    Resource& r = resources_[m.resource];
    r.residual -= m.amount * (rate - f.granted);
    --r.unfixed;
    r.stale = true;
  }
}

Filler::Candidate Filler::candidate(ResourceId resource) const {
  const Resource& r = resources_[resource];
  return {std::max(0.0, r.residual) / r.weight, resource};
}

// Afresh, never by differences: a heavy flow would leave nothing but the rounding of light ones.
void Filler::sum_weight(ResourceId resource) {
  Resource& r = resources_[resource];
  r.weight = 0.0;
  for (const User& user : r.users) {
    const Flow& f = flows_[user.flow];
    if (f.working && !f.fixed) r.weight += user.amount * f.weight;
  }
  r.stale = false;
}

void Filler::fix_users(ResourceId resource, double level) {
  resources_[resource].residual = 0.0;
  resources_[resource].unfixed = 0;
  double highest_of_others = 0.0;
  for (const User& user : resources_[resource].users) {
    const Flow& f = flows_[user.flow];
    if (!f.working) {
      highest_of_others = std::max(highest_of_others, f.level);
    } else if (!f.fixed) {
      fix(user.flow, f.granted + f.weight * level, level, resource);
    }
  }
  stops_.push_back({level, highest_of_others});
}

void Filler::fill(std::span<const std::uint32_t> flows, std::span<const ResourceId> neighbours) {
  full_.clear();
  bounds_.clear();
  stops_.clear();
  left_ = flows.size();
  for (const ResourceId resource : neighbours) {
    Resource& r = resources_[resource];
    r.unfixed = 0;
    r.weight = 0.0;
    r.most = 0.0;
    r.stale = false;
  }
  for (const std::uint32_t flow : flows) {
    const Flow& f = flows_[flow];
    const double rise = f.bound - f.granted;
    if (std::isfinite(f.bound)) bounds_.push_back({rise / f.weight, flow});
    for (const Membership& m : f.limits()) {
      Resource& r = resources_[m.resource];
      ++r.unfixed;
      r.weight += m.amount * f.weight;
      r.most += m.amount * rise;
    }
  }
  for (const ResourceId resource : neighbours) {
    const Resource& r = resources_[resource];
    if (r.unfixed > 0 && r.most > r.residual) full_.push_back(candidate(resource));  // else it never stops any
  }
  std::ranges::make_heap(full_, Later());
  unsorted_ = bounds_.size();
  partitions_ = 0;
  while (left_ > 0)
    take_lowest_stop();
}

// Of many bounds few lie below the first resource that gets full: only those are put in order.
void Filler::sort_bounds_until(double level) {
  constexpr int kMostPartitions = 4;  // then all at once: many resources would make it quadratic
  const auto first = bounds_.begin();
  const auto end_of_unsorted = first + static_cast<std::ptrdiff_t>(unsorted_);
  auto middle = first;
  if (partitions_++ < kMostPartitions)
    middle = std::partition(first, end_of_unsorted, [level](const Candidate& c) { return c.level > level; });
  std::sort(middle, end_of_unsorted, Later());
  unsorted_ = static_cast<std::size_t>(middle - first);
}

// A resource's level in the heap dates from its last push. Flows fixed since then only raise it, because they
// were fixed at lower levels: it is brought up to date when it comes to the top, not before.
void Filler::take_lowest_stop() {
  double full_at = kUnbounded;
  if (!full_.empty()) full_at = full_.front().level;
  if (bounds_.size() == unsorted_ && unsorted_ > 0) sort_bounds_until(full_at);
  if (bounds_.size() > unsorted_ && bounds_.back().level <= full_at) {
    const Candidate next = bounds_.back();
    bounds_.pop_back();
    if (!flows_[next.id].fixed) fix(next.id, flows_[next.id].bound, next.level, kNoResource);
    return;
  }
  if (full_.empty()) throw std::logic_error("a flow has neither a bound nor a resource that limits it");
  const Candidate next = full_.front();
  std::ranges::pop_heap(full_, Later());
  full_.pop_back();
  if (resources_[next.id].unfixed == 0) return;
  if (resources_[next.id].stale) {
    sum_weight(next.id);
    full_.push_back(candidate(next.id));
    std::ranges::push_heap(full_, Later());
  } else {
    fix_users(next.id, next.level);
  }
}

}}}  // namespace c3::engine::filling
