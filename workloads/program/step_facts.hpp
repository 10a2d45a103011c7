#pragma once
/// What is known of a training step before it is simulated.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "engine/units.hpp"

namespace c3::inline workloads {

/// What a GPU's memory holds.
enum class MemoryClass : std::uint8_t { weights, gradients, optimizer, activations, communication };
constexpr auto enum_names(MemoryClass) {
  return std::to_array<EnumName<MemoryClass>>({{"weights", MemoryClass::weights},
                                               {"gradients", MemoryClass::gradients},
                                               {"optimizer", MemoryClass::optimizer},
                                               {"activations", MemoryClass::activations},
                                               {"communication", MemoryClass::communication}});
}
inline constexpr auto kMemoryClasses = enum_values<MemoryClass>();

struct MemoryTenant {
  std::string name;  ///< of all tensors alike, e.g. "mlp.gate_up"
  MemoryClass memory_class = MemoryClass::activations;
  Bytes bytes;

  bool operator==(const MemoryTenant&) const = default;
};

/// What one GPU holds at the moment at which it holds most.
struct MemoryPeak {
  Bytes bytes;          ///< of all tensors
  Bytes held = {};      ///< most that the allocator cannot give back: pages on which a tensor is
  Bytes reserved = {};  ///< that it takes for them where there is room, by the end of the step
  std::array<Bytes, kMemoryClasses.size()> by_class = {};
  std::string moment = {};                 ///< e.g. "micro-batch 1, loss backward, loss"
  std::vector<MemoryTenant> tenants = {};  ///< largest first

  Bytes of(MemoryClass memory_class) const { return by_class[static_cast<std::size_t>(memory_class)]; }
  bool operator==(const MemoryPeak&) const = default;
};

/// The pipeline of a step.
struct PipelineFacts {
  int stages = 1;
  std::string schedule;
  /// Share of the step that an average stage waits by the schedule alone: every chunk alike, a backward pass as
  /// long as two forward passes, messages that take no time.
  double bubble_share = 0;

  bool operator==(const PipelineFacts&) const = default;
};

struct StepFacts {
  std::int64_t tokens = 0;           ///< of all ranks
  Flops model_flops;                 ///< of one GPU: three times the forward pass' products and attention
  Flops hardware_flops;              ///< of one GPU: of all products and attention that it computes
  FlopsPerSecond peak;               ///< of one GPU in the type in which layers compute
  MemoryPeak memory;                 ///< of the ranks that need most
  std::vector<Bytes> reserved = {};  ///< by script, where there are several
  std::optional<PipelineFacts> pipeline = std::nullopt;
  Bytes memory_size;  ///< that a framework has of a GPU's

  /// An allocator that has no room gives back what it does not need, and asks again.
  bool fits() const { return memory.held <= memory_size; }
  /// It has to do so on some rank, which makes the GPU wait.
  bool is_tight() const {
    return memory.reserved > memory_size ||
           std::ranges::any_of(reserved, [this](Bytes of_script) { return of_script > memory_size; });
  }
  bool operator==(const StepFacts&) const = default;
};

}  // namespace c3::workloads
