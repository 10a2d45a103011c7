#include "workloads/execute/draw_keys.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "engine/random.hpp"

namespace c3::inline workloads {

std::vector<std::uint64_t> draw_keys(const StreamSpec& stream) {
  std::vector<std::uint64_t> keys;
  keys.reserve(stream.operations.size());
  std::map<std::string_view, int> occurrences;
  for (const Operation& operation : stream.operations) {
    const int before = occurrences[operation.name]++;
    // A newline is in no name, so that no two triples make one text.
    keys.push_back(stable_hash(fmt::format("{}\n{}\n{}", stream.name, operation.name, before)));
  }
  return keys;
}

}  // namespace c3::workloads
