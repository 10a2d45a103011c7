#pragma once
/// Inputs and outputs of nodes, from JSON.

#include "workloads/traces/execution/execution_trace.hpp"
#include "workloads/traces/execution/node_json.hpp"

namespace c3 { inline namespace traces {

/// Adds tensors to \p trace. Arguments whose lists differ in length are as many as the shortest has.
/// The texts are what Kineto writes ("Input Dims", "Input type", "Concrete Inputs"):
///
/// | in the ET | dims | type | concrete |
/// | --- | --- | --- | --- |
/// | Tensor(c10::Half) | [4, 8] | c10::Half | |
/// | GenericList[Tensor(float), ..] | [[4, 8], ..] | TensorList | |
/// | Int, Double, Bool | [] | Scalar | 1, 0.5, True |
/// | GenericList[Int, ..] | [] | ScalarList | [1, 2] |
/// | String, Device, Tuple[..] | [] | | as it is, where Kineto has nothing |
/// | None, Object | [] | | |
ExecutionArguments read_arguments(const ArgumentsJson& json, ExecutionTrace& trace);

}}  // namespace c3::traces
