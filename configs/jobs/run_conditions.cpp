#include "configs/jobs/run_conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace c3 { inline namespace configs {
namespace {

bool has(const Question& question, std::string_view coefficients) {
  return question.use.of_gpu.everything || question.use.of_gpu.coefficients.contains(coefficients);
}

bool moves_data(const Question& question) { return question.use.engines || question.use.fused; }

bool takes_rate(const Question& question) {
  const GpuUse& used = question.use.of_gpu;
  const std::optional<DType> dtype = value_named<DType>(question.data_type());
  const bool is_peak = question.key == fmt::format("{}_peak", question.data_type());
  return !dtype || used.everything || used.sustained.contains(*dtype) ||
         (is_peak && used.peaks.contains(*dtype));
}

/// The payload of channels below the rate of the links keeps them from being full.
bool links_fill(const Question& question) {
  const BytesPerSecond link = question.cluster.node.link.both_ways;
  const CollectiveLibrarySpec& library = question.cluster.library;
  const bool only_channels = question.use.channels && !moves_data(question);
  return !only_channels || question.use.rooted || question.use.in_pairs || question.cluster.nodes > 1 ||
         library.link_payload > link || library.nvls_payload > link;
}

template <bool RunUse::*Flag>
bool uses(const Question& question) {
  return question.use.*Flag;
}

template <HbmArbitration Arbitration>
bool arbitrates(const Question& question) {
  return question.use.arbitrations.contains(Arbitration);
}

/// Holds, too, for runs without a training step: they say nothing of frameworks.
template <auto Holds>
bool step(const Question& question) {
  return !question.use.step || Holds(*question.use.step);
}

struct Condition {
  When name;
  bool (*holds)(const Question&);
  std::string_view otherwise;  ///< why not; {} stands for the data type of a matrix rate
};

constexpr std::string_view kNoCollective = "no collective runs";
constexpr std::string_view kNoCopy = "nothing is copied to or from the memory of hosts";
constexpr std::string_view kOneNode = "there is one node";
constexpr std::string_view kBucketOfRanks =
    "framework.per_rank_bucket times the data-parallel ranks is more; 0 B leaves the size to this key";

constexpr auto kConditions = std::to_array<Condition>({
    {When::always, [](const Question&) { return true; }, ""},
    {When::kernels_run, uses<&RunUse::kernels>, "no kernel runs"},
    {When::queues_are_simulated, [](const Question& question) { return !question.use.alone; },
     "a kernel alone is timed by a closed form, without queues"},
    {When::device_launches,
     [](const Question& question) { return !question.use.alone || !question.use.measured_launch; },
     "a call alone has the launch time that was measured with its class; --launch device uses this one"},
    {When::work_runs_beside, [](const Question& question) { return !question.use.alone; },
     "a kernel alone has no other work beside or before it"},
    {When::rate_is_taken, takes_rate, "no {} matrix product runs"},
    {When::products_run,
     [](const Question& question) { return has(question, "matrix_gemm") || has(question, "vector_gemm"); },
     "no matrix product runs"},
    {When::small_products_run, [](const Question& question) { return has(question, "matrix_gemm"); },
     "no matrix product of 8 or 16 bits runs"},
    {When::vector_products_run, [](const Question& question) { return has(question, "vector_gemm"); },
     "no fp32 matrix product runs"},
    {When::attention_runs, [](const Question& question) { return has(question, "attention"); },
     "no attention kernel runs"},
    {When::convolutions_run, [](const Question& question) { return has(question, "convolution"); },
     "no convolution runs"},
    {When::scans_run, [](const Question& question) { return has(question, "scan"); },
     "no recurrence and no causal convolution runs"},
    {When::gemms_are_streamed,
     [](const Question& question) { return question.use.of_gpu.streamed || question.use.of_gpu.everything; },
     "no GEMM has traffic = \"streamed\""},
    {When::memory_computes, uses<&RunUse::in_memory>,
     "nothing runs in memory (place or training.optimizer_place = \"pim\")"},
    {When::several_gpus, [](const Question& question) { return question.cluster.ranks() != 1; },
     "there is one GPU"},
    {When::streams_run_beside, uses<&RunUse::beside>, "no streams run beside one another"},
    {When::streams_have_own_cus, uses<&RunUse::masks>, "no strategy gives a stream compute units of its own"},
    {When::kernels_run_beside_collectives,
     [](const Question& question) { return question.use.collectives && question.use.kernels; },
     "no kernel runs beside a collective"},
    {When::kernels_run_beside_channels,
     [](const Question& question) { return question.use.channels && question.use.kernels; },
     "no kernel runs beside channels of a collective"},
    {When::stream_fair, arbitrates<HbmArbitration::stream_fair>, "hbm_arbitration is not \"stream_fair\""},
    {When::compute_first, arbitrates<HbmArbitration::compute_first>,
     "hbm_arbitration is not \"compute_first\""},
    {When::rotation_is_strict,
     [](const Question& question) { return question.cluster.gpu.hypotheses.strict_rotation; },
     "strict_rotation is false"},
    {When::several_shader_engines,
     [](const Question& question) { return question.cluster.gpu.dispatch.shader_engines != 1; },
     "a die has one shader engine (gpu.shader_engines)"},
    {When::power_couples,
     [](const Question& question) { return question.cluster.gpu.hypotheses.power.coupling != 0.0; },
     "power_coupling is 0"},
    {When::has_last_level_cache,
     [](const Question& question) { return question.cluster.gpu.cache.llc_size.value != 0.0; },
     "llc_size is 0: the GPU has no such cache"},
    {When::collectives_run, uses<&RunUse::collectives>, kNoCollective},
    {When::channels_run, [](const Question& question) { return question.use.channels || question.use.fused; },
     "no collective runs on compute units (backend = \"cu\")"},
    {When::engines_move_data, moves_data,
     "no strategy moves data with copy engines (backend = \"dma\" or \"fused\")"},
    {When::collectives_are_fused, uses<&RunUse::fused>,
     "no strategy fuses a collective with its producer (backend = \"fused\")"},
    {When::hosts_copy, uses<&RunUse::host_copies>, kNoCopy},
    {When::node_moves_data,
     [](const Question& question) { return question.use.collectives || question.use.host_copies; },
     kNoCollective},
    {When::memory_of_hosts_moves_data,
     [](const Question& question) {
       return question.use.host_copies || !question.cluster.node.host.sockets.empty();
     },
     kNoCopy},
    {When::several_nodes, [](const Question& question) { return question.cluster.nodes > 1; }, kOneNode},
    {When::several_nodes_or_copies,
     [](const Question& question) { return question.cluster.nodes > 1 || question.use.host_copies; }, kOneNode},
    {When::links_fill, links_fill, "library.link_payload is lower; node.link_scale multiplies both"},
    {When::switch_reduces, [](const Question& question) { return question.cluster.node.switch_reduces; },
     "the node's switch does not reduce"},
    {When::ranks_send_in_pairs, uses<&RunUse::in_pairs>, "no collective sends in pairs"},
    {When::ranks_send_messages, uses<&RunUse::messages>, "no rank sends messages"},
    {When::hosts_launch_collectives, uses<&RunUse::host_calls>,
     "collectives are launched from a graph, without the host"},
    {When::parameters_are_sharded,
     step<[](const StepUse& step_use) { return step_use.sharding == Sharding::parameters; }>,
     "training.sharding is not \"fsdp\""},
    {When::gradients_are_bucketed,
     step<[](const StepUse& step_use) { return step_use.sharding != Sharding::parameters; }>,
     "training.sharding is \"fsdp\", which reduces each layer by itself"},
    {When::ranks_size_buckets, step<[](const StepUse& step_use) {
       return std::min(step_use.bucket, step_use.first_bucket) < step_use.bucket_of_ranks;
     }>,
     "times the data-parallel ranks it is not more than framework.bucket"},
    {When::bucket_is_largest,
     step<[](const StepUse& step_use) { return step_use.bucket >= step_use.bucket_of_ranks; }>, kBucketOfRanks},
    {When::first_bucket_is_largest,
     step<[](const StepUse& step_use) { return step_use.first_bucket >= step_use.bucket_of_ranks; }>,
     kBucketOfRanks},
    {When::tensors_are_split, step<[](const StepUse& step_use) { return step_use.tensor_parallel != 1; }>,
     "training.tensor_parallel is 1"},
    {When::has_experts, step<[](const StepUse& step_use) { return step_use.has_experts; }>,
     "the model has no experts"},
});

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kConditions.size(); ++i)
    if (kConditions[i].name != static_cast<When>(i)) return false;
  return kConditions.back().name == When::has_experts;
}
static_assert(is_in_order(), "each condition has its row, in the order of the enumeration");

}  // namespace

std::optional<std::string> why_not(When condition, const Question& question) {
  const Condition& asked = kConditions.at(static_cast<std::size_t>(condition));
  if (asked.holds(question)) return std::nullopt;
  return fmt::format(fmt::runtime(asked.otherwise), question.data_type());
}

}}  // namespace c3::configs
