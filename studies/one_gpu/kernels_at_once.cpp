// Kernels beside kernels on streams of one GPU: equal products, and unlike kernels in pairs.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/cases/kernel_row.hpp"
#include "studies/one_gpu/bare_gpu.hpp"
#include "studies/one_gpu/functions.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 30U;
constexpr std::int64_t kMostStreams = 128;
/// A kernel of each stream, and how often it runs.
using Lists = std::vector<std::pair<Operator, int>>;

/// What a product repeated on the same buffers finds in the cache is left there by itself.
Operator repeated(const Operator& op) {
  const auto* shape = op.as<GemmShape>();
  if (shape == nullptr) return op;
  GemmShape warm = *shape;
  warm.warm = WarmOperands::all;
  return warm;
}

/// The time of all \p lists one after another over that at once.
double gain_of(const GpuSpec& gpu, const Lists& lists) {
  BareStream serial{"serial", {}, {}};
  std::vector<BareStream> streams;
  for (const auto& [op, count] : lists) {
    const KernelDescription kernel = describe("kernel", repeated(op), gpu);
    const std::vector<KernelDescription> all(static_cast<std::size_t>(count), kernel);
    streams.push_back({fmt::format("stream{}", streams.size()), all, {}});
    serial.kernels.insert(serial.kernels.end(), all.begin(), all.end());
  }
  const std::vector<Seconds> ended = run_bare(gpu, streams);
  return run_bare(gpu, {serial}).front() / std::ranges::max(ended, {}, &Seconds::value);
}

/// A kernel and how often it runs, from "NAME x COUNT" of a table's cell.
std::pair<std::string, int> name_and_count(const RowArguments& row, std::string_view column) {
  const std::string text = row.text(column);
  const std::size_t at = text.rfind(" x ");
  int count = 0;
  if (at != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + at + 3, end, count);
    if (error != std::errc{} || stop != end) count = 0;
  }
  if (count <= 0) row.fail(column, "is not a kernel and how often it runs, as in \"add 16384 8192 x 4\"");
  return {text.substr(0, at), count};
}

Lists lists_in(const RowArguments& row) {
  if (!row.find("degree").empty()) {
    const GemmShape shape{
        .m = row.whole("m", kLargest), .n = row.whole("n", kLargest), .k = row.whole("k", kLargest)};
    const auto degree = static_cast<std::size_t>(row.whole("degree", kMostStreams));
    return Lists(degree, {Operator(shape), static_cast<int>(row.whole("each", kMostStreams))});
  }
  Lists lists;
  for (const std::string_view column : {"first", "second"}) {
    const auto [name, count] = name_and_count(row, column);
    lists.emplace_back(kernel_called(row, column, name), count);
  }
  return lists;
}

}  // namespace

NumberSource kernels_at_once_row(const RowArguments& row) {
  return [gpu = gpu_in(row), lists = lists_in(row)] {
    return std::map<std::string, double>{{"gain", gain_of(*gpu, lists)}};
  };
}

}}  // namespace c3::studies
