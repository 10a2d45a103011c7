#include "configs/jobs/unused_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>

#include "configs/toml/overrides.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::array<std::string_view, 5> kTables = {"gpu", "node", "library", "fabric", "framework"};

void add_keys(std::vector<std::string>& keys, const std::string& path, const Node& value) {
  if (value.table() == nullptr || is_sourced_value(value)) {
    keys.push_back(path);
    return;
  }
  for (const Member& member : value.table()->members())
    add_keys(keys, fmt::format("{}.{}", path, member.key), member.value);
}

/// What the rules below look at.
struct Run {
  const ClusterSpec& cluster;
  const RunUse& use;
  std::span<const std::string> keys;

  bool overrides(std::string_view key) const { return std::ranges::find(keys, key) != keys.end(); }
  bool has(std::string_view coefficients) const {
    return use.of_gpu.everything || use.of_gpu.coefficients.contains(coefficients);
  }
  bool has_nodes() const { return cluster.nodes > 1; }
  bool moves_data() const { return use.engines || use.fused; }
  /// Payload of channels below the rate of the links, which then are never full.
  bool payload_limits() const {
    const BytesPerSecond link = cluster.node.link.both_ways;
    return use.channels && !moves_data() && !use.rooted && !has_nodes() && !use.in_pairs &&
           cluster.library.link_payload <= link && cluster.library.nvls_payload <= link;
  }
};

/// Keys that begin with `prefix` do not matter to a run for which `holds`.
struct Condition {
  std::string_view prefix;
  bool (*holds)(const Run&);
  std::string_view why;
};

constexpr std::string_view kNoEngines =
    "no strategy moves data with copy engines (backend = \"dma\" or \"fused\")";
constexpr std::string_view kNotFused = "no strategy fuses a collective with its producer (backend = \"fused\")";
constexpr std::string_view kNoKernel = "no kernel runs";
constexpr std::string_view kNoProduct = "no matrix product of 8 or 16 bits runs";
constexpr std::string_view kNoMatrixProduct = "no matrix product runs";
constexpr std::string_view kNoCopy = "nothing is copied to or from the memory of hosts";
constexpr std::string_view kOneNode = "there is one node";
constexpr std::string_view kClosedForm = "a kernel alone is timed by a closed form, without queues";
constexpr std::string_view kNotFullySharded = "training.sharding is not \"fsdp\"";
constexpr std::string_view kFullySharded = "training.sharding is \"fsdp\", which reduces each layer by itself";
constexpr std::string_view kBucketOfRanks =
    "framework.per_rank_bucket times the data-parallel ranks is more; 0 B leaves the size to this key";
constexpr std::string_view kNoExperts = "the model has no experts";
constexpr std::string_view kFromGraph = "collectives are launched from a graph, without the host";

bool lacks_kernels(const Run& run) { return !run.use.kernels; }
bool lacks_engines(const Run& run) { return !run.moves_data(); }
bool is_not_fused(const Run& run) { return !run.use.fused; }
bool is_alone(const Run& run) { return run.use.alone; }
bool has_one_node(const Run& run) { return !run.has_nodes(); }
bool lacks_collectives(const Run& run) { return !run.use.collectives; }
bool lacks_copies(const Run& run) { return !run.use.host_copies; }
bool lacks_experts(const Run& run) { return run.use.step && !run.use.step->has_experts; }
bool is_fully_sharded(const Run& run) { return run.use.step && run.use.step->sharding == Sharding::parameters; }
bool is_not_fully_sharded(const Run& run) {
  return run.use.step && run.use.step->sharding != Sharding::parameters;
}
bool launches_from_graph(const Run& run) { return !run.use.host_calls; }

