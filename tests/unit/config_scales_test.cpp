/// What-if factors of a kind of rate, and what follows from the number of CUs.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_scales_test { namespace {

GpuSpec gpu_with(const std::string& preset, const std::vector<std::string>& sets) {
  return load_gpu(preset, sets);
}

std::string refusal(const std::string& preset, const std::vector<std::string>& sets) {
  return error_of([&] { load_gpu(preset, sets); });
}

TEST_CASE("gpu.hbm_scale multiplies peak and measured rates of memory, and neither its size nor its latency") {
  for (const std::string preset : {"mi300x", "h100-sxm"}) {  // measured rates, and rates that follow the peak
    const GpuSpec before = load_gpu(preset);
    const GpuSpec after = gpu_with(preset, {"gpu.hbm_scale=2", "gpu.hbm_service=10 ns"});
    CHECK(after.hbm.peak.value == near(2 * before.hbm.peak.value));
    CHECK(after.hbm.read.value == near(2 * before.hbm.read.value));
    CHECK(after.hbm.write.value == near(2 * before.hbm.write.value));
    CHECK(after.hbm.copy.value == near(2 * before.hbm.copy.value));
    CHECK(after.hypotheses.hbm_service.value ==
          near(5e-9));  // a channel that is twice as fast serves in half the time
    CHECK(after.hbm.size == before.hbm.size);
    CHECK(after.hbm.latency == before.hbm.latency);
    CHECK(after.compute == before.compute);
    CHECK(after.cache == before.cache);
  }
}

TEST_CASE("gpu.flops_scale multiplies peak and sustained rates of every data type, and no clock") {
  for (const std::string preset : {"mi300x", "h100-sxm"}) {
    const GpuSpec before = load_gpu(preset);
    const GpuSpec after = gpu_with(preset, {"gpu.flops_scale=0.5"});
    REQUIRE(after.compute.matrix.size() == before.compute.matrix.size());
    for (std::size_t i = 0; i < before.compute.matrix.size(); ++i) {
      CHECK(after.compute.matrix[i].peak.value == near(before.compute.matrix[i].peak.value / 2));
      CHECK(after.compute.matrix[i].sustained.value == near(before.compute.matrix[i].sustained.value / 2));
      CHECK(after.compute.matrix[i].clock == before.compute.matrix[i].clock);
    }
    CHECK(after.hbm == before.hbm);
  }
}

TEST_CASE("node.link_scale multiplies every link of a node and what its library states of them") {
  const std::vector<std::string> sets = {"node.link_scale=2.0"};
  const ClusterSpec before = load_cluster("h100-sxm-8");
  const ClusterSpec after = load_cluster("h100-sxm-8", sets);
  CHECK(after.node.link.raw.value == near(2 * before.node.link.raw.value));
  CHECK(after.node.link.one_way.value == near(2 * before.node.link.one_way.value));
  CHECK(after.node.link.both_ways.value == near(2 * before.node.link.both_ways.value));
  CHECK(after.node.link.latency == before.node.link.latency);
  CHECK(after.node.pcie.both_ways.value == near(2 * before.node.pcie.both_ways.value));
  CHECK(after.library.link_payload.value == near(2 * before.library.link_payload.value));
  CHECK(after.library.nvls_payload.value == near(2 * before.library.nvls_payload.value));
  CHECK(after.library.tuner_bandwidth.value == near(2 * before.library.tuner_bandwidth.value));
  CHECK(after.library.simple == before.library.simple);  // what a channel moves is the GPU's
  const ClusterSpec wired = load_cluster("rtx-6000d-8");
  const ClusterSpec faster = load_cluster("rtx-6000d-8", sets);
  REQUIRE_FALSE(wired.node.other_links.empty());
  for (std::size_t i = 0; i < wired.node.other_links.size(); ++i)
    CHECK(faster.node.other_links[i].raw.value == near(2 * wired.node.other_links[i].raw.value));
}

TEST_CASE("fabric.scale multiplies NICs and links between switches") {
  const std::vector<std::string> sets = {"fabric.scale=3"};
  const ClusterSpec before = load_cluster({"h100-sxm-8", 2, "ib-ndr"});
  const ClusterSpec after = load_cluster({"h100-sxm-8", 2, "ib-ndr"}, sets);
  CHECK(after.fabric->nic.both_ways.value == near(3 * before.fabric->nic.both_ways.value));
  CHECK(after.fabric->nic.latency == before.fabric->nic.latency);
  CHECK(after.node == before.node);
}

TEST_CASE("a factor is a whole or a broken number between 0.001 and 1000") {
  CHECK(refusal("mi300x", {"gpu.hbm_scale=1000"}) == "no error");
  CHECK(refusal("mi300x", {"gpu.hbm_scale=0"}) ==
        "--set:1:1: gpu.hbm_scale: must be between 0.001 and 1000, not 0");
  CHECK(refusal("mi300x", {"gpu.flops_scale=\"2\""}) ==
        "--set:1:1: gpu.flops_scale: must be a number, as in 0.5, not a string");
}

