// Kernels beside kernels on streams of one GPU: equal products, and unlike kernels in pairs.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/checked_row.hpp"
#include "studies/comparison.hpp"
#include "studies/one_gpu/bare_gpu.hpp"
#include "studies/one_gpu/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kWhat = "of kernels measured beside kernels";
constexpr std::int64_t kLargest = std::int64_t{1} << 30U;
constexpr std::int64_t kMostStreams = 128;
/// Products take at least so many operations to be large: 4096 x 4096 x 1024.
constexpr double kLarge = 2.0 * 4096.0 * 4096.0 * 1024.0;

/// What a product repeated on the same buffers finds in the cache is left there by itself.
Operator repeated(const Operator& op) {
  const auto* shape = op.as<GemmShape>();
  if (shape == nullptr) return op;
  GemmShape warm = *shape;
  warm.warm = WarmOperands::all;
  return warm;
}

/// \returns the time of all \p lists, one after another and at once.
std::vector<double> both_ways(const GpuSpec& gpu, const std::vector<std::pair<Operator, int>>& lists) {
  BareStream serial{"serial", {}, {}};
  std::vector<BareStream> streams;
  for (const auto& [op, count] : lists) {
    const KernelDescription kernel = describe("kernel", repeated(op), gpu);
    const std::vector<KernelDescription> all(static_cast<std::size_t>(count), kernel);
    streams.push_back({fmt::format("stream{}", streams.size()), all, {}});
    serial.kernels.insert(serial.kernels.end(), all.begin(), all.end());
  }
  const std::vector<Seconds> ended = run_bare(gpu, streams);
  return {run_bare(gpu, {serial}).front().value, std::ranges::max(ended, {}, &Seconds::value).value};
}

/// A kernel and how often it runs, from "NAME x COUNT" of a table's cell.
std::pair<std::string, int> name_and_count(const CheckedRow& row, std::string_view column) {
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

}  // namespace

StreamsPart::StreamsPart(const std::filesystem::path& equal, const std::filesystem::path& mixed,
                         const NamedKernels& kernels) {
  const HeadedTable products(equal);
  for (const HeadedTable::Row& each : products.rows()) {
    const CheckedRow row(products, each, kWhat);
    const GemmShape shape{
        .m = row.whole("m", kLargest), .n = row.whole("n", kLargest), .k = row.whole("k", kLargest)};
    const auto degree = static_cast<std::size_t>(row.whole("degree", kMostStreams));
    const auto times = static_cast<int>(row.whole("each", kMostStreams));
    const double flops = 2.0 * static_cast<double>(shape.m * shape.n) * static_cast<double>(shape.k);
    rows_.push_back({.gpu = row.text("gpu"),
                     .group = flops < kLarge ? "equal products below 34 GFLOP" : "equal products from 34 GFLOP",
                     .label = fmt::format("{} of {} x {} x {}", degree, shape.m, shape.n, shape.k),
                     .lists = std::vector<std::pair<Operator, int>>(degree, {Operator(shape), times}),
                     .gain = row.above_0("serial_ms") / row.above_0("at_once_ms")});
  }
  const HeadedTable pairs(mixed);
  for (const HeadedTable::Row& each : pairs.rows()) {
    const CheckedRow row(pairs, each, kWhat);
    Row read{.gpu = row.text("gpu"),
             .group = "unlike kernels in pairs",
             .label = {},
             .lists = {},
             .gain = row.above_0("serial_ms") / row.above_0("at_once_ms")};
    for (const std::string_view column : {"first", "second"}) {
      const auto [name, count] = name_and_count(row, column);
      const std::optional<Operator> op = kernels.find(name);
      if (!op) row.fail(column, "is no kernel of parts.csv");
      read.lists.emplace_back(*op, count);
      read.label += (read.label.empty() ? "" : " beside ") + name;
    }
    rows_.push_back(std::move(read));
  }
}

void StreamsPart::plan(SimulationJobs& jobs) {
  std::map<std::string, std::shared_ptr<const GpuSpec>> gpus;
  for (Row& row : rows_) {
    std::shared_ptr<const GpuSpec>& gpu = gpus[row.gpu];
    if (!gpu) gpu = load_in_bursts(row.gpu);
    jobs.push_back(
        {.run = [gpu, &lists = row.lists] { return SimulatedTime{.values = both_ways(*gpu, lists)}; },
         .take =
             [&row](const SimulatedTime& taken) { row.gain_here = taken.values.at(0) / taken.values.at(1); }});
  }
}

StudySection StreamsPart::section(const PublishedFigures& published) const {
  struct Group {
    Comparison gains;
    double measured = 0.0, here = 0.0;  // sums of logarithms
    int rows = 0;
  };
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const Row& row : rows_) {
    Group& group = groups[{row.gpu, row.group}];
    group.gains.add({.measured = Seconds{row.gain}, .here = Seconds{row.gain_here}}, {});
    group.measured += std::log(row.gain);
    group.here += std::log(row.gain_here);
    ++group.rows;
  }
  StudySection section{
      .heading = "Kernels at once on streams, over one after another: mean error of the gain",
      .lines = {},
      .notes = {"From graphs, each stream's kernels on buffers of its own. The gains are geometric "
                "means. That matrix kernels hold all registers of an SM was found in the rows of the H100."},
      .value = "error",
      .decimals = 2};
  for (const auto& [key, group] : groups) {
    StudyLine line = group.gains.line(published.find("streams.gain"), kind_of(key.first),
                                      fmt::format("{}: {}", key.first, key.second));
    line.beside = {{"gain measured [x]", std::exp(group.measured / group.rows)},
                   {"here [x]", std::exp(group.here / group.rows)}};
    section.lines.push_back(std::move(line));
  }
  return section;
}

std::string StreamsPart::rows_csv() const {
  std::string csv;
  for (const Row& row : rows_)
    csv += fmt::format("{},{},gain,{:.4g},{:.4g}\n", row.gpu, row.label, row.gain, row.gain_here);
  return csv;
}

}}  // namespace c3::studies