/// The first that applies is the reason.
const std::vector<Condition>& conditions() {
  static const std::vector<Condition> kConditions = {
      {"gpu.dma_", lacks_engines, kNoEngines},
      {"gpu.tracker_entries", is_not_fused, kNotFused},
      {"gpu.trigger_latency", is_not_fused, kNotFused},
      {"gpu.staging_window", is_not_fused, kNotFused},
      {"gpu.near_memory_update", is_not_fused, kNotFused},
      {"gpu.pim_", [](const Run& run) { return !run.use.in_memory; },
       "nothing runs in memory (place or training.optimizer_place = \"pim\")"},
      {"gpu.launch_latency", lacks_kernels, kNoKernel},
      {"gpu.launch_latency", [](const Run& run) { return run.use.alone && run.use.measured_launch; },
       "a call alone has the launch time that was measured with its class; --launch device uses this one"},
      {"gpu.cohorts_per_placement", is_alone, kClosedForm},
      {"gpu.dispatch_policy", is_alone, kClosedForm},
      {"gpu.dependent_gap", is_alone, kClosedForm},
      {"gpu.hbm_arbitration", is_alone, kClosedForm},
      {"gpu.hbm_service", is_alone, kClosedForm},
      {"gpu.launch_skew", is_alone, kClosedForm},
      {"gpu.host_join", is_alone, kClosedForm},
      {"gpu.overlap_loss", [](const Run& run) { return !run.use.collectives || lacks_kernels(run); },
       "no kernel runs beside a collective"},
      {"gpu.release_rewrites", [](const Run& run) { return !run.use.channels || lacks_kernels(run); },
       "no kernel runs beside channels of a collective"},
      {"gpu.shader_engines", [](const Run& run) { return !run.cluster.gpu.hypotheses.strict_rotation; },
       "strict_rotation is false"},
      {"gpu.strict_rotation", [](const Run& run) { return run.cluster.gpu.dispatch.shader_engines == 1; },
       "a die has one shader engine (gpu.shader_engines)"},
      {"gpu.strict_rotation", is_alone, kClosedForm},
      {"gpu.product_after_others", is_alone, "a kernel alone has no other work beside or before it"},
      {"gpu.product_after_others",
       [](const Run& run) { return !run.has("matrix_gemm") && !run.has("vector_gemm"); }, kNoMatrixProduct},
      {"gpu.work_group_spread", lacks_kernels, kNoKernel},
      {"gpu.cohorts_per_placement", lacks_kernels, kNoKernel},
      {"gpu.host_join", [](const Run& run) { return !run.use.beside; }, "no streams run beside one another"},
      {"gpu.mask_granule", [](const Run& run) { return !run.use.masks; },
       "no strategy gives a stream compute units of its own"},
      {"gpu.launch_skew", [](const Run& run) { return run.cluster.ranks() == 1; }, "there is one GPU"},
      {"gpu.hbm_fair_share",
       [](const Run& run) { return !run.use.arbitrations.contains(HbmArbitration::stream_fair); },
       "hbm_arbitration is not \"stream_fair\""},
      {"gpu.hbm_stream_floor",
       [](const Run& run) { return !run.use.arbitrations.contains(HbmArbitration::compute_first); },
       "hbm_arbitration is not \"compute_first\""},
      {"gpu.streamed_", [](const Run& run) { return !run.use.of_gpu.streamed && !run.use.of_gpu.everything; },
       "no GEMM has traffic = \"streamed\""},
      {"gpu.power_as_traffic", [](const Run& run) { return run.cluster.gpu.hypotheses.power.coupling == 0.0; },
       "power_coupling is 0"},
      {"gpu.llc_bandwidth", [](const Run& run) { return run.cluster.gpu.cache.llc_size.value == 0.0; },
       "llc_size is 0: the GPU has no such cache"},
      {"gpu.kernels.matrix_gemm", [](const Run& run) { return !run.has("matrix_gemm"); }, kNoProduct},
      {"gpu.matrix_tiles", [](const Run& run) { return !run.has("matrix_gemm"); }, kNoProduct},
      {"gpu.gemm_cluster", [](const Run& run) { return !run.has("matrix_gemm"); }, kNoProduct},
      {"gpu.gemm_stages", [](const Run& run) { return !run.has("matrix_gemm"); }, kNoProduct},
      {"gpu.gemm_own_tiles", [](const Run& run) { return !run.has("matrix_gemm"); }, kNoProduct},
      {"gpu.gemm_choice", [](const Run& run) { return !run.has("matrix_gemm") && !run.has("vector_gemm"); },
       kNoMatrixProduct},
      {"gpu.kernels.vector_gemm", [](const Run& run) { return !run.has("vector_gemm"); },
       "no fp32 matrix product runs"},
      {"gpu.kernels.attention", [](const Run& run) { return !run.has("attention"); },
       "no attention kernel runs"},
      {"gpu.kernels.convolution", [](const Run& run) { return !run.has("convolution"); },
       "no convolution runs"},
      {"node.c2c_", lacks_copies, kNoCopy},
      {"node.host_memory",
       [](const Run& run) { return lacks_copies(run) && run.cluster.node.host.sockets.empty(); }, kNoCopy},
      {"node.", [](const Run& run) { return lacks_collectives(run) && lacks_copies(run); },
       "no collective runs"},
      {"library.", lacks_collectives, "no collective runs"},
      {"fabric.", has_one_node, kOneNode},
      {"fabric.", lacks_collectives, "no collective runs"},
      {"node.pcie_", [](const Run& run) { return has_one_node(run) && lacks_copies(run); }, kOneNode},
      {"node.nic_", has_one_node, kOneNode},
      {"node.link_one_way", [](const Run& run) { return run.payload_limits(); },
       "library.link_payload is lower; node.link_scale multiplies both"},
      {"node.link_both_ways", [](const Run& run) { return run.payload_limits(); },
       "library.link_payload is lower; node.link_scale multiplies both"},
      {"library.", [](const Run& run) { return !run.use.channels && !run.use.fused; },
       "no collective runs on compute units (backend = \"cu\")"},
      {"library.nvls_", [](const Run& run) { return !run.cluster.node.switch_reduces; },
       "the node's switch does not reduce"},
      {"library.nvls_tree", has_one_node, kOneNode},
      {"library.network_", has_one_node, kOneNode},
      {"library.ll.network_", has_one_node, kOneNode},
      {"library.ll128.network_", has_one_node, kOneNode},
      {"library.ring_plateau", has_one_node, kOneNode},
      {"library.p2p_", [](const Run& run) { return !run.use.in_pairs; }, "no collective sends in pairs"},
      {"library.pair_cu_rate", [](const Run& run) { return !run.use.in_pairs; },
       "no collective sends in pairs"},
      {"library.pair_buffer", [](const Run& run) { return !run.use.messages; }, "no rank sends messages"},
      {"library.host_launch", launches_from_graph, kFromGraph},
      {"library.eager_gap", launches_from_graph, kFromGraph},
      {"framework.prefetch", is_not_fully_sharded, kNotFullySharded},
      {"framework.one_communicator", is_not_fully_sharded, kNotFullySharded},
      {"framework.flat_parameters", is_not_fully_sharded, kNotFullySharded},
      {"framework.gathers_wait_on_host", is_not_fully_sharded, kNotFullySharded},
      {"framework.bucket", is_fully_sharded, kFullySharded},
      {"framework.first_bucket", is_fully_sharded, kFullySharded},
      {"framework.per_rank_bucket", is_fully_sharded, kFullySharded},
      {"framework.per_rank_bucket",
       [](const Run& run) {
         return run.use.step &&
                run.use.step->bucket_of_ranks <= std::min(run.use.step->bucket, run.use.step->first_bucket);
       },
       "times the data-parallel ranks it is not more than framework.bucket"},
      {"framework.bucket",
       [](const Run& run) { return run.use.step && run.use.step->bucket < run.use.step->bucket_of_ranks; },
       kBucketOfRanks},
      {"framework.first_bucket",
       [](const Run& run) {
         return run.use.step && run.use.step->first_bucket < run.use.step->bucket_of_ranks;
       },
       kBucketOfRanks},
      {"framework.overlaps_gradients", is_fully_sharded, kFullySharded},
      {"framework.in_place_reduction", is_fully_sharded, kFullySharded},
      {"framework.overlaps_tensor",
       [](const Run& run) { return run.use.step && run.use.step->tensor_parallel == 1; },
       "training.tensor_parallel is 1"},
      {"framework.experts_apart", lacks_experts, kNoExperts},
      {"framework.syncs_routing", lacks_experts, kNoExperts},
  };
  return kConditions;
}

