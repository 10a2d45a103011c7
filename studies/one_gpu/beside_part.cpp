// Kernels beside blocks on SMs of their own that copy HBM to HBM, as a collective's channels do, or only read,
// only write, or read what the L2 holds.

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

namespace c3 { inline namespace studies {
namespace {

using namespace literals;

constexpr std::string_view kWhat = "of a kernel measured beside blocks";
constexpr std::array<std::string_view, 5> kWays = {"copy", "copy_cached", "read", "write", "read_l2"};
constexpr std::size_t kCopy = 0, kRead = 2, kWrite = 3;
constexpr std::int64_t kMostBlocks = 1024;
/// What one block of measure/common.py's COPY has in flight: 512 threads with 4 loads of 16 bytes.
constexpr Bytes kInFlight{32.0 * 1024.0};
constexpr Bytes kPiece{256.0 * 1024.0};
// Of the kernel's time alone: blocks that end before it does, and blocks that do not, however slow it gets.
constexpr double kShort = 0.5, kLong = 4.0;
// Eight H100's collectives take at most 24 to 32 SMs.
constexpr int kMostOfCollectives = 32;

class BlockTraffic final : public TrafficModel {
 public:
  explicit BlockTraffic(std::size_t way)
      : loads_{way == kWrite ? Bytes{} : kPiece, way < kWrite ? kPiece : Bytes{},
               way < kWrite ? kPiece : Bytes{}, 1.0} {}
  Traffic per_work_group(const CacheState&) const override { return loads_; }

 private:
  Traffic loads_;
};

/// Blocks that fill an SM each, and read, write, or both, \p rate together for \p time when they are alone.
KernelDescription blocks_that(std::size_t way, const GpuSpec& gpu, int blocks, BytesPerSecond rate,
                              Seconds time) {
  KernelDescription kernel;
  kernel.name = kWays.at(way);
  const double rounds = std::ceil(rate * time / (kPiece * static_cast<double>(blocks)));
  kernel.work_groups = blocks * static_cast<std::int64_t>(rounds);
  kernel.needs = {.lds = gpu.compute.lds_per_cu, .registers = {}, .waves = 16, .computes = false};
  kernel.least_time = kPiece * static_cast<double>(blocks) / rate;
  kernel.clock = gpu.compute.boost_clock;
  kernel.outstanding = kInFlight;
  kernel.output = way < kRead || way == kWrite ? kPiece : Bytes{};
  kernel.traffic = std::make_shared<BlockTraffic>(way);
  return kernel;
}

/// A kernel and blocks, each on SMs of its own.
class Parted {
 public:
  Parted(const GpuSpec& gpu, const Operator& op, std::size_t way, int blocks, BytesPerSecond rate)
      : gpu_(gpu),
        way_(way),
        blocks_(blocks),
        rate_(rate),
        kernel_{"kernel", {describe("kernel", op, gpu)}, {blocks, gpu.compute.cus_per_xcd}},
        alone_(run_bare(gpu, {kernel_}).front()) {}

  double slowdown() const { return run(kLong).front() / alone_; }
  /// The blocks' rate beside the kernel over that alone.
  double rate() const { return run_bare(gpu_, {blocks(kShort)}).front() / run(kShort).back(); }

 private:
  BareStream blocks(double share) const {
    return {"blocks", {blocks_that(way_, gpu_, blocks_, rate_, alone_ * share)}, {0, blocks_}};
  }
  std::vector<Seconds> run(double share) const { return run_bare(gpu_, {kernel_, blocks(share)}); }

  const GpuSpec& gpu_;
  std::size_t way_;
  int blocks_;
  BytesPerSecond rate_;
  BareStream kernel_;
  Seconds alone_;
};

}  // namespace

BesideBlocksPart::BesideBlocksPart(const std::filesystem::path& file, const NamedKernels& kernels) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, kWhat);
    rows_.push_back({row.text("gpu"), row.text("kernel"), row.one_of("way", kWays),
                     static_cast<int>(row.whole("blocks", kMostBlocks)), kernels.of(row, "kernel"),
                     row.above_0("rate_alone_gb_s") * 1.0_GBps,
                     row.above_0("together_ms") / row.above_0("alone_ms"),
                     row.above_0("rate_together_gb_s") / row.above_0("rate_alone_gb_s")});
  }
}

