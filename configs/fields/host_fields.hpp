#pragma once
/// Keys of a host (configs/hosts/*.toml).

#include "configs/fields/field.hpp"
#include "workloads/models/host.hpp"

namespace c3::inline configs {

inline constexpr auto kHostPresetFields = std::to_array<Field<Host>>({
    quantity<&Host::kernel_launch>("kernel_launch", "time for one kernel of an eager forward pass"),
    quantity<&Host::collective_launch>("collective_launch",
                                       "time for one collective on the stream that calls it"),
    quantity<&Host::event>("event", "time to record an event or to wait for one on a stream"),
    quantity<&Host::layer_forward>("layer_forward", "time of an eager layer forward beyond its launches"),
    quantity<&Host::layer_backward>("layer_backward",
                                    "time of an eager layer's backward pass beyond its launches"),
    quantity<&Host::optimizer>("optimizer", "time for each tensor that the optimizer goes through, once a step")
        .optional(),
    quantity<&Host::stall_interval>("stall_interval",
                                    "mean time between two stalls of a thread; without it there are none")
        .optional(),
    quantity<&Host::stall>("stall", "duration of a stall, on average").optional(),
});
static_assert(member_count<Host>() == kHostPresetFields.size() + 2, "all but name and calls");

/// Those that are not given are kernel_launch.
inline constexpr auto kCallFields = std::to_array<Field<CallCosts>>({
    quantity<&CallCosts::product>("product_call", "one matrix product called alone; default: kernel_launch")
        .optional(),
    quantity<&CallCosts::batched_product>("batched_product_call", "one batched product called alone")
        .optional(),
    quantity<&CallCosts::elementwise>("elementwise_call", "one elementwise operator called alone").optional(),
    quantity<&CallCosts::softmax>("softmax_call", "one softmax called alone").optional(),
    quantity<&CallCosts::norm>("norm_call", "one layer or RMS norm called alone").optional(),
    quantity<&CallCosts::attention>("attention_call", "one attention kernel called alone").optional(),
});
static_assert(member_count<CallCosts>() == kCallFields.size());

}  // namespace c3::configs
