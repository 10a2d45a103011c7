/// What a user is told before a run: overrides that cannot matter, figures in doubt, what a preset lacks.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/nearest_name.hpp"
#include "configs/jobs/doubts.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "configs/jobs/unused_keys.hpp"
#include "configs/presets/document.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/toml/toml_text.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_notes_test { namespace {

using Texts = std::vector<std::string>;

constexpr const char* kJob =
    "schema = 1\nsystem = \"mi300x-8\"\n"
    "[[stream]]\nname = \"a\"\nrun = [{ gemm = { m = 512, n = 512, k = 512, dtype = \"bf16\" } }]\n"
    "[[stream]]\nname = \"b\"\nrun = [{ all_gather = \"16 MiB\" }]\n"
    "[strategy.concurrent]\n";

/// Notes on the job above with \p sets, and \p more lines at its end.
Texts notes_with(const Texts& sets, const std::string& more = "") {
  const ScratchFolder folder;
  return ExperimentFile::load(folder.write("e.toml", kJob + more), sets).notes();
}

TEST_CASE("an override of a peak moves what was measured against it, so that none is unused") {
  CHECK(notes_with({}).empty());
  CHECK(notes_with({"gpu.hbm_scale=2", "gpu.hbm_read=4 TB/s", "node.link_scale=2", "library.channels=8"})
            .empty());
  CHECK(notes_with({"gpu.hbm_peak=10.6 TB/s", "node.link_raw=128 GB/s"}).empty());
  CHECK(notes_with({"gpu.hbm_peak=10.6 TB/s", "gpu.hbm_read=9 TB/s"}).empty());
  CHECK(notes_with({"gpu.bf16_peak=2600 TFLOP/s"}) ==
        Texts{"gpu 'mi300x': fp8_peak is 1.01 times bf16_peak; 2 times is usual"});
}

TEST_CASE("overrides of parts that no strategy uses are named, those of parts in use are not") {
  const Texts idle = notes_with({"gpu.dma_schedule=1 us", "gpu.fp8_sustained=1 PFLOP/s",
                                 "gpu.hbm_fair_share=0.7", "gpu.kernels.attention.share_default=0.5"});
  REQUIRE(idle.size() == 4);
  CHECK(idle[0] == Part{"gpu.dma_schedule: not used here: no strategy moves data with copy engines"});
  CHECK(idle[1] == "gpu.fp8_sustained: not used here: no fp8 matrix product runs");
  CHECK(idle[2] == "gpu.hbm_fair_share: not used here: hbm_arbitration is not \"stream_fair\"");
  CHECK(idle[3] == Part{"no attention kernel runs"});
  CHECK(notes_with({"gpu.dma_schedule=1 us"}, "[strategy.dma]\nb.backend = \"dma\"\n").empty());
  CHECK(notes_with({"gpu.hbm_fair_share=0.7"}, "[strategy.fair]\nhbm_arbitration = \"stream_fair\"\n").empty());
}

constexpr std::array kOverridden = {PresetKind::gpu, PresetKind::node, PresetKind::library, PresetKind::fabric,
                                    PresetKind::framework};

/// Dotted keys of \p rule and of the tables below it, with names that a file chooses as their example.
void add_keys(Texts& keys, const TableRule& rule, const std::string& path) {
  for (const KeyRule& key : rule.keys) {
    const auto* table = key.rule ? std::get_if<TableRule>(&key.rule->form) : nullptr;
    if (table == nullptr) keys.push_back(path + key.key);
    if (table != nullptr) add_keys(keys, *table, path + key.key + ".");
  }
}

/// Two nodes with every part, and one GPU without any.
std::vector<ClusterSpec> rich_and_poor() {
  ClusterSpec rich = load_cluster({"h100-sxm-8", 2, "ib-ndr"});
  rich.gpu.hypotheses.strict_rotation = true;
  rich.gpu.dispatch.shader_engines = 8;
  rich.gpu.hypotheses.power.coupling = 1.0;
  rich.gpu.cache.llc_size = 256.0_MiB;
  ClusterSpec poor;
  poor.gpu = load_gpu("l40s");
  poor.gpu.cache.llc_size = {};
  return {rich, poor};
}

