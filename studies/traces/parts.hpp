#pragma once
/// The parts of the study. A part whose traces are not there has no section, or fewer lines.

#include <array>
#include <string_view>

#include "studies/study.hpp"
#include "studies/traces/trace_runs.hpp"

namespace c3 { inline namespace studies {

// Names of the traces that figures are about.
inline constexpr std::string_view kMegatronRun = "megatron_tp8_a100";
inline constexpr std::string_view kDlrmRun = "a100_dlrm_rank3of8";
inline constexpr std::string_view kDdpRun = "a100_ddp_rank0of2_nccl_metadata";
inline constexpr std::string_view kMi300xDdpRun = "mi300x_ddp_rank0of8_resnet_act_checkpoint";
inline constexpr std::string_view kEventSyncRun = "a100_cuda_event_sync_multi_stream";
inline constexpr std::string_view kAlexnetRun = "a100_alexnet_cuda_sync";

/// The same model recorded on two GPUs.
struct TracePair {
  std::string_view id;
  std::string_view label;
  std::string_view h100;
  std::string_view mi300x;
};
inline constexpr std::array kTracePairs{
    TracePair{"vit", "ViT image detection", "h100_Falconsai_nsfw_image_detection__1016002",
              "mi300_Falconsai_nsfw_image_detection__1016002"},
    TracePair{"bert", "BERT small", "h100_gaunernst_bert-small-uncased__1016001",
              "mi300_gaunernst_bert-small-uncased__1016001"}};

/// How far a replay of the recorded durations is from the recording.
StudyReport replay_sections(const TraceRuns& runs, const PublishedFigures& published);

/// What must be found in the traces: edges, collectives, stragglers, bounds, shapes.
StudyReport import_sections(const TraceRuns& runs, const PublishedFigures& published);

/// Kernels by the model: on the GPU of the recording, and on another one that has a recording of its own.
StudyReport retiming_sections(const TraceRuns& runs, const PublishedFigures& published);

/// Changes to steps of ours and to their traces, imported.
StudyReport round_trip_sections(const PublishedFigures& published);

/// The all-reduce of Megatron's trace beside ours.
StudyReport all_reduce_sections(const TraceRuns& runs, const PublishedFigures& published);

/// A benchmark from Megatron's execution traces: coverage, its simulation beside the trace, obfuscated and
/// plain.
StudyReport benchmark_sections(const TraceRuns& runs, const PublishedFigures& published);

}}  // namespace c3::studies
