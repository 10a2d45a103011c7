#pragma once
/// Keys of a framework (configs/frameworks/*.toml).

#include "configs/fields/field.hpp"
#include "workloads/models/framework.hpp"

namespace c3 { inline namespace configs {

KernelStyle read_kernel_style(Section& section, std::string_view key);

inline constexpr Limits kHostMultiple = {0, 100};

inline constexpr auto kFrameworkFields = std::to_array<Field<Framework>>({
    read_by<&Framework::kernels, read_kernel_style>("kernels",
                                                    "style of the kernels that a layer's code launches"),
    choice<&Framework::attention>("attention", "what computes attention"),
    flag<&Framework::grouped_heads>("grouped_heads",
                                    "whether attention knows keys and values that heads share"),
    flag<&Framework::sequences_apart>("sequences_apart", "whether attention is launched for each sequence")
        .optional(),
    flag<&Framework::separate_projections>(
        "separate_projections", "whether queries, keys, values, gate and up are products of their own"),
    flag<&Framework::dropout>("dropout", "whether activations are dropped at random"),
    flag<&Framework::fused_optimizer>("fused_optimizer",
                                      "whether one kernel does all that the optimizer does to a unit"),
    flag<&Framework::fused_accumulation>("fused_accumulation",
                                         "whether products add to kept gradients of weights, in their type")
        .optional(),
    flag<&Framework::clips_gradients>("clips_gradients", "whether gradients are clipped by their norm"),
    choice<&Framework::parameter_dtype>("parameter_dtype",
                                        "data type of the parameters that the optimizer updates"),
    flag<&Framework::master_copy>("master_copy",
                                  "whether parameters of the computing type have a copy in parameter_dtype"),
    choice<&Framework::gradient_dtype>("gradient_dtype", "data type of gradients that are kept and reduced"),
    choice<&Framework::loss_dtype>("loss_dtype", "data type of logits in the loss"),
    choice<&Framework::cross_entropy>("cross_entropy",
                                      "kernels of the loss; in_place: the gradient overwrites the logits")
        .optional(),
    number<&Framework::logged_losses>("logged_losses", {0, 64}, "losses computed again in fp32, to be logged")
        .optional(),
    flag<&Framework::overlaps_gradients>("overlaps_gradients",
                                         "whether gradients are reduced while the backward pass goes on")
        .used_if(When::gradients_are_bucketed),
    flag<&Framework::in_place_reduction>("in_place_reduction",
                                         "whether gradients are reduced where they are kept")
        .optional()
        .used_if(When::gradients_are_bucketed),
    flag<&Framework::overlaps_tensor>("overlaps_tensor",
                                      "whether sums over tensor-parallel ranks run beside gradients of weights")
        .used_if(When::tensors_are_split),
    flag<&Framework::one_communicator>("one_communicator",
                                       "whether FSDP's gathers and reductions run in the order of launch")
        .used_if(When::parameters_are_sharded),
    quantity<&Framework::bucket>("bucket", "bytes of gradients that are reduced together")
        .used_if(When::gradients_are_bucketed, When::bucket_is_largest),
    quantity<&Framework::first_bucket>("first_bucket", "bytes of the gradients that are reduced first")
        .used_if(When::gradients_are_bucketed, When::first_bucket_is_largest),
    quantity<&Framework::per_rank_bucket>("per_rank_bucket",
                                          "least size of any bucket for each data- and context-parallel rank")
        .or_none()
        .optional()
        .used_if(When::gradients_are_bucketed, When::ranks_size_buckets),
    number<&Framework::prefetch>("prefetch", {0, 64}, "layers whose parameters are gathered ahead")
        .used_if(When::parameters_are_sharded),
    flag<&Framework::flat_parameters>("flat_parameters",
                                      "FSDP 1: parameters are used where they are gathered, not copied out")
        .optional()
        .used_if(When::parameters_are_sharded),
    flag<&Framework::gathers_wait_on_host>("gathers_wait_on_host",
                                           "FSDP 1: limit_all_gathers, the host waits for room before a gather")
        .used_if(When::parameters_are_sharded),
    number<&Framework::host_forward>("host_forward", kHostMultiple,
                                     "times kernel_launch: kernels forward and of the optimizer"),
    number<&Framework::host_backward>("host_backward", kHostMultiple,
                                      "times kernel_launch: kernels of the backward pass"),
    number<&Framework::host_collective>("host_collective", kHostMultiple, "times collective_launch"),
    number<&Framework::host_event>("host_event", kHostMultiple, "times event"),
    number<&Framework::host_layer_forward>("host_layer_forward", kHostMultiple, "times layer_forward"),
    number<&Framework::host_layer_backward>("host_layer_backward", kHostMultiple, "times layer_backward"),
    number<&Framework::host_optimizer>("host_optimizer", kHostMultiple, "times optimizer").optional(),
    number<&Framework::launch_queue>("launch_queue", {1, 1'048'576},
                                     "launches that wait for the GPU before the host waits"),
    number<&Framework::hardware_queues>("hardware_queues", {1, 1024},
                                        "hardware queues among which streams are distributed"),
    flag<&Framework::syncs>("syncs", "whether the host waits for the gradients' norm before the optimizer"),
    flag<&Framework::syncs_passes>("syncs_passes",
                                   "whether the host also waits after each pass of a micro-batch"),
    flag<&Framework::syncs_attention>("syncs_attention",
                                      "whether the host waits between the parts of attention, forward")
        .optional(),
    flag<&Framework::experts_apart>("experts_apart", "whether a GPU's experts are launched one by one")
        .optional()
        .used_if(When::has_experts),
    flag<&Framework::syncs_routing>("syncs_routing", "whether the host waits for the tokens of each expert")
        .optional()
        .used_if(When::has_experts),
    quantity<&Framework::reserved>("reserved", "GPU memory of the driver's context and of collective libraries")
        .or_none(),
});
static_assert(member_count<Framework>() == kFrameworkFields.size() + 1, "all but name");

}}  // namespace c3::configs
