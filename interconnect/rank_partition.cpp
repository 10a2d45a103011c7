#include "interconnect/rank_partition.hpp"

#include <stdexcept>
#include <utility>

namespace c3::inline interconnect {

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

}  // namespace c3::interconnect
