#include "app/select/file_selections.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "configs/jobs/experiment_reader.hpp"
#include "engine/errors.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"

namespace c3 { inline namespace app {
namespace {

struct OperatorUse {
  Operator op;
  UsedShape use;
};

bool is_selected(const Operator& op) {
  return op.as<ConvolutionShape>() != nullptr || op.as<GemmShape>() != nullptr;
}

std::vector<OperatorUse> uses_in(const Program& program) {
  std::vector<OperatorUse> uses;
  for_each_operation(program, [&](const Operation& operation) {
    const Operator* const op = kernel_of(operation);
    if (op == nullptr || !is_selected(*op)) return;
    const auto known = std::ranges::find(uses, *op, &OperatorUse::op);
    if (known == uses.end())
      uses.push_back({*op, {program.name_of(operation), 1}});
    else
      ++known->use.calls;
  });
  return uses;
}

/// \p gpu in the state in which gpu_of() has those of single calls.
std::shared_ptr<const GpuSpec> as_of_single_calls(GpuSpec gpu) {
  gpu.governor.state = ClockState::burst;
  return std::make_shared<const GpuSpec>(std::move(gpu));
}

}  // namespace

FileSelections selections_in(const std::string& file, const KernelOptions& options, std::size_t top) {
  const Experiment experiment = ExperimentFile::load(file, options.sets).make(std::nullopt);
  std::vector<std::shared_ptr<const GpuSpec>> gpus;
  for (const std::string& name : options.gpus)
    gpus.push_back(gpu_of(name, {}));
  if (gpus.empty()) gpus.push_back(as_of_single_calls(experiment.cluster.gpu));
  FileSelections selections{.experiment = experiment.name, .found = {}, .unknown = {}};
  const std::vector<OperatorUse> uses = uses_in(experiment.program);
  for (const std::shared_ptr<const GpuSpec>& gpu : gpus) {
    for (const OperatorUse& operator_use : uses) {
      try {
        selections.found.push_back({operator_use.use, selection_of({gpu, operator_use.op, {}}, top)});
      } catch (const InfeasibleError& error) {
        selections.unknown.push_back({operator_use.use, operator_use.op, gpu->name, error.what()});
      }
    }
  }
  return selections;
}

}}  // namespace c3::app
