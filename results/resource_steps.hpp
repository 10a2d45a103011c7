#pragma once
/// Who used how much of a resource and when: the table resources/steps, a block at a time.

#include <cstddef>
#include <cstdint>
#include <string>

#include "files/io_error.hpp"
#include "results/result_reader.hpp"

namespace c3 { inline namespace results {

/// Calls \p step(resource, time [ps], used, capacity) for every row. \param resources of resources/list.
/// \throws IoError when a row is of none of them
template <class Step>
void each_resource_step(const ResultReader& file, const std::string& strategy, std::size_t resources,
                        const Step& step) {
  TableBlocks blocks(file, strategy, "resources/steps", {.columns = {}, .rows = {}, .as_texts = false});
  while (const auto steps = blocks.next()) {
    const auto& resource = steps->values<std::int64_t>("resource");
    const auto& time = steps->values<std::int64_t>("time");
    const auto& used = steps->values<double>("used");
    const auto& capacity = steps->values<double>("capacity");
    for (std::size_t row = 0; row < steps->rows(); ++row) {
      const auto number = static_cast<std::size_t>(resource[row]);  // a negative one is beyond, too
      if (number >= resources) throw IoError(file.path(), "read", "'resources/steps' points beyond its list");
      step(number, time[row], used[row], capacity[row]);
    }
  }
}

}}  // namespace c3::results
