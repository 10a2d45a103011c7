#pragma once
/// What is known of a training step before it is simulated.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "engine/units.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace workloads {

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

/// What one GPU computes in matrix products and attention whose operands have one data type.
struct TypedFlops {
  std::optional<DType> dtype =
      std::nullopt;          ///< absent: all types together, in files that did not tell them apart
  FlopsPerSecond peak = {};  ///< of one GPU for such products
  /// Three times those of the forward pass, twice where the weights are frozen, whose gradients nobody makes.
  Flops model = {};
  Flops hardware = {};  ///< of all that run

  bool operator==(const TypedFlops&) const = default;
};

struct StepFacts {
  std::int64_t tokens = 0;             ///< of all ranks
  std::vector<TypedFlops> flops = {};  ///< of an average GPU, by type
  FlopsPerSecond peak;                 ///< of one GPU in the type in which layers compute
  MemoryPeak memory;                   ///< of the ranks that need most
  std::vector<Bytes> reserved = {};    ///< by script, where there are several
  std::optional<PipelineFacts> pipeline = std::nullopt;
  Bytes memory_size;  ///< that a framework has of a GPU's

  Flops model_flops() const { return sum(&TypedFlops::model); }
  Flops hardware_flops() const { return sum(&TypedFlops::hardware); }
  /// How long they would take with every product at the peak of its own type. Over the time of a step they are
  /// MFU and HFU.
  Seconds model_at_peak() const { return at_peak(&TypedFlops::model); }
  Seconds hardware_at_peak() const { return at_peak(&TypedFlops::hardware); }

  /// An allocator that has no room gives back what it does not need, and asks again.
  bool fits() const { return memory.held <= memory_size; }
  /// It has to do so on some rank, which makes the GPU wait.
  bool is_tight() const {
    return memory.reserved > memory_size ||
           std::ranges::any_of(reserved, [this](Bytes of_script) { return of_script > memory_size; });
  }
  bool operator==(const StepFacts&) const = default;

 private:
  Flops sum(Flops TypedFlops::*of) const {
    Flops all;
    for (const TypedFlops& typed : flops)
      all += typed.*of;
    return all;
  }
  Seconds at_peak(Flops TypedFlops::*of) const {
    Seconds all;
    for (const TypedFlops& typed : flops)
      all += typed.*of / typed.peak;
    return all;
  }
};

}}  // namespace c3::workloads
