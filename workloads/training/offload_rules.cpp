#include "workloads/training/offload_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "workloads/training/model_blocks.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// Parts of all layers, each once, that keep something for their backward pass.
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

BrokenRules broken_by_activations(const TrainingSetup& setup) {
  BrokenRules broken;
  const OffloadSetup& offload = setup.offload;
  if (offload.layers == 0 && !offload.parts.empty())
    broken.push_back({"offload_parts", "requires offload_layers above 0"});
  if (offload.layers == 0) return broken;
  if (setup.graphs == StepGraphs::layers)
    broken.push_back(
        {"offload_layers", "requires graphs other than \"layers\", whose activations keep their place"});
  if (offload.parts.empty()) return broken;
  const std::vector<std::string> known = parts_that_keep(setup);
  for (const std::string& part : offload.parts) {
    if (std::ranges::find(known, part) == known.end())
      broken.push_back(
          {"offload_parts", fmt::format("'{}' keeps nothing for its backward pass in a layer; allowed "
                                        "are {}",
                                        part, fmt::join(known, ", "))});
  }
  return broken;
}

}  // namespace

BrokenRules broken_offload_rules(const TrainingSetup& setup) {
  BrokenRules broken;
  if (setup.offload.optimizer > 0.0 && setup.optimizer.place == Place::pim)
    broken.push_back(
        {"offload_optimizer", "cannot be combined with optimizer_place = \"pim\": either runs the optimizer"});
  const OptimizerEntry& optimizer = *setup.optimizer.kind.operator->();
  if (setup.offload.optimizer > 0.0 && !optimizer.fused.then.empty())
    broken.push_back(
        {"offload_optimizer", fmt::format("is not supported with optimizer = \"{}\", which needs norms "
                                          "of tensors that are on the GPU in part",
                                          optimizer.name)});
  add(broken, broken_by_activations(setup));
  return broken;
}

}}  // namespace c3::workloads
