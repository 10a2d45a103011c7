// Kernels beside work groups that copy HBM to HBM on SMs of their own, as a collective's channels do.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "gpu/kernels/describe.hpp"
#include "studies/checked_row.hpp"
#include "studies/comparison.hpp"
#include "studies/one_gpu/bare_gpu.hpp"
#include "studies/one_gpu/parts.hpp"

namespace c3::inline studies {
namespace {

using namespace literals;

constexpr std::string_view kWhat = "of a kernel measured beside copying work groups";
constexpr std::int64_t kMostBlocks = 1024;
/// What one block of measure/common.py's COPY has in flight: 512 threads with 4 loads of 16 bytes.
constexpr Bytes kInFlight{32.0 * 1024.0};
constexpr Bytes kPiece{256.0 * 1024.0};  // of the copy, read and then written
// Of the kernel's time alone: a copy that ends before it does, and one that does not, however slow it gets.
constexpr double kShort = 0.5, kLong = 4.0;
// Eight H100's collectives take at most 24 to 32 SMs.
constexpr int kMostOfCollectives = 32;

class CopyTraffic final : public TrafficModel {
 public:
  Traffic per_work_group(const CacheState&) const override { return {kPiece, kPiece, kPiece, 1.0}; }
};

/// Blocks that fill an SM each, and read and write \p rate together for \p time when they are alone.
KernelDescription copying(const GpuSpec& gpu, int blocks, BytesPerSecond rate, Seconds time) {
  KernelDescription kernel;
  kernel.name = "copies";
  const double rounds = std::ceil(rate * time / (kPiece * static_cast<double>(blocks)));
  kernel.work_groups = blocks * static_cast<std::int64_t>(rounds);
  kernel.needs = {.lds = gpu.compute.lds_per_cu, .registers = {}, .waves = 16, .computes = false};
  kernel.least_time = kPiece * static_cast<double>(blocks) / rate;
  kernel.clock = gpu.compute.boost_clock;
  kernel.outstanding = kInFlight;
  kernel.output = kPiece;
  kernel.traffic = std::make_shared<CopyTraffic>();
  return kernel;
}

/// A kernel and copies, each on SMs of its own.
class Parted {
 public:
  Parted(const GpuSpec& gpu, const Operator& op, int blocks, BytesPerSecond rate)
      : gpu_(gpu),
        blocks_(blocks),
        rate_(rate),
        kernel_{"kernel", {describe("kernel", op, gpu)}, {blocks, gpu.compute.cus_per_xcd}},
        alone_(run_bare(gpu, {kernel_}).front()) {}

  double slowdown() const { return run(kLong).front() / alone_; }
  /// Of the copies' rate alone.
  double copied() const { return run_bare(gpu_, {copies(kShort)}).front() / run(kShort).back(); }

 private:
  BareStream copies(double share) const {
    return {"copies", {copying(gpu_, blocks_, rate_, alone_ * share)}, {0, blocks_}};
  }
  std::vector<Seconds> run(double share) const { return run_bare(gpu_, {kernel_, copies(share)}); }

  const GpuSpec& gpu_;
  int blocks_;
  BytesPerSecond rate_;
  BareStream kernel_;
  Seconds alone_;
};

}  // namespace

BesideBlocksPart::BesideBlocksPart(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, kWhat);
    rows_.push_back({row.text("gpu"), row.text("kernel"), static_cast<int>(row.whole("blocks", kMostBlocks)),
                     operator_in(table, each), row.above_0("copy_alone_gb_s") * 1.0_GBps,
                     row.above_0("together_ms") / row.above_0("alone_ms"),
                     row.above_0("copy_together_gb_s") / row.above_0("copy_alone_gb_s")});
  }
}

void BesideBlocksPart::plan(SimulationJobs& jobs) {
  std::map<std::string, std::shared_ptr<const GpuSpec>> gpus;
  for (Row& row : rows_) {
    std::shared_ptr<const GpuSpec>& gpu = gpus[row.gpu];
    if (!gpu) gpu = load_in_bursts(row.gpu);
    jobs.push_back({.run =
                        [gpu, op = row.op, blocks = row.blocks, rate = row.copy_alone] {
                          const Parted parted(*gpu, op, blocks, rate);
                          return SimulatedTime{.values = {parted.slowdown(), parted.copied()}};
                        },
                    .take =
                        [&row](const SimulatedTime& taken) {
                          row.slower_here = taken.values.at(0);
                          row.copied_here = taken.values.at(1);
                        }});
  }
}

StudySection BesideBlocksPart::section(const PublishedFigures& published) const {
  struct Group {
    Comparison kernels, copies;
    double measured = 0.0, here = 0.0;
    int rows = 0;
  };
  std::map<std::pair<std::string, int>, Group> by_blocks;
  std::map<std::pair<std::string, std::string>, Group> by_kernel;
  std::map<std::string, Group> judged;
  for (const Row& row : rows_) {
    const auto add = [&row](Group& group) {
      group.kernels.add({.measured = Seconds{row.slower}, .here = Seconds{row.slower_here}}, {});
      group.copies.add({.measured = Seconds{row.copied}, .here = Seconds{row.copied_here}}, {});
      group.measured += row.slower;
      group.here += row.slower_here;
      ++group.rows;
    };
    add(by_blocks[{row.gpu, row.blocks}]);
    add(by_kernel[{row.gpu, row.kernel}]);
    if (row.blocks <= kMostOfCollectives) add(judged[row.gpu]);
  }
  StudySection section{
      .heading =
          "Beside work groups that copy HBM to HBM on SMs of their own: mean error of the kernel's time "
          "over that alone",
      .lines = {},
      .notes = {"The copies' rate alone is taken as measured; what they and the kernel lose is predicted."},
      .value = "error"};
  const auto line = [&](const char* id, const std::string& label, const Group& group) {
    StudyLine result = group.kernels.line(published.find(id), FigureKind::predicted, label);
    const StudyLine copies = group.copies.line(published.find("beside.copies"), FigureKind::predicted, {});
    result.beside = {{"mean slowdown measured", group.measured / group.rows},
                     {"here", group.here / group.rows},
                     {"error of copies [%]", copies.figure.simulated.value_or(0.0)}};
    section.lines.push_back(std::move(result));
  };
  for (const auto& [key, group] : by_blocks)
    line("beside.blocks", fmt::format("{}: {} SMs copy", key.first, key.second), group);
  for (const auto& [key, group] : by_kernel)
    line("beside.kernel", fmt::format("{}: {}", key.first, key.second), group);
  for (const auto& [gpu, group] : judged)
    line("beside.error", fmt::format("{}: all, at most {} SMs", gpu, kMostOfCollectives), group);
  return section;
}

}  // namespace c3::studies
