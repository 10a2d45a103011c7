#include "gpu/calibration/row_groups.hpp"

#include <map>
#include <numeric>
#include <utility>

namespace c3 { inline namespace gpu {

std::vector<Rows> rows_by_id(std::span<const std::uint64_t> ids) {
  std::map<std::uint64_t, Rows> groups;
  for (std::size_t row = 0; row < ids.size(); ++row)
    groups[ids[row]].push_back(row);
  std::vector<Rows> result;
  result.reserve(groups.size());
  for (auto& [id, rows] : groups)
    result.push_back(std::move(rows));
  return result;
}

std::vector<double> balanced_weights(std::span<const std::uint64_t> groups) {
  std::vector<double> weights(groups.size());
  const std::vector<Rows> all = rows_by_id(groups);
  const double rows_a_group = static_cast<double>(groups.size()) / static_cast<double>(all.size());
  for (const Rows& group : all) {
    for (const std::size_t row : group)
      weights[row] = rows_a_group / static_cast<double>(group.size());
  }
  return weights;
}

Rows every_row(std::size_t count) {
  Rows rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

Rows random_order(std::size_t count, const RandomStream& random, std::uint64_t first) {
  Rows order = every_row(count);
  for (std::size_t left = count; left > 1; --left) {  // Fisher and Yates, from the back
    const double draw = random.uniform(first + left - 1);
    std::swap(order[left - 1], order[static_cast<std::size_t>(draw * static_cast<double>(left))]);
  }
  return order;
}

}}  // namespace c3::gpu
