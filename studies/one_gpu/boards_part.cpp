// Boards of one type, each given the same kernels for seconds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/describe.hpp"
#include "studies/checked_row.hpp"
#include "studies/one_gpu/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

using namespace literals;

/// In per cent of the mean.
double deviation(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : values)
    squares += (value - mean) * (value - mean);
  return 100.0 * std::sqrt(squares / (count - 1.0)) / mean;
}

/// By which \p op takes longer on a GPU that is one deviation slower than others of its type, in per cent.
double later_by_one_deviation(const Operator& op, const GpuSpec& gpu) {
  KernelDescription kernel = describe("kernel", op, gpu);
  const KernelSlice slice{.launch = LaunchCost::device};
  const Seconds usual = time_alone(kernel, gpu, slice).time;
  slow_down(kernel, 1.0 + gpu.compute.speed_spread);
  return 100.0 * (time_alone(kernel, gpu, slice).time / usual - 1.0);
}

}  // namespace

BoardsPart::BoardsPart(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, "of a measured board");
    const std::string gpu = row.text("gpu"), kernel = row.text("kernel");
    const auto same = [&](const Kernel& known) { return known.gpu == gpu && known.name == kernel; };
    auto found = std::ranges::find_if(kernels_, same);
    if (found == kernels_.end())
      found = kernels_.insert(found, {gpu, kernel, operator_in(table, each), std::vector<double>{}});
    found->ms.push_back(row.above_0("ms"));
  }
}

StudySection BoardsPart::section(const PublishedFigures& published) const {
  StudySection section{.heading = "Boards of one type, a kernel for seconds: standard deviation of its time",
                       .lines = {},
                       .notes = {"speed_spread was set from the two large products and attention."},
                       .value = "here",
                       .decimals = 2};
  std::map<std::string, GpuSpec> gpus;
  for (const Kernel& kernel : kernels_) {
    const auto gpu = gpus.try_emplace(kernel.gpu, load_gpu(kernel.gpu)).first;
    const auto [least, most] = std::ranges::minmax(kernel.ms);
    section.lines.push_back({.figure = {.of = published.find("boards.deviation"),
                                        .kind = FigureKind::fitted,
                                        .simulated = later_by_one_deviation(kernel.op, gpu->second)},
                             .label = fmt::format("{}: {}", kernel.gpu, kernel.name),
                             .rows = kernel.ms.size(),
                             .beside = {{"measured [%]", deviation(kernel.ms)},
                                        {"slowest over fastest [%]", 100.0 * (most / least - 1.0)}}});
  }
  return section;
}

}}  // namespace c3::studies
