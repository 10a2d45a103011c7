#include "workloads/experiment.hpp"

namespace c3 {

std::optional<Operator> kernel_of(const Operation& operation) {
  return std::visit(
      [](const auto& work) -> std::optional<Operator> {
        if constexpr (std::is_constructible_v<Operator, decltype(work)>) return Operator(work);
        return std::nullopt;
      },
      operation.work);
}

}  // namespace c3
