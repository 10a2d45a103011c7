#pragma once
/// Keys of a host (configs/hosts/*.toml).

#include "configs/fields/field.hpp"
#include "workloads/models/host.hpp"
#include "workloads/program/operator_overheads.hpp"

namespace c3 { inline namespace configs {

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

/// Times of calls. A call without one takes kernel_launch.
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

/// Keys of a host that only steps of recommendation models use.
inline constexpr auto kOverheadFields = std::to_array<Field<OperatorOverheads>>({
    quantity<&OperatorOverheads::between>("operator_between", "between two operators (T1)").optional(),
    quantity<&OperatorOverheads::after>("operator_after", "of an operator after its last launch (T3)")
        .optional(),
    quantity<&OperatorOverheads::launch>("operator_launch", "one launch (T4)").optional(),
    quantity<&OperatorOverheads::between_launches>(
        "operator_between_launches", "between two launches, or all of an operator without any (T5)")
        .optional(),
    quantity<&OperatorOverheads::linear>("operator_linear", "of a linear layer before its first launch (T2)")
        .optional(),
    quantity<&OperatorOverheads::linear_backward>("operator_linear_backward", "of its gradient").optional(),
    quantity<&OperatorOverheads::relu>("operator_relu", "of a ReLU").optional(),
    quantity<&OperatorOverheads::accumulate>("operator_accumulate", "of a gradient's accumulation").optional(),
    quantity<&OperatorOverheads::bmm>("operator_bmm", "of a batched product").optional(),
    quantity<&OperatorOverheads::cat>("operator_cat", "of a concatenation").optional(),
    quantity<&OperatorOverheads::to>("operator_to", "of a copy from the host").optional(),
    quantity<&OperatorOverheads::lookup>("operator_lookup", "of embedding bags").optional(),
    quantity<&OperatorOverheads::lookup_backward>("operator_lookup_backward", "of their update").optional(),
    quantity<&OperatorOverheads::all_to_all>("operator_all_to_all", "of a collective").optional(),
    quantity<&OperatorOverheads::optimizer>("operator_optimizer", "of the optimizer").optional(),
    quantity<&OperatorOverheads::zero_grad>("operator_zero_grad", "of setting gradients to zero").optional(),
    quantity<&OperatorOverheads::other>("operator_other", "of any other operator").optional(),
});
static_assert(member_count<OperatorOverheads>() == kOverheadFields.size());

}}  // namespace c3::configs
