#include "interconnect/rank_partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace c3 { inline namespace interconnect {
namespace {

std::string text_of(const std::pair<int, int>& range) {
  const int last = range.second - 1;
  return range.first == last ? fmt::format("{}", last) : fmt::format("{}-{}", range.first, last);
}

/// Whether all are equally long, and equally far apart.
bool is_regular(const RankRanges& ranks) {
  const auto length = [](const auto& range) { return range.second - range.first; };
  const int distance = ranks[1].first - ranks[0].first;
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (length(ranks[i]) != length(ranks[0]) || ranks[i].first - ranks[i - 1].first != distance) return false;
  }
  return true;
}

}  // namespace

int count_of(const RankRanges& ranks) {
  return std::accumulate(ranks.begin(), ranks.end(), 0,
                         [](int sum, const auto& range) { return sum + range.second - range.first; });
}

RankRanges united(RankRanges a, const RankRanges& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::ranges::sort(a);
  RankRanges all;
  for (const auto& range : a) {
    if (all.empty() || all.back().second != range.first) {
      all.push_back(range);
    } else {
      all.back().second = range.second;
    }
  }
  return all;
}

std::string text_of(const RankRanges& ranks) {
  constexpr std::size_t kMost = 4;
  if (ranks.size() > kMost && is_regular(ranks))
    return fmt::format("{}, {} .. {}", text_of(ranks[0]), text_of(ranks[1]), text_of(ranks.back()));
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), kMost); ++i)
    text += (i == 0 ? "" : ", ") + text_of(ranks[i]);
  return ranks.size() > kMost ? text + ", .." : text;
}

RankPartition::RankPartition(std::vector<std::uint32_t> classes) : class_of_(std::move(classes)) {
  for (int rank = 0; rank < ranks(); ++rank) {
    const std::size_t number = class_of_[static_cast<std::size_t>(rank)];
    if (number > lowest_.size())
      throw std::logic_error("RankPartition: classes are numbered by their lowest ranks");
    if (number == lowest_.size()) {
      lowest_.push_back(rank);
      members_.push_back(0);
    }
    ++members_[number];
  }
}

RankPartition RankPartition::each(int ranks) {
  std::vector<std::uint32_t> classes(static_cast<std::size_t>(ranks));
  std::iota(classes.begin(), classes.end(), 0U);
  return RankPartition(std::move(classes));
}

RankPartition RankPartition::together(int ranks) {
  return RankPartition(std::vector<std::uint32_t>(static_cast<std::size_t>(ranks)));
}

std::vector<RankRanges> RankPartition::ranges() const {
  std::vector<RankRanges> ranges(lowest_.size());
  for (int rank = 0; rank < ranks(); ++rank) {
    RankRanges& class_ranges = ranges[class_of_[static_cast<std::size_t>(rank)]];
    if (class_ranges.empty() || class_ranges.back().second != rank) class_ranges.emplace_back(rank, rank);
    class_ranges.back().second = rank + 1;
  }
  return ranges;
}

}}  // namespace c3::interconnect
