#include "app/sweep/point_source.hpp"

namespace c3 { inline namespace app {

std::optional<std::size_t> ListedPoints::next() {
  if (given_ == points_.size()) return std::nullopt;
  return points_[given_++];
}

}}  // namespace c3::app
