#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "base/percent.hpp"
#include "configs/presets/preset_store.hpp"
#include "gpu/kernel_run.hpp"
#include "gpu/kernels/describe.hpp"
#include "studies/checked_row.hpp"
#include "studies/interference/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

using namespace literals;

constexpr std::string_view kWhat = "for a product beside held SMs";
constexpr std::int64_t kLargest = std::int64_t{1} << 30U;
constexpr int kMostHeld = 132;
constexpr int kFew = 8;

class NoTraffic final : public TrafficModel {
 public:
  Traffic per_work_group(const CacheState&) const override { return {}; }
};

/// Work groups that fill an SM each for \p time, and do nothing.
KernelDescription holding(const GpuSpec& gpu, int sms, Seconds time) {
  KernelDescription kernel;
  kernel.name = "held";
  kernel.work_groups = sms;
  kernel.needs = {.lds = gpu.compute.lds_per_cu, .registers = {}, .waves = 4, .computes = false};
  kernel.least_time = time;
  kernel.clock = gpu.compute.boost_clock;
  kernel.outstanding = Bytes{1.0};
  kernel.traffic = std::make_shared<NoTraffic>();
  return kernel;
}

Task launch(Gpu& gpu, KernelDescription kernel, Seconds date, int stream, Seconds* took) {
  co_await gpu.simulation().sleep(date);
  KernelLaunch how;
  how.stream = stream;
  how.draw = static_cast<std::uint64_t>(stream);
  how.range = {0, gpu.spec().compute.cus_per_xcd};
  const Seconds begin = gpu.simulation().now();
  co_await run_kernel(gpu, std::move(kernel), how);
  *took = gpu.simulation().now() - begin;
}

/// Time of the product, from its launch to its end.
Seconds time_beside(const GpuSpec& spec, const GemmShape& shape, int held) {
  const GpuSetup setup{.streams = {"product", "held"}, .isolation = {}, .seed = 1};
  Simulation simulation;
  Gpu gpu(simulation, spec, setup, /*rank=*/0);
  Seconds took, of_held;
  const Seconds longer{1.0};
  if (held > 0) simulation.spawn("held", launch(gpu, holding(spec, held, longer), {}, 1, &of_held));
  simulation.spawn("product", launch(gpu, describe("product", shape, spec), 100.0_us, 0, &took));
  simulation.run_without_simgrid();
  return took;
}

double slowdown(GpuSpec gpu, const GemmShape& shape, int held, bool strict) {
  gpu.hypotheses.strict_rotation = strict;
  return time_beside(gpu, shape, held) / time_beside(gpu, shape, 0);
}

}  // namespace

HeldPart::HeldPart(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& table_row : table.rows()) {
    const CheckedRow row(table, table_row, kWhat);
    rows_.push_back({.shape = {.m = row.whole("m", kLargest),
                               .n = row.whole("n", kLargest),
                               .k = row.whole("k", kLargest),
                               .dtype = DType::bf16},
                     .held = static_cast<int>(row.whole("held", kMostHeld)),
                     .measured = row.above_0("slowdown")});
  }
}

void HeldPart::plan(SimulationJobs& jobs) {
  const auto gpu = std::make_shared<const GpuSpec>(load_gpu("h100-sxm"));
  for (Row& row : rows_)
    jobs.push_back({.run =
                        [gpu, shape = row.shape, held = row.held] {
                          return SimulatedTime{.values = {slowdown(*gpu, shape, held, false),
                                                          slowdown(*gpu, shape, held, true)}};
                        },
                    .take =
                        [&row](const SimulatedTime& taken) {
                          row.free = taken.values.at(0);
                          row.strict = taken.values.at(1);
                        }});
}

/// Mean error over rows with at most \p most SMs held.
StudyLine HeldPart::errors(const PublishedFigures& published, int most) const {
  StudyLine line{
      .figure = {.reference = published.find(fmt::format("held.error.{}", most)), .kind = FigureKind::fitted},
      .label = fmt::format("mean error, at most {} SMs [%]", most)};
  double free = 0.0, strict = 0.0;
  for (const Row& row : rows_) {
    if (row.held > most) continue;
    ++line.rows;
    free += kPercent * std::abs(row.free / row.measured - 1.0);
    strict += kPercent * std::abs(row.strict / row.measured - 1.0);
  }
  if (line.rows == 0) return line;
  line.figure.simulated = free / static_cast<double>(line.rows);
  line.beside = {{"second queue", strict / static_cast<double>(line.rows)}};
  return line;
}

StudySection HeldPart::section(const PublishedFigures& published) const {
  StudySection section{
      .heading = "A product on an H100 beside SMs that another kernel holds: time over its time alone",
      .lines = {},
      .notes =
          {"Measured by this project. The kernel beside moves nothing. Products are persistent here, which was "
           "found in rows of 8192^3 and 4096^3 (one_gpu). second queue: gpu.strict_rotation, off elsewhere."},
      .value = "all off",
      .decimals = 2};
  for (const Row& row : rows_) {
    const GemmShape& shape = row.shape;
    section.lines.push_back(
        {.figure = {.reference =
                        published.find(fmt::format("held.{}x{}x{}.{}", shape.m, shape.n, shape.k, row.held)),
                    .kind = shape.m == shape.n ? FigureKind::fitted : FigureKind::predicted,  // rows of one_gpu
                    .simulated = row.free},
         .label = fmt::format("{} x {} x {}, {} SMs held", shape.m, shape.n, shape.k, row.held),
         .rows = 1,
         .beside = {{"measured", row.measured}, {"second queue", row.strict}}});
  }
  section.lines.push_back(errors(published, kFew));
  section.lines.push_back(errors(published, kMostHeld));
  return section;
}

}}  // namespace c3::studies