void BesideBlocksPart::plan(SimulationJobs& jobs) {
  std::map<std::string, std::shared_ptr<const GpuSpec>> gpus;
  for (Row& row : rows_) {
    std::shared_ptr<const GpuSpec>& gpu = gpus[row.gpu];
    if (!gpu) gpu = load_in_bursts(row.gpu);
    jobs.push_back({.run =
                        [gpu, op = row.op, way = row.way, blocks = row.blocks, rate = row.rate_alone] {
                          const Parted parted(*gpu, op, way, blocks, rate);
                          return SimulatedTime{.values = {parted.slowdown(), parted.rate()}};
                        },
                    .take =
                        [&row](const SimulatedTime& taken) {
                          row.slower_here = taken.values.at(0);
                          row.kept_here = taken.values.at(1);
                        }});
  }
}

StudySection BesideBlocksPart::section(const PublishedFigures& published) const {
  struct Group {
    Comparison kernels, blocks;
    double slower = 0.0, slower_here = 0.0, kept = 0.0, kept_here = 0.0;
    int rows = 0;
    const char* id = "beside.group";
  };
  std::map<std::string, Group> groups;
  for (const Row& row : rows_) {
    const auto add = [&](const std::string& label) -> Group& {
      Group& group = groups[fmt::format("{}: {}", row.gpu, label)];
      group.kernels.add({.measured = Seconds{row.slower}, .here = Seconds{row.slower_here}}, {});
      group.blocks.add({.measured = Seconds{row.kept}, .here = Seconds{row.kept_here}}, {});
      group.slower += row.slower;
      group.slower_here += row.slower_here;
      group.kept += row.kept;
      group.kept_here += row.kept_here;
      ++group.rows;
      return group;
    };
    add(fmt::format("{}, {:2} SMs", kWays.at(row.way), row.blocks));
    if (row.way == kCopy) add("copy, " + row.kernel);
    if (row.way == kCopy && row.blocks <= kMostOfCollectives)
      add(fmt::format("all copies, at most {} SMs", kMostOfCollectives)).id = "beside.error";
  }
  StudySection section{
      .heading = "Beside blocks on SMs of their own: mean error of the kernel's time over that alone",
      .lines = {},
      .notes =
          {"slower: the kernel's time beside the blocks over that alone. kept: the blocks' rate beside the "
           "kernel over that alone, which is taken as measured.",
           "copy: HBM to HBM, past the caches (copy_cached: through them); read, write: HBM; read_l2: 64 KiB "
           "each, which the L2 holds.",
           "How stores wait was found in the rows of the H100."},
      .value = "error",
      .decimals = 2};
  for (const auto& [label, group] : groups) {
    StudyLine line = group.kernels.line(published.find(group.id), kind_of(label), label);
    const StudyLine blocks = group.blocks.line(published.find("beside.blocks"), kind_of(label), {});
    line.beside = {{"slower [x]", group.slower / group.rows},
                   {"here [x]", group.slower_here / group.rows},
                   {"kept [x]", group.kept / group.rows},
                   {"kept here [x]", group.kept_here / group.rows},
                   {"error of blocks [%]", blocks.figure.simulated.value_or(0.0)}};
    section.lines.push_back(std::move(line));
  }
  return section;
}

std::string BesideBlocksPart::rows_csv() const {
  std::string csv;
  for (const Row& row : rows_) {
    const std::string what =
        fmt::format("{},{} beside {} that {}", row.gpu, row.kernel, row.blocks, kWays.at(row.way));
    csv += fmt::format("{},slower,{:.4g},{:.4g}\n{},kept,{:.4g},{:.4g}\n", what, row.slower, row.slower_here,
                       what, row.kept, row.kept_here);
  }
  return csv;
}

}}  // namespace c3::studies
