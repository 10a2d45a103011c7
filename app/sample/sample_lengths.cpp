#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/notes.hpp"
#include "app/sample/sample_output.hpp"
#include "app/sample/sample_request.hpp"

namespace c3 { inline namespace app {
namespace {

Seconds mean_of(const std::vector<Iteration>& iterations) {
  Seconds sum;
  for (const Iteration& iteration : iterations)
    sum += iteration.time;
  return sum / static_cast<double>(iterations.size());
}

std::vector<Iteration> read_log(const std::string& file, const SampleLengthsRequest& request) {
  IterationTable table = read_iterations(file, request.columns);
  std::vector<std::string> notes;
  if (table.warm_ups > 0)
    notes.push_back(fmt::format("{}: {} rows of iteration 0 are left out as warm-up", file, table.warm_ups));
  if (table.unit_assumed)
    notes.push_back(file + ": the column of times names no unit: microseconds are assumed (--unit)");
  if (!request.quiet) print_notes(notes);
  return std::move(table.iterations);
}

}  // namespace

int sample_lengths(const SampleLengthsRequest& request) {
  const std::vector<Iteration> epoch = read_log(request.file, request);
  SampledLog log{.file = request.file,
                 .bound = request.points.error,
                 .methods = {},
                 .other_file = request.other,
                 .other_mean = {}};
  std::vector<Iteration> other;
  if (!request.other.empty()) {
    other = read_log(request.other, request);
    log.other_mean = mean_of(other);
  }
  for (const LengthMethod& method : length_methods()) {
    SampledEpoch sampled{.method = method.name, .sample = method.choose(epoch, request.points), .other = {}};
    if (!other.empty())
      sampled.other =
          projected(sampled.sample.points, other) / static_cast<double>(sampled.sample.iterations());
    log.methods.push_back(std::move(sampled));
    if (!request.compare) break;
  }
  fmt::print("{}", request.json ? epoch_json(log) : epoch_text(log));
  return kExitOk;
}

}}  // namespace c3::app
