#include "gpu/calibration/cross_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace c3 { inline namespace gpu {
namespace {

/// Holds out \p held_out (any order) of \p rows.
Split hold_out(Rows held_out, std::size_t rows) {
  std::ranges::sort(held_out);
  Split split;
  split.fitted.reserve(rows - held_out.size());
  std::ranges::set_difference(every_row(rows), held_out, std::back_inserter(split.fitted));
  split.held_out = std::move(held_out);
  return split;
}

}  // namespace

std::vector<Split> folds_by_key(std::span<const std::uint64_t> keys, std::size_t folds, std::uint64_t seed) {
  const std::vector<Rows> groups = rows_by_id(keys);
  if (folds < 2 || groups.size() < folds) {
    throw std::invalid_argument(fmt::format("folds_by_key: {} folds of {} keys", folds, groups.size()));
  }
  std::vector<Rows> held_out(folds);
  for (const std::size_t key : random_order(groups.size(), RandomStream(seed, "folds"))) {
    Rows& fold = *std::ranges::min_element(held_out, {}, &Rows::size);
    fold.insert(fold.end(), groups[key].begin(), groups[key].end());
  }
  std::vector<Split> splits;
  splits.reserve(folds);
  for (Rows& fold : held_out)
    splits.push_back(hold_out(std::move(fold), keys.size()));
  return splits;
}

std::vector<Split> leave_one_group_out(std::span<const std::uint64_t> groups) {
  std::vector<Split> splits;
  for (Rows& group : rows_by_id(groups))
    splits.push_back(hold_out(std::move(group), groups.size()));
  if (splits.size() < 2) throw std::invalid_argument("leave_one_group_out: needs two groups");
  return splits;
}

}}  // namespace c3::gpu