/// Steps that use all that a run can use, and runs that use nothing or the channels of one node alone.
std::vector<RunUse> busy_and_idle() {
  RunUse busy;
  busy.of_gpu.everything = true;
  busy.kernels = busy.collectives = busy.in_pairs = busy.messages = busy.host_copies = true;
  busy.channels = busy.engines = busy.fused = busy.in_memory = busy.masks = busy.beside = busy.host_calls =
      true;
  busy.arbitrations = {HbmArbitration::stream_fair, HbmArbitration::compute_first};
  std::vector<RunUse> uses(4, busy);
  uses[0].step = StepUse{Sharding::parameters, 2, true, 2.0_MiB, 2.0_MiB, 1.0_MiB};
  uses[1].step = StepUse{Sharding::none, 1, false, 2.0_MiB, 2.0_MiB, 1.0_MiB};
  uses[2].step = StepUse{Sharding::none, 1, false, 1.0_MiB, 1.0_MiB, 2.0_MiB};
  uses[3].alone = uses[3].measured_launch = true;
  RunUse channels;
  channels.collectives = channels.channels = true;
  uses.push_back(channels);
  uses.emplace_back();
  return uses;
}

TEST_CASE("every key that can be overridden is used by some run, and unused by some if it has a condition") {
  std::vector<ClusterSpec> clusters = rich_and_poor();
  clusters.push_back(load_cluster("h100-sxm-8"));
  for (const PresetKind kind : kOverridden) {
    Texts keys;
    add_keys(keys, preset_keys(kind), std::string(noun_of(kind)) + ".");
    for (const std::string& key : keys) {
      CAPTURE(key);
      const DeclaredKey declared = declared_key(key);
      CHECK(declared.is_known);
      bool is_used = false, is_unused = false;
      for (const ClusterSpec& cluster : clusters) {
        for (const RunUse& use : busy_and_idle())
          (unused_keys(Texts{key}, cluster, use).empty() ? is_used : is_unused) = true;
      }
      CHECK(is_used);
      CHECK(is_unused == !declared.used_if.empty());
    }
  }
}

TEST_CASE("every key of a shipped preset, which a file may override, is declared by a reader") {
  for (const PresetKind kind : kOverridden) {
    for (const std::string& name : preset_names(kind)) {
      Node preset = load_preset(kind, name, {}, "name");
      preset.table()->erase("name");  // a whole part overrides nothing
      Table document;
      document.put(noun_of(kind), {}, preset);
      for (const std::string& key : overridden_keys(document))
        CHECK_MESSAGE(declared_key(key).is_known, name, ": ", key);
    }
  }
}

TEST_CASE("a job of kernels alone uses its node's GPU and nothing else of the node") {
  const ScratchFolder folder;
  const std::string file = folder.write(
      "k.toml",
      "schema = 1\nsystem = \"mi300x-8\"\n[[stream]]\nname = \"a\"\n"
      "run = [{ gemm = { m = 512, n = 512, k = 512, dtype = \"bf16\" } }]\n[strategy.concurrent]\n");
  CHECK(ExperimentFile::load(file, Texts{"node.gpu=\"mi325x\"", "node.library=\"rccl-mi355x\""}).notes() ==
        Texts{"node.library: not used here: no collective runs"});
}

TEST_CASE("a table that is a whole part, as in a resolved configuration, overrides nothing") {
  const ScratchFolder folder;
  const ExperimentFile file = ExperimentFile::load(folder.write("e.toml", kJob), Texts{"gpu.dma_sync=1 us"});
  CHECK(file.notes().size() == 1);
  CHECK(ExperimentFile::load(folder.write("r.toml", file.resolved_toml())).notes().empty());
}

/// A search path for one test.
class PresetFolder {
 public:
  PresetFolder() { setenv("C3SIM_CONFIGS", folder_.path().c_str(), 1); }
  PresetFolder(const PresetFolder&) = delete;
  PresetFolder& operator=(const PresetFolder&) = delete;
  ~PresetFolder() { unsetenv("C3SIM_CONFIGS"); }

  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }

 private:
  ScratchFolder folder_;
};

