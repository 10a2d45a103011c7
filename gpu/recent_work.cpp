#include "gpu/recent_work.hpp"

#include <algorithm>
#include <utility>

namespace c3 { inline namespace gpu {

void RecentWork::begin(std::string_view name) {
  if (!on_) return;
  running_.emplace_back(name);
  before_ = std::exchange(last_, std::string(name));
}

void RecentWork::end(std::string_view name) {
  if (!on_) return;
  const auto found = std::ranges::find(running_, name);
  if (found != running_.end()) running_.erase(found);
}

bool RecentWork::is_other_than(std::string_view name) const {
  const auto is_other = [name](const std::string& work) { return !work.empty() && work != name; };
  return std::ranges::any_of(running_, is_other) || is_other(last_) || is_other(before_);
}

}}  // namespace c3::gpu
