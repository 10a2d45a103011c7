#pragma once
/// The parts of the study.

#include <filesystem>
#include <memory>
#include <string>

#include "gpu/kernel_time.hpp"
#include "studies/kernels/eager/step_operators.hpp"
#include "studies/kernels/measured_models.hpp"
#include "studies/study_part.hpp"

namespace c3 { inline namespace studies {

/// \param kernels folder of the tables
using MakePart = std::unique_ptr<StudyPart>(const std::filesystem::path& kernels);

/// NeuSight's kernels in fp32 on five GPUs, measured in more than 100 us: rows marked `train` are fitted, rows
/// marked `test` scored.
MakePart fp32_part;

/// Matrix products in bf16 and fp8 on A100 and H100.
MakePart matrix_part;

/// Matrix products as their tables took them: burst and sustained clocks, small kernels, quantisation; of a
/// B200 node the products of one training run.
MakePart clock_part;

/// What each mechanism alone, and all together, make of the error of the given products in BF16.
MakePart mechanisms_part;

/// Kernels of other units and libraries than those that the shipped fits saw: FP32 products of a newer library
/// on H100 and on MI100's matrix units, attention on MI300X.
MakePart newer_part;

/// FP8 products of ROCm/aiter on MI300X and MI308X: of each shape the fastest of its kernels.
MakePart tuned_part;

/// Causal attention, forward, on A100 and H100.
MakePart attention_part;

/// Gated delta rule and causal convolutions, forward, on H100: calls of three libraries.
MakePart scan_part;

/// Whole models as sums of kernels, against the steps that NeuSight measured. No coefficient is fitted to them.
MakePart models_part;

/// Sum of the times of \p list on \p gpu, one kernel after another in a queue that is never empty.
Seconds time_of(const OperatorList& list, const GpuSpec& gpu);

/// How the step of \p row was run. \param attention_kernel whether PyTorch's compiler finds BERT's attention
/// and puts one kernel in its place; it knows no pattern of the other models.
StepSetup setup_of(const MeasuredModel& row, bool attention_kernel);

}}  // namespace c3::studies
