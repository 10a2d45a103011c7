#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/gpu_match.hpp"
#include "configs/presets/preset_store.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>

#include "configs/presets/spec_readers.hpp"
#include "configs/toml/section.hpp"
#include "configs/toml/toml_text.hpp"
#include "gpu/clock/sustained_level.hpp"
#include "gpu/spec.hpp"
#include "tests/support/collective_bench.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_preset_test { namespace {

constexpr auto kKinds = kPresetKinds;

Node load(PresetKind kind, const std::string& name) { return load_preset(kind, name, {}, "test"); }

/// Lets presets be found in \p folder first.
class SearchPath {
 public:
  explicit SearchPath(const std::string& folders) { setenv("C3SIM_CONFIGS", folders.c_str(), 1); }
  SearchPath(const SearchPath&) = delete;
  SearchPath& operator=(const SearchPath&) = delete;
  ~SearchPath() { unsetenv("C3SIM_CONFIGS"); }
};

/// Requires a source of every number, also of those in inner tables such as [links.socket].
void require_sources(const Table& table) {
  for (const Member& member : table.members()) {
    CAPTURE(member.key);
    const bool is_number = member.value.text() == nullptr && !std::holds_alternative<bool>(member.value.value);
    if (!is_number) continue;
    REQUIRE(member.value.table() != nullptr);
    const Table& value = *member.value.table();
    if (!is_sourced_value(member.value)) {
      require_sources(value);
      continue;
    }
    REQUIRE(value.find("kind") != nullptr);
    REQUIRE(value.find("source") != nullptr);
  }
}

TEST_CASE("a preset whose level was measured on another part has its chip's peaks and its board's limit") {
  int relatives = 0, measured = 0;
  for (const std::string& name : preset_names(PresetKind::gpu)) {
    CAPTURE(name);
    const GpuSpec gpu = load_gpu(name, {});
    const auto level = sustained_level(gpu);
    if (!level || level->measured_on.empty()) continue;
    ++(level->evidence == LevelEvidence::relative ? relatives : measured);
    const GpuSpec its_part = load_gpu(level->measured_on, {});
    CHECK(its_part.governor.measured_on == level->measured_on);
    CHECK(its_part.governor.limit == gpu.governor.limit);
    CHECK(its_part.compute.cus() == gpu.compute.cus());
    CHECK(matrix_rate(its_part, DType::bf16).peak == matrix_rate(gpu, DType::bf16).peak);
  }
  CHECK(relatives == 2);  // H200 and the A100 of 40 GB
  CHECK(measured == 6);   // A100 of 80 GB, H100, B200, MI300X, MI325X, MI355X
}

TEST_CASE("every preset loads, and every number of it states kind and source") {
  int presets = 0;
  for (const PresetKind kind : kKinds) {
    for (const std::string& name : preset_names(kind)) {
      CAPTURE(name);
      ++presets;
      const Node preset = load(kind, name);
      require_sources(*preset.table());
    }
  }
  CHECK(presets >= 5);
}

TEST_CASE("a preset with any one number's source taken away is refused, whichever number it is") {
  int numbers = 0;
  for (const PresetKind kind : kKinds) {
    for (const std::string& name : preset_names(kind)) {
      const Node preset = load(kind, name);
      for (const Member& member : preset.table()->members()) {
        if (!is_sourced_value(member.value)) continue;
        ++numbers;
        Node bare = preset;
        bare.table()->find(member.key)->table()->erase("source");
        CAPTURE(member.key);
        CHECK(error_of([&] { check_preset(kind, bare); }) == Part{"." + member.key + ": has no source"});
      }
    }
  }
  CHECK(numbers > 60);
}

TEST_CASE("the system mi300x-8 has the published and measured figures of its sources") {
  const ClusterSpec cluster = load_cluster("mi300x-8");
  CHECK(cluster.name == "mi300x-8");
  CHECK(cluster.gpu.compute.cus() == 304);
  CHECK(matrix_rate(cluster.gpu, DType::bf16).sustained == 708.0_TFLOPs);
  CHECK(matrix_rate(cluster.gpu, DType::bf16).clock == 1207.0_MHz);
  CHECK(matrix_rate(cluster.gpu, DType::fp8).peak.value == doctest::Approx(2614.9e12));
  CHECK(cluster.gpu.compute.matrix.size() == 4);
  CHECK(cluster.gpu.dispatch.mask_granule == 8);
  CHECK(cluster.gpu.cache.l2_bandwidth.value == doctest::Approx(2048 * 2.1e9));
  // 8 XCD ports carry what the Infinity Cache delivers, to the three digits published.
  CHECK(8 * cluster.gpu.cache.xcd_port_bandwidth.value ==
        doctest::Approx(cluster.gpu.cache.llc_bandwidth.value).epsilon(1e-3));
  CHECK(cluster.gpu.hbm.peak.value == doctest::Approx(5.3248e12));
  CHECK(cluster.node.gpus == 8);
  CHECK(cluster.node.link.both_ways.value == doctest::Approx(46.552e9));
  CHECK(cluster.library.channels == 56);
}

