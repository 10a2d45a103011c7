/// Any bytes as traces of PyTorch's profiler, one a rank, with a line "---" between them: reported on, or
/// refused with a TraceError.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/traces/kineto_reader.hpp"
#include "workloads/traces/make_report.hpp"
#include "workloads/traces/rank_set.hpp"
#include "workloads/traces/trace_error.hpp"

namespace {

/// In parts that are no multiple of anything, so that words are cut.
c3::ByteSource source_of(std::string_view text) {
  return [text](std::span<char> space) mutable {
    const std::size_t count = std::min({std::size_t{61}, space.size(), text.size()});
    std::copy_n(text.begin(), count, space.begin());
    text.remove_prefix(count);
    return count;
  };
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kBetween = "\n---\n";
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<c3::Rank> ranks;
  try {
    for (std::size_t end = 0; end != std::string_view::npos;) {
      end = rest.find(kBetween);
      ranks.emplace_back(c3::read_kineto("trace", source_of(rest.substr(0, end))));
      if (end != std::string_view::npos) rest.remove_prefix(end + kBetween.size());
    }
    c3::order_ranks(ranks, true);
    c3::make_report(ranks);
  } catch (const c3::TraceError&) {
    return 0;
  }
  return 0;
}
