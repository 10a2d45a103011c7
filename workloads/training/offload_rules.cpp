#include "workloads/training/offload_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "workloads/training/model_blocks.hpp"

namespace c3::inline workloads {
namespace {

/// Of all layers, each once: parts that keep something for their backward pass.
std::vector<std::string> parts_that_keep(const TrainingSetup& setup) {
  std::vector<std::string> names;
  for (const StepBlock& layer : model_blocks(setup).kinds) {
    for (const PartKernel& kernel : layer.forward) {
      const std::string name = name_of(kernel.part);
      if (kernel.kept.value > 0.0 && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::optional<BrokenRule> broken_by_activations(const TrainingSetup& setup) {
  const OffloadSetup& offload = setup.offload;
  if (offload.layers == 0 && !offload.parts.empty())
    return BrokenRule{"offload_parts", "requires offload_layers above 0"};
  if (offload.layers == 0) return std::nullopt;
  if (setup.graphs == StepGraphs::layers)
    return BrokenRule{"offload_layers",
                      "requires graphs other than \"layers\", whose activations keep their place"};
  if (offload.parts.empty()) return std::nullopt;
  const std::vector<std::string> known = parts_that_keep(setup);
  for (const std::string& part : offload.parts) {
    if (std::ranges::find(known, part) == known.end())
      return BrokenRule{"offload_parts",
                        fmt::format("'{}' keeps nothing for its backward pass in a layer; allowed "
                                    "are {}",
                                    part, fmt::join(known, ", "))};
  }
  return std::nullopt;
}

}  // namespace

std::optional<BrokenRule> broken_offload_rule(const TrainingSetup& setup) {
  if (setup.offload.optimizer > 0.0 && setup.optimizer.place == Place::pim)
    return BrokenRule{"offload_optimizer", "cannot be combined with optimizer_place = \"pim\": either runs the optimizer"};
  const OptimizerEntry& optimizer = *setup.optimizer.kind.operator->();
  if (setup.offload.optimizer > 0.0 && !optimizer.fused.then.empty())
    return BrokenRule{"offload_optimizer",
                      fmt::format("is not supported with optimizer = \"{}\", which needs norms "
                                  "of tensors that are on the GPU in part",
                                  optimizer.name)};
  return broken_by_activations(setup);
}

}  // namespace c3::workloads