TEST_CASE("masks of mi300x-8: an all-gather is as fast as ever from 32 CUs, an all-to-all from 64") {
  const ClusterSpec cluster = load_cluster("mi300x-8");
  struct Curve {
    CollectiveKind kind;
    Algorithm algorithm;
    int knee;
  };
  for (const auto& [kind, algorithm, knee] : {Curve{CollectiveKind::all_gather, Algorithm::ring, 32},
                                              Curve{CollectiveKind::all_gather, Algorithm::direct, 32},
                                              Curve{CollectiveKind::all_to_all, Algorithm::direct, 64}}) {
    const auto time_on = [&](int cus) {
      CollectivePlan plan;
      plan.call = {kind, 896.0_MiB};
      plan.method.algorithm = algorithm;
      plan.range = {0, cus / cluster.gpu.compute.xcds};
      return test::CollectiveBench(cluster, plan).run();
    };
    const Seconds whole = time_on(cluster.gpu.compute.cus());
    for (const int cus : {8, 16, 24, 32, 64, 128}) {
      CAPTURE(name_of(kind));
      CAPTURE(cus);
      if (cus >= knee) {
        CHECK(time_on(cus) / whole < 1.05);
      } else {
        CHECK(time_on(cus) / whole > 1.2);
      }
    }
  }
}

TEST_CASE("GPUs of a node are peers as far as the library takes them by itself, unless a user says how far") {
  using Sets = std::vector<std::string>;
  const auto reach = [](const char* system, const Sets& sets = {}) {
    return load_cluster(system, sets).node.host.p2p;
  };
  CHECK(reach("l40s-2") == P2pReach::direct);
  CHECK(reach("l40s-amd-2") == P2pReach::all);
  CHECK(reach("l40s-amd-2", {"node.p2p=host"}) == P2pReach::host);
  CHECK(reach("l40s-8", {"library.host_processor=amd"}) == P2pReach::direct);
  CHECK(reach("l40s-8", {"library.host_processor=amd", "library.version=\"2.22\""}) == P2pReach::all);
}

TEST_CASE("two channels of RCCL share an MI300X CU and a third never does, at both ends of the assumed sizes") {
  const GpuSpec gpu = load_gpu("mi300x");
  const Node library = load(PresetKind::library, "rccl-mi300x");
  for (const std::string end : {"low", "high"}) {
    const auto bytes = [&](const std::string& key) {
      return parse_quantity(*library.table()->find(key)->table()->find(end)->text(), Dimension::bytes);
    };
    CHECK(2 * bytes("channel_lds") <= gpu.compute.lds_per_cu.value);
    CHECK(3 * bytes("channel_lds") > gpu.compute.lds_per_cu.value);
    CHECK(2 * bytes("channel_registers") <= gpu.compute.registers_per_cu.value);
    CHECK(3 * bytes("channel_registers") > gpu.compute.registers_per_cu.value);
  }
}

TEST_CASE("a GPU is found by the name that a driver gives it") {
  CHECK(gpu_preset_of("NVIDIA_A100-PCIE-40GB") == "a100-pcie-40gb");
  CHECK(gpu_preset_of("Tesla V100-PCIE-32GB") == "v100-pcie-32gb");
  // A preset whose name leaves out the memory that it has, and only that memory.
  CHECK(gpu_preset_of("NVIDIA H100-SXM-80GB") == "h100-sxm");
  CHECK_FALSE(gpu_preset_of("NVIDIA H100-SXM-40GB").has_value());
  CHECK(gpu_preset_of("NVIDIA Tesla T4") == "t4");
  CHECK(gpu_preset_of("MI300X") == "mi300x");
  CHECK_FALSE(gpu_preset_of("NVIDIA").has_value());
  CHECK_FALSE(gpu_preset_of("").has_value());
}

