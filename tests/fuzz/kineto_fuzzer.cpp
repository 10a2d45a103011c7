/// Any bytes as traces of PyTorch's profiler, one a rank, with a line "---" between them: reported on, or
/// refused with a TraceError.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/fuzz/source_of.hpp"
#include "workloads/traces/kineto_reader.hpp"
#include "workloads/traces/make_report.hpp"
#include "workloads/traces/order_ranks.hpp"
#include "workloads/traces/trace_error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<c3::Rank> ranks;
  try {
    do {
      ranks.emplace_back(c3::read_kineto("trace", c3::source_of(c3::take_part(rest))));
    } while (!rest.empty());
    c3::order_ranks(ranks, true);
    c3::make_report(ranks);
  } catch (const c3::TraceError&) {
    return 0;
  }
  return 0;
}
