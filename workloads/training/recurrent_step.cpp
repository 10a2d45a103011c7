#include "workloads/training/recurrent_step.hpp"

#include <utility>
#include <vector>

#include "workloads/program/program_builder.hpp"

namespace c3::inline workloads {

Program recurrent_program(const RecurrentJob& job, int ranks) {
  ProgramBuilder builder;
  const ProgramBuilder::Stream compute = builder.stream("compute");
  const auto run = [&](const CountedOperator& kernel) {
    for (std::int64_t i = 0; i < kernel.count; ++i)
      builder.kernel(compute, kernel.name, kernel.op);
  };
  std::vector<CountedOperator> kernels = recurrent_step(job.network, job.batch, job.sequence, job.dtype);
  const CountedOperator optimizer = std::move(kernels.back());
  kernels.pop_back();
  for (const CountedOperator& kernel : kernels)
    run(kernel);
  if (ranks > 1) {
    const ProgramBuilder::Stream gradients = builder.stream("gradients");
    const EventId ready = builder.event("gradients ready"), summed = builder.event("gradients summed");
    builder.record(compute, ready);
    builder.wait(gradients, ready);
    builder.collective(gradients, "gradients",
                       {.kind = CollectiveKind::all_reduce,
                        .bytes = static_cast<double>(job.network.parameters) * element_size(job.dtype),
                        .dtype = job.dtype});
    builder.record(gradients, summed);
    builder.wait(compute, summed);
  }
  run(optimizer);
  return builder.take();
}

}  // namespace c3::workloads
