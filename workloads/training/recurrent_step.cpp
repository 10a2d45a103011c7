#include "workloads/training/recurrent_step.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "workloads/program/program_builder.hpp"
#include "workloads/program/step_writer.hpp"

namespace c3 { inline namespace workloads {

Program recurrent_program(const RecurrentJob& job, int ranks) {
  ProgramBuilder builder;
  const ProgramBuilder::Stream compute = builder.stream("compute");
  const std::optional<OperatorOverheads> never_late;
  StepWriter writer(builder, never_late);
  const auto run = [&](const CountedOperator& kernel) {
    for (std::int64_t i = 0; i < kernel.count; ++i)
      writer.run(compute, {.name = kernel.name, .kernels = {kernel.op}});
  };
  std::vector<CountedOperator> kernels = recurrent_step(job.network, job.batch, job.sequence, job.dtype);
  const CountedOperator optimizer = std::move(kernels.back());
  kernels.pop_back();
  for (const CountedOperator& kernel : kernels)
    run(kernel);
  if (ranks > 1) {
    const ProgramBuilder::Stream gradients = builder.stream("gradients");
    writer.order(compute, gradients, "gradients ready");
    writer.collective(gradients, "gradients",
                      {.kind = CollectiveKind::all_reduce,
                       .bytes = static_cast<double>(job.network.parameters) * element_size(job.dtype),
                       .dtype = job.dtype});
    writer.order(gradients, compute, "gradients summed");
  }
  run(optimizer);
  writer.finish();
  return builder.take();
}

}}  // namespace c3::workloads
