#pragma once
/// How a training step is started for real.

#include <optional>
#include <string>
#include <vector>

#include "collectives/spec.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace workloads {

struct LaunchArguments {
  std::vector<std::string> words;  ///< of a command line: torchrun and its script with their arguments
  std::vector<std::string>
      unsaid;  ///< keys of [training] whose values no argument stands for: "schedule = zb-h1"
};

/// Arguments of Megatron-LM that make the layout of \p setup on \p cluster; sizes of the model, data and
/// learning rate are left to the user. Absent where the framework is not Megatron-Core's own training loop.
/// Source: NVIDIA/Megatron-LM @d98e8a64, megatron/training/arguments.py.
std::optional<LaunchArguments> launch_arguments(const TrainingSetup& setup, const ClusterSpec& cluster);

}}  // namespace c3::workloads
