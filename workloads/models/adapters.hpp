#pragma once
/// Fine-tuning by LoRA: a model whose weights are frozen, with adapters beside some projections.

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/models/parts.hpp"

namespace c3 { inline namespace workloads {

/// Low-rank adaptation (arXiv 2106.09685): only adapters are trained, beside these projections of each layer.
struct LoraSetup {
  std::int64_t rank = 0;  ///< of adapters; 0: there are none, and all weights are trained
  bool qkv = true;
  bool out = true;
  bool gate_up = false;
  bool down = false;
  bool dropout = false;  ///< of what adapters multiply
  bool all_to_all =
      false;  ///< with sequence parallelism, where outputs would be gathered (NeMo's a2a_experimental)

  bool operator==(const LoraSetup&) const = default;
};

/// \p parts with frozen weights and an adapter behind each target. What only gradients of frozen weights would
/// need is not kept. Experts' projections have one adapter for all experts of a GPU, beside the product of all
/// their rows (NVIDIA-NeMo/Megatron-Bridge, peft/lora.py: LoRALinear around a grouped linear).
/// \param separate queries, keys, values, gate and up have an adapter each.
std::vector<ModelPart> adapted(std::span<const ModelPart> parts, const LoraSetup& lora, bool separate);

/// The adapters among \p parts, and experts with the adapters among their parts.
std::vector<ModelPart> adapters_of(std::span<const ModelPart> parts);

}}  // namespace c3::workloads
