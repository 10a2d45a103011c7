#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/notes.hpp"
#include "app/sample/sample_inputs.hpp"
#include "app/sample/sample_output.hpp"
#include "app/sample/sample_request.hpp"
#include "base/csv_line.hpp"
#include "base/json.hpp"
#include "base/usage_error.hpp"
#include "files/temporary_file.hpp"
#include "workloads/sampling/trials.hpp"

namespace c3 { inline namespace app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSampleColumns = "invocation,weight,duration_us,cluster,name";

std::string samples_csv(const Invocations& invocations, const DrawnSample& sample) {
  std::string text = fmt::format("{}\n", kSampleColumns);
  for (const ChosenInvocation& one : sample.chosen)
    text +=
        fmt::format("{},{:.9g},{:.9g},{},", one.invocation, one.weight, one.duration.value * 1e6, one.cluster) +
        csv_line({invocations.name(one.invocation)});
  return text;
}

/// An experiment of the chosen kernels, one after another, each once.
std::string reduced_toml(const SampleKernelsRequest& request, const SampledKernels& sampled) {
  std::string text = fmt::format(
      "# {} of {} kernels of {}, chosen by {}. samples.csv says how many each stands for.\n"
      "schema = 1\nsystem = {}\n\n[[stream]]\nname = \"kernels\"\nrun = [\n",
      sampled.sample.chosen.size(), sampled.invocations.size(), request.files.front(), sampled.plan.method,
      json_quoted(request.system));
  for (const ChosenInvocation& one : sampled.sample.chosen) {
    if (one.duration.value <= 0.0) continue;  // no time to simulate
    text += fmt::format("  {{ timed = {{ time = \"{:.9g} us\", name = {} }} }},\n", one.duration.value * 1e6,
                        json_quoted(sampled.invocations.name(one.invocation)));
  }
  return text + "]\n\n[strategy.reduced]\nserial = true\n";
}

void write_file(const fs::path& path, const std::string& text, TableHeader table = {}) {
  TemporaryFile file(path, table);
  file.append(text);
  file.rename_to_target();
}

void write_sample(const SampleKernelsRequest& request, const SampledKernels& sampled) {
  const fs::path folder = request.folder;
  fs::create_directories(folder);
  write_file(folder / "samples.csv", samples_csv(sampled.invocations, sampled.sample),
             {.begins = kSampleColumns, .ends = {}});
  write_file(folder / "reduced.toml", marked_text(reduced_toml(request, sampled)));
  if (!request.quiet)
    fmt::print(stderr, "wrote {} and {}; simulate it with: c3sim run {}\n", (folder / "samples.csv").string(),
               (folder / "reduced.toml").string(), (folder / "reduced.toml").string());
}

int compare_methods(const SampleKernelsRequest& request, const Invocations& invocations) {
  std::vector<ComparedMethod> rows;
  for (const SamplingMethod& method : sampling_methods()) {
    const SamplePlan plan = method.plan(invocations, request.sample);
    // Methods that always choose the same kernels need one trial.
    const TrialErrors errors = try_seeds(plan, plan.draws == DrawRule::first ? 1 : request.seeds);
    rows.push_back({.method = method.name,
                    .clusters = plan.clusters.size(),
                    .samples = plan.samples(),
                    .bound = plan.bound,
                    .errors = errors});
  }
  const SampledInput input{request.files.front(), invocations.size(), invocations.names().size(),
                           invocations.total()};
  fmt::print("{}", request.json ? comparison_json(input, rows) : comparison_text(input, rows));
  return kExitOk;
}

}  // namespace

int sample_kernels(const SampleKernelsRequest& request) {
  if (request.compare && !request.folder.empty())
    throw UsageError("-o: --compare chooses no kernels; it cannot be combined with -o");
  SampleInput input = read_sample_input(request);
  if (!request.quiet) print_notes(input.notes);
  if (input.invocations.total().value <= 0.0)
    throw UsageError(request.files.front() + ": has no kernel that takes time");
  if (request.compare) return compare_methods(request, input.invocations);
  SamplePlan plan = sampling_method(request.method).plan(input.invocations, request.sample);
  DrawnSample sample = draw(plan, request.seed);
  const SampledKernels sampled{request.files.front(), std::move(input.invocations), std::move(plan),
                               std::move(sample), request.seed};
  if (!request.folder.empty()) write_sample(request, sampled);
  fmt::print("{}", request.json ? sampled_json(sampled) : sampled_text(sampled));
  return kExitOk;
}

}}  // namespace c3::app
