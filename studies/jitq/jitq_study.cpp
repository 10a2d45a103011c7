#include "studies/study_table.hpp"

#include <string_view>
#include <utility>

#include "gpu/kernels/vector/vector_shape.hpp"
#include "studies/jitq/parts.hpp"
#include "workloads/training/optimizers/optimizer.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kName = "jitq";
constexpr double kBits = 8.0, kPercent = 100.0;

/// Bits of a parameter in the copies that \p op makes of fp32.
double bits_of(VectorOp op) {
  const VectorShape shape{.chain = op, .rows = 1024, .cols = 1024, .dtype = DType::fp32};
  return kBits * element_size(DType::fp32).value * tensors_of(shape).writes;
}

}  // namespace

// A parameter is kept in fp32 with what the optimizer keeps beside it; copies come on top.
StudySection capacity(const PublishedFigures& published) {
  const double kept = kBits * element_size(DType::fp32).value * (1.0 + Optimizer::adam->states);
  const auto saved = [kept](double bits) { return kPercent * bits / (kept + bits); };
  const double mx9 = bits_of(VectorOp::quantize_mx9_both);
  const double both = mx9 + bits_of(VectorOp::quantize_mx6_both);
  StudySection section{
      .heading = "Capacity of which copies would take a share, by count",
      .lines = {},
      .notes = {"Of masters and Adam's two moments in fp32, without gradients and activations."},
      .decimals = 2};
  const auto add = [&](const char* id, std::string label, double value) {
    section.lines.push_back(
        {.figure = {.of = published.find(id), .simulated = value}, .label = std::move(label)});
  };
  add("capacity.bits", "copies of a parameter: MX9 and MX6, both directions [bits]", both);
  add("capacity.saved", "saved without them", saved(both));
  add("capacity.cap", "the same, against the published most", saved(both));
  add("capacity.saved.mx9", "saved without MX9, both directions", saved(mx9));
  add("capacity.saved.fp16", "saved without one copy of 16 bits",
      saved(kBits * element_size(DType::fp16).value));
  return section;
}

StudyOutcome reproduce_jitq(const StudyInput& input, const PublishedFigures& published,
                            const StudyProgress& progress) {
  LossPart losses(study_file(kName, "models.csv"));
  SimulationJobs jobs;
  losses.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  StudyOutcome outcome{.report = losses.sections(published)};
  outcome.report.insert(outcome.report.begin(), capacity(published));
  if (input.wants_rows) outcome.rows_csv = losses.rows_csv();
  return outcome;
}

}}  // namespace c3::studies