TEST_CASE(
    "a family and a memory technology are words of TOML, and a family that is probably misspelt gets a note") {
  const PresetFolder folder;
  const auto word = [](std::string_view value) {
    return fmt::format("{{ value = \"{}\", kind = \"published\", source = \"data sheet\" }}\n", value);
  };
  const std::string begin = "extends = \"gpus/h100-sxm\"\nname = \"next\"\n";
  const GpuSpec hopper = load_gpu("h100-sxm");
  const std::string share =
      "kernels.vector.memory_share_hbm4 = { value = 0.8, kind = \"measured\", source = \"..\" }\n";
  folder.write("gpus/next.toml",
               begin + "family = " + word("rubin") + "hbm_technology = " + word("hbm4") + share);
  const GpuSpec next = load_gpu("next");
  CHECK(next.family.name == "rubin");
  CHECK(next.hbm.technology == "hbm4");
  CHECK(next.kernels.vector.memory_share <
        hopper.kernels.vector.memory_share);  // the default share, not hbm3's
  CHECK(doubts_about(next) == Texts{});

  folder.write("gpus/next.toml", begin + "family = " + word("hoper"));
  CHECK(
      doubts_about(load_gpu("next")) ==
      Texts{"gpu 'next': no file kernels/hoper.toml describes its family, so it takes the default shares; did "
            "you mean 'hopper'?"});
}

TEST_CASE("a preset of one's own extends a shipped one by its name, and states doubtful peaks knowingly") {
  const PresetFolder folder;
  const std::string peak = "{ value = \"148 TFLOP/s\", kind = \"published\", source = \"data sheet\" }\n";
  folder.write("gpus/h20.toml", "extends = \"gpus/h100-sxm\"\nname = \"h20\"\nbf16_peak = " + peak);
  CHECK(matrix_rate(load_gpu("h20"), DType::bf16).peak == 148.0_TFLOPs);
  const Node preset = load_preset(PresetKind::gpu, "h20", {}, "gpu");
  CHECK(doubts_about_preset(*preset.table()) == Texts{"gpu 'h20': bf16_peak is its own, but fp16_peak and "
                                                      "fp8_peak are inherited: state all peaks together"});
  CHECK(doubts_about(load_gpu("h20")) ==
        Texts{"gpu 'h20': fp8_peak is 13.4 times bf16_peak; 2 times is usual"});

  folder.write("gpus/small.toml",
               "extends = \"gpus/h100-sxm.toml\"\nname = \"small\"\n"
               "cus_per_xcd = { value = 78, kind = \"published\", source = \"data sheet\" }\n");
  const Node small = load_preset(PresetKind::gpu, "small", {}, "gpu");
  const Texts doubts = doubts_about_preset(*small.table());
  REQUIRE(doubts.size() == 1);
  CHECK(doubts[0] == Part{"cus_per_xcd is its own, but bf16_peak and fp16_peak and fp8_peak are inherited"});
}

TEST_CASE("no shipped GPU or system is in doubt") {
  for (const std::string& name : preset_names(PresetKind::gpu)) {
    CAPTURE(name);
    CHECK(doubts_about_preset(*load_preset(PresetKind::gpu, name, {}, "gpu").table()) == Texts{});
    CHECK(doubts_about(load_gpu(name)) == Texts{});
  }
}

TEST_CASE("NICs that the GPUs of a node cannot share evenly are in doubt") {
  const Texts nics = {"fabric.nics=5"};
  CHECK(doubts_about(load_cluster({"h100-sxm-8", 4, "ib-ndr"}, nics)) ==
        Texts{"fabric 'ib-ndr': 5 NICs for the 8 GPUs of a node: some GPUs get more NICs than others"});
  const Texts half = {"fabric.nics=4"};
  CHECK(doubts_about(load_cluster({"h100-sxm-8", 4, "ib-ndr"}, half)).empty());
}

TEST_CASE("all keys that a preset lacks are told at once, each with its unit and meaning") {
  const PresetFolder folder;
  folder.write("gpus/mine.toml", "extends = \"kernels/hopper\"\nname = \"mine\"\n");
  const std::string error = error_of([] { load_gpu("mine"); });
  CHECK(error == Part{" keys are missing\n"});
  CHECK(error == Part{"\n  boost_clock          frequency [Hz]: highest core clock, at which peaks hold\n"});
  CHECK(error == Part{"\n  hbm_peak             bandwidth [B/s]: data sheet's memory bandwidth\n"});
  CHECK(error == Part{"\n  hbm_arbitration      outstanding | byte_fair"});
}

