#pragma once
/// \file
/// The arguments of a PyTorch operator as the profiler records them: shapes, types and values.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/traces/trace_event.hpp"

namespace c3 { inline namespace traces {

using Dims = std::vector<std::int64_t>;

/// 1 for no dimensions: a tensor with one number. Counts beyond 2^63 stay there.
std::int64_t elements(const Dims& dims);

/// One argument of an operator.
struct OpArgument {
  std::vector<Dims> tensors;  ///< one shape; several for a list of tensors; none for whatever is no tensor
  std::string type;           ///< "c10::BFloat16", "TensorList", "Scalar"; empty: not recorded
  std::string value;          ///< of a scalar or a list of scalars, as recorded: "0.125", "[1, 2]"

  /// A tensor with at least one dimension: a scalar's shape is recorded as [], like what is absent.
  bool is_tensor() const { return tensors.size() == 1 && !tensors.front().empty(); }
  bool is_list() const { return type == "TensorList" || tensors.size() > 1; }
  std::int64_t elements() const;  ///< of all its tensors; 0 without any
};

/// All arguments, in the order of the operator's schema. Files without "Concrete Inputs" have no values.
class OpArguments {
 public:
  OpArguments() = default;
  /// \param dims, types, concrete JSON arrays as the trace has them. What is no such array counts as absent:
  /// shapes are worth having, but never worth refusing a trace for.
  OpArguments(std::string_view dims, std::string_view types, std::string_view concrete);

  std::size_t size() const { return arguments_.size(); }
  bool has_values() const { return has_values_; }
  /// One without tensors, type and value past the end.
  const OpArgument& operator[](std::size_t index) const;
  auto begin() const { return arguments_.begin(); }
  auto end() const { return arguments_.end(); }

 private:
  std::vector<OpArgument> arguments_;
  bool has_values_ = false;
};

/// Whole numbers in a recorded value: {1, 2} of "[1, 2]". Empty if there is anything else.
std::vector<std::int64_t> whole_numbers(std::string_view value);

/// The arguments of operator \p op of \p trace.
OpArguments arguments_of(const Trace& trace, const TraceEvent& op);

}}  // namespace c3::traces