/// `bf16_peak`, `bf16_sustained` and `bf16_clock` of a type that is not used, or where one hides another.
std::optional<std::string> reason_of_rate(std::string_view key, const Run& run) {
  for (const MatrixRate& rate : run.cluster.gpu.compute.matrix) {
    const std::string name(name_of(rate.dtype));
    const std::string prefix = fmt::format("gpu.{}_", name);
    if (!key.starts_with(prefix)) continue;
    const GpuUse& used = run.use.of_gpu;
    const bool is_peak_used = key == prefix + "peak" && used.peaks.contains(rate.dtype);
    if (is_peak_used || used.everything || used.sustained.contains(rate.dtype)) return std::nullopt;
    return fmt::format("no {} matrix product runs", name);
  }
  return std::nullopt;
}

std::optional<std::string> reason_of(std::string_view key, const Run& run) {
  for (const Condition& condition : conditions()) {
    if (key.starts_with(condition.prefix) && condition.holds(run)) return std::string(condition.why);
  }
  return reason_of_rate(key, run);
}

}  // namespace

std::vector<std::string> overridden_keys(const Table& document) {
  std::vector<std::string> keys;
  for (const std::string_view name : kTables) {
    const Node* table = document.find(name);
    const bool is_whole =
        table == nullptr || table->table() == nullptr || table->table()->find("name") != nullptr;
    if (!is_whole) add_keys(keys, std::string(name), *table);
  }
  return keys;
}

std::vector<std::string> overridden_keys(std::span<const std::string> sets) {
  Node document{Table{}, {}};
  std::uint32_t number = 0;
  for (const std::string& set : sets)
    apply_override(document, set, ++number);
  return overridden_keys(*document.table());
}

std::vector<std::string> unused_keys(std::span<const std::string> keys, const ClusterSpec& cluster,
                                     const RunUse& use) {
  const Run run{cluster, use, keys};
  std::vector<std::string> notes;
  for (const std::string& key : keys) {
    if (const auto reason = reason_of(key, run))
      notes.push_back(fmt::format("{}: not used here: {}", key, *reason));
  }
  return notes;
}

}}  // namespace c3::configs