TEST_CASE("what a study believes of hosts and of remote writes is off in a preset, and can be set") {
  const GpuSpec preset = load_gpu("mi300x");
  CHECK(preset.host.launch_skew == 0.0_s);
  CHECK(preset.host.join == 0.0_s);
  CHECK(preset.dma.write_bytes == 1.0);
  const std::vector<std::string> sets = {"gpu.launch_skew=5 us", "gpu.host_join=20 us",
                                         "gpu.dma_write_bytes=1.5"};
  const GpuSpec gpu = load_gpu("mi300x", sets);
  CHECK(gpu.host.launch_skew == 5.0_us);
  CHECK(gpu.host.join == 20.0_us);
  CHECK(gpu.dma.write_bytes == 1.5);
  const std::vector<std::string> less = {"gpu.dma_write_bytes=0.5"};
  CHECK(error_of([&] { load_gpu("mi300x", less); }) == Part{"gpu.dma_write_bytes: must not be below 1"});
}

TEST_CASE("overrides of a GPU alone are those of an experiment") {
  const std::vector<std::string> sets = {"gpu.hbm_read=4 TB/s", "gpu.mask_granule=30"};
  const GpuSpec gpu = load_gpu("mi300x", sets);
  CHECK(gpu.hbm.read == 4.0_TBps);
  CHECK(gpu.dispatch.mask_granule == 30);
  GpuSpec expected = load_gpu("mi300x");
  expected.hbm.read = gpu.hbm.read;
  expected.dispatch.mask_granule = 30;
  CHECK(gpu == expected);
  const auto error = [](const std::string& set) {
    return error_of([&] { load_gpu("mi300x", std::vector<std::string>{"gpu.xcds=8", set}); });
  };
  CHECK(error("gpu.hbm_raed=1") == "--set:2:1: gpu.hbm_raed: unknown key; did you mean 'hbm_read'?");
  CHECK(error("hbm_read=1") == "--set:2:1: hbm_read: unknown key; known: gpu");
  CHECK(error("gpu=1") == Part{"--set:2:1: gpu: "});
  CHECK(error("gpu.hbm_read=1 s") == Part{"--set:2:1: gpu.hbm_read: "});
}

TEST_CASE("an unknown preset is refused with the known ones and the nearest") {
  CHECK(error_of([] { load_model("llama-70B"); }) ==
        "preset:1:1: model: unknown model preset 'llama-70B'; did you mean 'llama-70b'? known: bert-large, "
        "deepseek-v3, deepseek-v3.2, gemma-4-26b-a4b, gpt-1.7b, gpt-145.6b, gpt-18.4b, gpt-1t, gpt-22b, "
        "gpt-3.6b, gpt-310.1b, gpt-39.1b and 46 more");
}

TEST_CASE("a preset of the search path hides the built-in one, and must be named like its file") {
  const ScratchFolder folder;
  Node preset = load(PresetKind::model, "llama-70b");
  preset.table()->find("layers")->table()->find("value")->value = std::int64_t{7};
  folder.write("models/llama-70b.toml", write_toml(*preset.table()));
  const std::string copy = folder.write("models/my-llama.toml", write_toml(*preset.table()));
  const SearchPath search("/nonexistent:" + folder.path().string());
  CHECK(load_model("llama-70b").layers == 7);
  CHECK(load_model("llama-405b").layers == 126);
  CHECK(error_of([] { load_model("my-llama"); }) ==
        copy + ":1:8: model.name: must be 'my-llama', the name of the file");
}

TEST_CASE("a preset that extends another overrides its numbers with numbers of its own source") {
  const ScratchFolder folder;
  folder.write("models/llama-70b.toml", write_toml(*load(PresetKind::model, "llama-70b").table()));
  folder.write("models/short.toml",
               "extends = \"llama-70b.toml\"\nname = \"short\"\n"
               "layers = { value = 2, kind = \"derived\", source = \"a cut model\" }\n");
  const SearchPath search(folder.path().string());
  CHECK(load_model("short").layers == 2);
  CHECK(load_model("short").hidden == 8192);
}

TEST_CASE("rates that contradict each other are refused") {
  const auto with = [](const std::string& key, const std::string& value) {
    return error_of([&] {
      Node preset = load(PresetKind::gpu, "mi300x");
      preset.table()->put(key, {}, Node{value, {}});
      Section section(preset, "gpu");
      read_gpu(section);
    });
  };
  CHECK(with("hbm_read", "5 TB/s") == "no error");
  CHECK(with("hbm_read", "6 TB/s") == Part{"gpu.hbm_read: must not be above hbm_peak, which is 5324.8 GB/s"});
  CHECK(with("hbm_copy", "6 TB/s") == Part{"gpu.hbm_copy: must not be above hbm_peak"});
  CHECK(with("bf16_sustained", "2 PFLOP/s") ==
        Part{"gpu.bf16_sustained: must not be above the peak, which is 1307.4 TFLOP/s"});
  CHECK(with("bf16_clock", "3 GHz") == Part{"gpu.bf16_clock: must not be above boost_clock, which is 2.1 GHz"});
}

}}  // namespace c3::config_preset_test