TEST_CASE("peaks and sustained rates follow an overridden number of CUs and the boost clock") {
  const GpuSpec before = load_gpu("mi300x");
  const GpuSpec wide = gpu_with("mi300x", {"gpu.cus_per_xcd=76", "gpu.xcds=4", "gpu.boost_clock=4.2 GHz"});
  for (const DType dtype : {DType::bf16, DType::fp16, DType::fp8, DType::fp32}) {
    // 76 x 4 CUs are as many as 38 x 8, at twice the clock.
    CHECK(matrix_rate(wide, dtype).peak.value == near(2 * matrix_rate(before, dtype).peak.value));
    CHECK(matrix_rate(wide, dtype).sustained.value == near(2 * matrix_rate(before, dtype).sustained.value));
    CHECK(matrix_rate(wide, dtype).clock.value == near(2 * matrix_rate(before, dtype).clock.value));
  }
  CHECK(wide.hbm == before.hbm);

  const GpuSpec h100 = load_gpu("h100-sxm");
  const GpuSpec twice = gpu_with("h100-sxm", {"gpu.cus_per_xcd=264"});
  CHECK(matrix_rate(twice, DType::bf16).peak.value == near(2 * matrix_rate(h100, DType::bf16).peak.value));
  CHECK(matrix_rate(twice, DType::bf16).sustained.value ==
        near(2 * matrix_rate(h100, DType::bf16).sustained.value));
  CHECK(matrix_rate(twice, DType::bf16).clock == matrix_rate(h100, DType::bf16).clock);
}

TEST_CASE("a rate that is overridden beside the number of CUs is taken as it is written") {
  const GpuSpec before = load_gpu("mi300x");
  const GpuSpec gpu = gpu_with("mi300x", {"gpu.cus_per_xcd=19", "gpu.bf16_peak=1 PFLOP/s"});
  CHECK(matrix_rate(gpu, DType::bf16).peak == 1000.0_TFLOPs);
  CHECK(matrix_rate(gpu, DType::bf16).sustained.value ==
        near(matrix_rate(before, DType::bf16).sustained.value * 1e15 /
             matrix_rate(before, DType::bf16).peak.value));  // the same share of the peak
  CHECK(matrix_rate(gpu, DType::fp8).peak.value == near(matrix_rate(before, DType::fp8).peak.value / 2));
}

TEST_CASE("a configuration with overridden CUs reads back the same, and its rates say what they follow") {
  const ScratchFolder folder;
  const std::string file = folder.write("e.toml",
                                        "schema = 1\nsystem = \"rtx-6000d-8\"\n[gpu]\ncus_per_xcd = 78\n"
                                        "[[stream]]\nname = \"a\"\n"
                                        "run = [{ gemm = { m = 512, n = 512, k = 512, dtype = \"bf16\" } }]\n"
                                        "[strategy.alone]\n");
  const ExperimentFile first = ExperimentFile::load(file);
  const std::string text = first.resolved_toml();
  CHECK(text == Part{"x 0.5, with the overridden compute units and boost clock"});
  const ExperimentFile again = ExperimentFile::load(folder.write("r.toml", text));
  CHECK(again.make(std::nullopt).cluster == first.make(std::nullopt).cluster);
}

TEST_CASE("hbm_read alone sets all rates of memory where a preset derives them, and the others require it") {
  const GpuSpec gpu = gpu_with("h100-sxm", {"gpu.hbm_read=2 TB/s"});
  CHECK(gpu.hbm.read == 2.0_TBps);
  CHECK(gpu.hbm.write == 2.0_TBps);
  CHECK(gpu.hbm.copy == 2.0_TBps);
  CHECK(refusal("h100-sxm", {"gpu.hbm_copy=2 TB/s"}) ==
        "--set:1:1: gpu.hbm_copy: requires hbm_read too; hbm_read alone sets all three rates");
  const GpuSpec measured = gpu_with("mi300x", {"gpu.hbm_read=4 TB/s"});
  CHECK(measured.hbm.write == load_gpu("mi300x").hbm.write);
}

TEST_CASE("a sustained rate alone takes the clock at which its issue slots are 90 % full") {
  const GpuSpec gpu = gpu_with("h100-sxm", {"gpu.bf16_sustained=445.23 TFLOP/s"});
  // 445.23 of 989.4 TFLOP/s is 0.45 of the peak: 0.5 of the boost clock.
  CHECK(matrix_rate(gpu, DType::bf16).clock.value == near(0.5 * gpu.compute.boost_clock.value));
}

}}  // namespace c3::config_scales_test
