// Kernels beside blocks on SMs of their own that copy HBM to HBM, as a collective's channels do, or only read,
// only write, or read what the L2 holds.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest_name.hpp"
#include "gpu/kernels/describe.hpp"
#include "studies/cases/kernel_row.hpp"
#include "studies/one_gpu/bare_gpu.hpp"
#include "studies/one_gpu/functions.hpp"

namespace c3 { inline namespace studies {
namespace {

using namespace literals;

constexpr std::array<std::string_view, 5> kWays = {"copy", "copy_cached", "read", "write", "read_l2"};
constexpr std::size_t kRead = 2, kWrite = 3;
constexpr std::int64_t kMostBlocks = 1024;
/// What one block of measure/common.py's COPY has in flight: 512 threads with 4 loads of 16 bytes.
constexpr Bytes kInFlight{32.0 * 1024.0};
constexpr Bytes kPiece{256.0 * 1024.0};
// Lengths of blocks in the kernel's time alone: they end before it does, or do not, however slow it gets.
constexpr double kShort = 0.5, kLong = 4.0;

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

std::size_t way_in(const RowArguments& row) {
  const auto* const found = std::ranges::find(kWays, row.find("way"));
  if (found != kWays.end()) return static_cast<std::size_t>(found - kWays.begin());
  row.fail("way", unknown_name("way", row.find("way"), std::vector<std::string>(kWays.begin(), kWays.end())));
}

}  // namespace

NumberSource blocks_beside_row(const RowArguments& row) {
  const auto blocks = static_cast<int>(row.whole("blocks", kMostBlocks));
  const BytesPerSecond rate = row.above_0("rate_alone_gb_s") * 1.0_GBps;
  return [gpu = gpu_in(row), op = kernel_called(row, "kernel", row.text("kernel")), way = way_in(row), blocks,
          rate] {
    const Parted parted(*gpu, op, way, blocks, rate);
    return std::map<std::string, double>{{"slower", parted.slowdown()}, {"kept", parted.rate()}};
  };
}

}}  // namespace c3::studies