TEST_CASE("all values of a node that lack kind or source are told at once") {
  const PresetFolder folder;
  const std::string file = folder.write(
      "nodes/lab.toml",
      "name = \"lab\"\ngpu = \"h100-sxm\"\nlibrary = \"nccl-h100\"\ntopology = \"switched\"\ngpus = 4\n"
      "link_raw = \"450 GB/s\"\nlink_one_way = \"370 GB/s\"\nlink_both_ways = \"370 GB/s\"\n");
  CHECK(error_of([] { load_cluster("lab"); }) ==
        fmt::format("{}:1:1: node: 1 key is missing; 5 values lack kind or source, as in {{ value = .., kind = "
                    "\"measured\", source = \"..\" }}: topology, gpus, link_raw, link_one_way, link_both_ways\n"
                    "  link_latency         duration [s]: latency of one hop",
                    file));
}

TEST_CASE("a name that was not ended is completed by the shortest, else the fewest edits win") {
  const Texts systems = {"h100-96gb-hbm2e-8", "h100-pcie-2", "h100-sxm-8", "h200-sxm-8"};
  CHECK(nearest_name("h100", systems) == "h100-sxm-8");
  CHECK(nearest_name("com", Texts{"compute", "comm"}) == "comm");
  CHECK(nearest_name("h10-sxm-8", systems) == "h100-sxm-8");
  CHECK(nearest_name("mi300x", systems).empty());
}

TEST_CASE("data types may be written as frameworks write them") {
  const ScratchFolder folder;
  std::string text = kJob;
  text.replace(text.find("\"bf16\""), 6, "\"bfloat16\"");
  const Experiment experiment = ExperimentFile::load(folder.write("e.toml", text)).make(std::nullopt);
  CHECK(shape_of<GemmShape>(experiment.program.scripts[0].streams[0][0])->dtype == DType::bf16);
}

TEST_CASE("many files that extend one another are read once each") {
  const ScratchFolder folder;
  for (int i = 0; i < 15; ++i) {
    const std::string next = fmt::format("\"{}.toml\"", i + 1);
    folder.write(fmt::format("{}.toml", i),
                 fmt::format("extends = [{0}, {0}, {0}, {0}]\n", next));  // 4^15 ways
  }
  folder.write("15.toml", "x = 1\n");
  CHECK(write_toml(*load_document(folder / "0.toml").table()) == "x = 1\n");
}

TEST_CASE("a huge key is shortened in its message, and a loop of links is called one") {
  const ScratchFolder folder;
  const std::string key(1U << 20U, 'k');
  const std::string file = folder.write("e.toml", std::string(kJob) + key + " = 1\n");
  const std::string error = error_of([&] { ExperimentFile::load(file); });
  CHECK(error == Part{" characters)"});
  CHECK(error.size() < 2000);
  std::filesystem::create_symlink(folder / "b.toml", folder / "a.toml");
  std::filesystem::create_symlink(folder / "a.toml", folder / "b.toml");
  CHECK(error_of([&] { ExperimentFile::load(folder / "a.toml"); }) == Part{"is a loop of symbolic links"});
}

TEST_CASE("a file's name that cannot name an experiment is told to be the file's") {
  const ScratchFolder folder;
  CHECK(error_of([&] { ExperimentFile::load(folder.write("my experiment.toml", kJob)); }) ==
        Part{"name: is missing, and the file's name 'my experiment' cannot serve as one"});
}

TEST_CASE("rates that would make times infinite are refused where they stand") {
  CHECK(error_of([] { load_gpu("mi300x", Texts{"gpu.hbm_read=5e-324 GB/s"}); }) ==
        Part{"--set:1:1: gpu.hbm_read: must be between 1 B/s and 1e+24 B/s, not 5e-324 GB/s"});
  CHECK(error_of([] { load_cluster("h100-sxm-8", Texts{"library.ll128.link_share=1e-308"}); }) ==
        Part{"library.ll128.link_share: must be between 0.001 and 1, not 1e-308"});
}

}}  // namespace c3::config_notes_test
