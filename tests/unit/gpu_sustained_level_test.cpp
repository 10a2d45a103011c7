// The level at which large products settle, the part on which it was measured, and what is open where it was on
// none.

#include "gpu/clock/sustained_level.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "configs/presets/preset_store.hpp"
#include "gpu/clock/governor.hpp"
#include "tests/support/governed_gpu.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"

namespace c3::gpu_sustained_level_test {

using namespace literals;
using namespace test;

namespace {

/// 700 TFLOP/s of bf16 at 1 pJ and 100 W idle are 800 W; a limit of 200 W under a square root halves them.
GpuSpec governed() {
  GpuSpec gpu = mi300x_like_gpu();
  gpu.name = "part";
  gpu.governor = round_governor();
  gpu.governor.board = gpu.governor.limit = Watts{200};
  gpu.governor.measured_on = "part";
  return gpu;
}

SustainedLevel level_of(const GpuSpec& gpu) {
  const auto level = sustained_level(gpu);
  REQUIRE(level);
  return *level;
}

}  // namespace

TEST_CASE("the level of a measured part is what its limit leaves of its products, without a range") {
  const SustainedLevel level = level_of(governed());
  CHECK(level.evidence == LevelEvidence::measured);
  CHECK(level.measured_on == "part");
  CHECK(level.rate / 1.0_TFLOPs == near(350.0));
  CHECK_FALSE(level.low);
  CHECK_FALSE(level.high);
}

TEST_CASE("a level that was measured on another part is 10 % open") {
  GpuSpec gpu = governed();
  gpu.name = "sibling";
  const SustainedLevel level = level_of(gpu);
  CHECK(level.evidence == LevelEvidence::relative);
  CHECK(level.measured_on == "part");
  CHECK(*level.low / 1.0_TFLOPs == near(315.0));
  CHECK(*level.high / 1.0_TFLOPs == near(385.0));
}

TEST_CASE("a part without a measured relative says so, and so does a board under a limit of its own") {
  GpuSpec unknown = governed();
  GpuSpec none = governed();
  GpuSpec limited = governed();
  unknown.governor.measured_on.clear();
  none.governor.measured_on = "none";
  limited.governor.limit = Watts{150};
  for (const GpuSpec& gpu : {unknown, none, limited}) {
    const SustainedLevel level = level_of(gpu);
    CHECK(level.evidence == LevelEvidence::none);
    CHECK(level.measured_on.empty());
    CHECK(*level.low / level.rate == near(0.9));
    CHECK(*level.high / level.rate == near(1.1));
  }
  CHECK(level_of(limited).rate / level_of(none).rate == near(std::sqrt(150.0 / 200.0)));
}

TEST_CASE("a level that was measured on this node is no estimate") {
  GpuSpec gpu = governed();
  gpu.governor.level = 300.0_TFLOPs;
  const SustainedLevel level = level_of(gpu);
  CHECK(level.evidence == LevelEvidence::node);
  CHECK(level.rate / 1.0_TFLOPs == near(300.0));
  CHECK_FALSE(level.low);
}

TEST_CASE("without power a preset's own rate is the level, and its own range stays") {
  GpuSpec gpu = governed();
  gpu.governor = {};
  for (MatrixRate& rate : gpu.compute.matrix)
    rate.from_share = false;
  CHECK(level_of(gpu).evidence == LevelEvidence::none);
  CHECK(level_of(gpu).rate == matrix_rate(gpu, DType::bf16).sustained);
  CHECK_FALSE(level_of(gpu).low);
  for (MatrixRate& rate : gpu.compute.matrix)
    rate.from_share = true;  // of its family
  CHECK(*level_of(gpu).low / level_of(gpu).rate == near(0.9));
}

TEST_CASE("a GPU without 16-bit products has no level") {
  GpuSpec gpu = governed();
  gpu.compute.matrix.clear();
  CHECK_FALSE(sustained_level(gpu));
}

TEST_CASE("a part whose level is another part's settles where that one does: same chip, board and limit") {
  int relatives = 0;
  for (const std::string& name : preset_names(PresetKind::gpu)) {
    const GpuSpec gpu = load_gpu(name);
    const auto level = sustained_level(gpu);
    if (!level || level->evidence != LevelEvidence::relative) continue;
    CAPTURE(name);
    ++relatives;
    CHECK(level->rate / level_of(load_gpu(level->measured_on)).rate == near(1.0, 0.02));
  }
  CHECK(relatives >= 2);
}

TEST_CASE("no preset's peak holds at a clock above its boost clock") {
  for (const std::string& name : preset_names(PresetKind::gpu)) {
    CAPTURE(name);
    const GpuSpec gpu = load_gpu(name);
    for (const MatrixRate& rate : gpu.compute.matrix)
      CHECK(rate.peak_clock.value <= gpu.compute.boost_clock.value * (1.0 + 1e-9));
  }
}

TEST_CASE("cards that were cut for export multiply no more than the rule lets them: 2,400 TFLOP/s x bits") {
  for (const char* name : {"rtx-6000d", "h20"}) {
    for (const MatrixRate& rate : load_gpu(name).compute.matrix) {
      CAPTURE(name);
      CAPTURE(name_of(rate.dtype));
      if (rate.dtype == DType::fp32) continue;  // of vector units, which are not said to be cut
      const double bits = 8.0 * element_size(rate.dtype).value;
      CHECK(bits * (rate.peak / 1.0_TFLOPs) <= 2400.0);
      CHECK(bits * (rate.peak / 1.0_TFLOPs) >= 0.9 * 2400.0);
    }
  }
}

}  // namespace c3::gpu_sustained_level_test
