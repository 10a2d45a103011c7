#include "studies/kernels/kernels_study.hpp"

#include <algorithm>
#include <iterator>

#include "studies/kernels/clock_part.hpp"
#include "studies/kernels/mechanisms_part.hpp"
#include "studies/kernels/models_part.hpp"
#include "studies/kernels/newer_part.hpp"
#include "studies/kernels/parts.hpp"
#include "studies/kernels/tuned_part.hpp"

namespace c3 { inline namespace studies {
namespace {

StudyOutcome reproduce_kernels(const StudyInput& input, const PublishedFigures& published,
                               const StudyProgress& progress) {
  const std::filesystem::path kernels = input.data / "kernels";
  ModelsPart models(kernels);
  Fp32Part fp32(kernels);
  MatrixPart matrix(kernels);
  AttentionPart attention(kernels);
  ClockPart clock(kernels);
  NewerPart newer(kernels);
  MechanismsPart mechanisms(kernels);
  TunedPart tuned(kernels);

  Jobs jobs;
  matrix.plan(jobs);
  attention.plan(jobs);
  clock.plan(jobs);
  newer.plan(jobs);
  mechanisms.plan(jobs);
  tuned.plan(jobs);
  fp32.plan(jobs);
  models.plan(jobs);
  run_jobs(jobs, progress);

  StudyReport report = fp32.sections(published);
  for (StudyReport part : {matrix.sections(published), clock.sections(published),
                           mechanisms.sections(published), newer.sections(published), tuned.sections(published),
                           attention.sections(published), models.sections(published)})
    std::ranges::move(part, std::back_inserter(report));
  return {.report = std::move(report), .broken = {}, .rows_csv = {}, .notices = {}};
}

}  // namespace

Study kernels_study() {
  return {.name = "kernels",
          .about = "Times of single kernels and, as their sums, of whole models",
          .files = {{"kernels/neusight_nvidia_bmm.csv", "NeuSight's FP32 batched products on five GPUs"},
                    {"kernels/neusight_nvidia_linear.csv", "its linear layers"},
                    {"kernels/neusight_nvidia_vec.csv", "its vector operators"},
                    {"kernels/neusight_e2e.csv", "its whole models"},
                    {"kernels/gemm_a100_sxm.csv", "aiconfigurator's BF16 products on A100"},
                    {"kernels/gemm_h100_sxm.csv", "the same, and FP8, on H100"},
                    {"kernels/gemm_b200_burst_and_sustained.csv", "the same on B200, burst and sustained"},
                    {"kernels/simumax_b200_gemm.csv", "SimuMax's isolated products of a training run on B200"},
                    {"kernels/neusight_h100_bmm_half.csv", "NeuSight's FP32 batched products on H100"},
                    {"kernels/neusight_mi100_linear.csv", "its linear layers on MI100"},
                    {"kernels/neusight_mi100_bmm.csv", "its batched products on MI100"},
                    {"kernels/aiter_attention_mi300x.csv", "AITER's FlashAttention on MI300X"},
                    {"kernels/aiter_gemm_mi308x_mi300x.csv", "its FP8 products on MI300X and MI308X"},
                    {"kernels/attention_prefill_causal_a100_sxm.csv", "its causal attention on A100"},
                    {"kernels/attention_prefill_causal_h100_sxm.csv", "the same on H100"}},
          .run = reproduce_kernels};
}

}}  // namespace c3::studies
