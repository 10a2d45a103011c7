#pragma once
// Whole jobs of several streams, one of each kind that c3sim simulates, small enough for milliseconds.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/preset_store.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workloads/traces/execution/operator_list_file.hpp"

namespace c3::test {

/// An experiment file: its text, or one that is shipped, with overrides.
struct Job {
  std::string name;
  std::string text;     ///< empty: `shipped` is read
  std::string shipped;  ///< stem
  std::vector<std::string> sets = {};
  double may_lose = 0.03;  ///< by a better rate, relative
};

/// What a better rate may cost where it lets the stream for which nobody waits take more of what both share:
/// probably of the bandwidth of L2 and HBM, of which channels beside a faster product get less.
inline constexpr double kTakenByOthers = 0.15;
/// The same of seven copies on three engines. Copies that run in lock step leave the seventh to itself at the
/// end; copies that memory delays unevenly do not. Source: Graham, "Bounds on multiprocessing timing
/// anomalies", SIAM Journal on Applied Mathematics 17(2), 1969, who bounds what shorter tasks may cost a
/// list by 2 - 1/3.
inline constexpr double kListAnomaly = 0.15;

inline std::filesystem::path shipped_experiment(const std::string& stem) {
  for (const auto& file : experiment_files())
    if (file.stem() == stem) return file;
  throw std::runtime_error("no experiment " + stem);
}

/// \p product on one stream, \p collective on another.
inline Job pair_job(std::string name, const std::string& system, const std::string& product,
                    const std::string& collective, const std::string& strategies, double may_lose = 0.03) {
  return {.name = std::move(name),
          .text = fmt::format("schema = 1\nsystem = \"{}\"\n"
                              "[[stream]]\nname = \"compute\"\nrun = [{{ gemm = {{ {} }} }}]\n"
                              "[[stream]]\nname = \"comm\"\nrun = [{{ {} }}]\n{}\n[measure]\nseeds = 1\n",
                              system, product, collective, strategies),
          .shipped = "",
          .sets = {},
          .may_lose = may_lose};
}

inline Job step_job(std::string name, const std::string& system, const std::string& model, int layers,
                    const std::string& framework, const std::string& training, int nodes = 1) {
  return {
      .name = std::move(name),
      .text = fmt::format("schema = 1\nsystem = \"{}\"\nnodes = {}\n[model]\nuse = \"{}\"\nlayers = {}\n"
                          "dtype = \"bf16\"\n[training]\nframework = \"{}\"\nsequence = 1024\nmicro_batch = 1\n"
                          "{}\n[strategy.step]\n[measure]\nseeds = 1\nkernel_grain = \"fluid\"\n"
                          "estimate = \"none\"\n",
                          system, nodes, model, layers, framework, training),
      .shipped = "",
      .sets = {"+gpu.speed_spread=0", "+host.stall=\"0 s\""}};
}

/// Products and all-reduces of two ranks; before each but the first, they wait for the all-reduce before the
/// last.
inline OperatorList recorded_step() {
  RankOperators rank;
  for (std::int64_t i = 1; i <= 4; ++i) {
    ListedOperator product;
    product.work = WorkClass::gemm;
    product.thread = 1;
    product.name = "aten::mm";
    product.dims = "[[4096, 4096], [4096, 4096]]";
    product.types = R"(["c10::BFloat16", "c10::BFloat16"])";
    product.concrete = R"(["", ""])";
    ListedCollective call;
    call.kind = "all_reduce";
    call.dtype = "c10::BFloat16";
    call.group = "0";
    call.bytes = std::int64_t{32} << 20;
    call.group_size = 2;
    call.sequence = i;
    ListedOperator sum;
    sum.work = WorkClass::collective;
    sum.thread = 1;
    sum.name = "record_param_comms";
    sum.collective = call;
    rank.operators.insert(rank.operators.end(), {product, sum});
    if (i == 1) continue;
    sum.collective->is_wait = true;
    sum.collective->sequence = i - 1;
    rank.operators.push_back(sum);
  }
  OperatorList list;
  for (rank.rank = 0; rank.rank < 2; ++rank.rank)
    list.ranks.push_back(rank);
  return list;
}

/// Two micro-batches of a few tokens, whose products and sums over tensor-parallel ranks take turns.
inline Job decoding_job() {
  std::string text = "schema = 1\nsystem = \"h200-sxm-8\"\n";
  for (const char* const batch : {"a", "b"}) {
    text += fmt::format("[[stream]]\nname = \"{}\"\nrun = [", batch);
    for (int layer = 0; layer < 3; ++layer)
      text +=
          "{ gemm = { m = 64, n = 7168, k = 8192, dtype = \"bf16\" } }, { all_reduce = \"1 MiB\" }, "
          "{ gemm = { m = 64, n = 8192, k = 3584, dtype = \"bf16\" } }, { all_reduce = \"1 MiB\" }, ";
    text += "]\n";
  }
  return {.name = "decoding", .text = text + "[strategy.together]\n[measure]\nseeds = 1\n", .shipped = ""};
}

inline std::vector<Job> overlapping_jobs() {
  const std::string compute_first = "[strategy.compute_first]\norder = [\"compute\", \"comm\"]";
  const std::string both_orders = compute_first + "\n[strategy.comm_first]\norder = [\"comm\", \"compute\"]";
  const std::string zero1 = "sharding = \"zero1\"\n";
  return {
      {.name = "C3 on MI300X", .text = "", .shipped = "c3_llama70b_mi300x"},
      {.name = "C3 on H100",
       .text = "",
       .shipped = "c3_llama70b_mi300x",
       .sets = {"system=\"h100-sxm-8\""},
       .may_lose = kTakenByOthers},
      pair_job("a product before an all-reduce on B200", "b200-sxm-8",
               "m = 3072, n = 4096, k = 8192, dtype = \"bf16\"", "all_reduce = \"512 MiB\"", both_orders),
      pair_job("a product beside an all-reduce on H200", "h200-sxm-8",
               "m = 11008, n = 5120, k = 16384, dtype = \"bf16\"", "all_reduce = \"1 GiB\"", both_orders,
               kTakenByOthers),
      pair_job("a product beside an all-to-all by engines on H100", "h100-sxm-8",
               "m = 2048, n = 4096, k = 1024, dtype = \"bf16\"", "all_to_all = \"8 MiB\"",
               compute_first + "\ncomm.backend = \"dma\"", kListAnomaly),
      step_job("FSDP on H100", "h100-sxm-8", "llama-3-8b", 2, "torchtitan", "micro_batches = 2"),
      step_job("FSDP on MI300X, two nodes", "mi300x-8", "llama-3-8b", 2, "pytorch-rocm", "micro_batches = 1",
               2),
      step_job("tensor parallelism", "h100-sxm-8", "llama-3-8b", 2, "megatron-core",
               zero1 + "tensor_parallel = 4\nsequence_parallel = true"),
      step_job("a pipeline", "h100-sxm-8", "llama-3-8b", 4, "megatron-core",
               zero1 + "tensor_parallel = 4\nsequence_parallel = true\nmicro_batches = 4\npipeline = 4", 2),
      step_job("experts", "h100-sxm-8", "qwen3-30b-a3b", 2, "nemo", zero1 + "expert_parallel = 8"),
      step_job("offload", "h100-sxm-8", "llama-3-8b", 2, "torchtitan",
               "offload_layers = 2\noffload_optimizer = 0.5"),
      {.name = "images", .text = "", .shipped = "resnet50_mi250x", .sets = {"image_network.use=\"lenet-5\""}},
      {.name = "inference of images",
       .text = "",
       .shipped = "resnet50_mi250x",
       .sets = {"image_network.use=\"vgg-16\"", "image_network.pass=\"inference\""}},
      {.name = "recurrent", .text = "", .shipped = "gnmt_v100", .sets = {"recurrent.sequence=8"}},
      {.name = "recommendation", .text = "", .shipped = "default_8xv100"},
      {.name = "replay",
       .text = "schema = 1\nsystem = \"h100-sxm-4\"\n[trace]\nuse = \"operators.json\"\nreplay = \"modelled\"\n"
               "[strategy.replay]\n[measure]\nseeds = 1\nloss_split = false\n",
       .shipped = ""},
      {.name = "fused", .text = "", .shipped = "fused_vs_dma_llama70b"},
      {.name = "two jobs", .text = "", .shipped = "two_jobs_fat_tree"},
      decoding_job(),
  };
}

/// \p job with \p more overrides.
inline Experiment experiment_of(const Job& job, const std::vector<std::string>& more = {}) {
  std::vector<std::string> sets = job.sets;
  sets.insert(sets.end(), more.begin(), more.end());
  if (job.text.empty()) return ExperimentFile::load(shipped_experiment(job.shipped), sets).make(std::nullopt);
  const TemporaryFolder folder;
  std::ofstream(folder / "operators.json") << operator_list_text(recorded_step());
  std::ofstream(folder / "job.toml") << job.text;
  return ExperimentFile::load(folder / "job.toml", sets).make(std::nullopt);
}

}  // namespace c3::test
