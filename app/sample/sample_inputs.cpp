#include "app/sample/sample_inputs.hpp"

#include <utility>

#include <fmt/format.h>

#include "app/import/trace_files.hpp"
#include "base/nearest_name.hpp"
#include "base/usage_error.hpp"
#include "results/program_file.hpp"
#include "results/report/timeline.hpp"
#include "results/result_reader.hpp"
#include "workloads/sampling/recorded/recorded_kernels.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr double kPicosecondInSeconds = 1e-12;

bool is_table(const std::string& file) { return file.ends_with(".csv") || file.ends_with(".csv.gz"); }

SampleInput input_of(RecordedKernels kernels, std::vector<std::string> notes) {
  SampleInput input{.invocations = std::move(kernels.invocations), .notes = std::move(notes)};
  if (kernels.collectives > 0)
    input.notes.push_back(fmt::format("{} kernels of collectives ({:.3f} ms) are left out", kernels.collectives,
                                      kernels.collective_time.value * 1e3));
  return input;
}

SampleInput read_traces_of(const SampleKernelsRequest& request) {
  const TraceFiles files = read_traces(request.files, /*allow_missing=*/true);
  if (files.ranks.empty()) throw UsageError("FILE: only CSV files and Kineto traces have durations of kernels");
  return input_of(recorded_kernels(files.ranks), files.notes);
}

SampleInput read_table(const SampleKernelsRequest& request) {
  InvocationTable table = read_invocations(request.files.front(), request.columns);
  SampleInput input{.invocations = std::move(table.invocations), .notes = {}};
  if (table.unit_assumed)
    input.notes.emplace_back("the column of times names no unit: microseconds are assumed (--unit)");
  return input;
}

std::string chosen_strategy(const ResultReader& file, const std::string& asked) {
  const std::vector<std::string> known = file.strategies();
  if (asked.empty() && !known.empty()) return known.front();
  for (const std::string& name : known)
    if (name == asked) return name;
  throw UsageError(unknown_name("strategy", asked, known));
}

/// Kernels of all ranks that were simulated, from their first work group to their end.
SampleInput read_result(const SampleKernelsRequest& request) {
  const ResultReader file(request.files.front());
  const std::string strategy = chosen_strategy(file, request.strategy);
  SampleInput input;
  for (const GpuTimeline& gpu : read_timeline(file, strategy).gpus)
    for (const Lane& stream : gpu.streams)
      for (const Slice& slice : stream.slices)
        if (slice.kind == "kernel")
          input.invocations.add(slice.name,
                                Seconds{static_cast<double>(slice.end - slice.running) * kPicosecondInSeconds});
  input.notes.push_back(fmt::format(
      "simulated kernels of strategy '{}': they spread less than recorded ones, and the bound is that of the "
      "simulation",
      strategy));
  return input;
}

SampleInput read_hdf5(const SampleKernelsRequest& request) {
  const std::string& file = request.files.front();
  if (!is_program_file(file)) return read_result(request);
  return input_of(recorded_kernels(read_program_file(file)), {});
}

}  // namespace

SampleInput read_sample_input(const SampleKernelsRequest& request) {
  const std::string& first = request.files.front();
  const bool is_hdf5 = first.ends_with(".h5");
  if (!request.strategy.empty() && !is_hdf5)
    throw UsageError("--strategy: only results of c3sim run have strategies");
  if (!is_table(first) && !is_hdf5) return read_traces_of(request);
  if (request.files.size() > 1)
    throw UsageError("FILE: one table or HDF5 file at a time; traces may be several");
  return is_hdf5 ? read_hdf5(request) : read_table(request);
}

}}  // namespace c3::app
