#pragma once
/// The numbers of the kernel models that no data sheet has: one set for each class of operators, shared by all
/// GPUs; only shares of a peak belong to an architecture family, and `memory_share` to a memory technology.
/// configs/kernels/*.toml holds them, `c3sim calibrate` makes them, gpu/kernels/README.md has the
/// equations.

#include <array>
#include <limits>
#include <string_view>

namespace c3 { inline namespace gpu {

/// One coefficient of a set: its key in files, where it is kept, and the range in which it means something.
template <class Set>
struct CoefficientField {
  std::string_view key;
  double Set::*member;
  double low;
  double high;
  std::string_view meaning;  ///< with its unit
};

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// Matrix products, on vector units (fp32) or on matrix units (16 bits and fewer). Untouched, nothing is lost.
struct GemmCoefficients {
  double share = 1.0;
  double fp8_share = 1.0;
  double fp4_share = 1.0;
  double operand = 0.0;
  double prologue_k = 0.0;
  double saturating_waves = 0.0;
  double step_cycles = 0.0;
  double l2_bytes_per_clock = kUnlimited;
  double hbm_share = 1.0;
  double split_us = 0.0;
  double split_cycles = 0.0;
  double choice_loss = 1.0;
  double nt_loss = 1.0;
  double scale_ops = 0.0;
  double mx_ops = 0.0;
  double launch_cycles = 0.0;
  double scale = 1.0;

  bool operator==(const GemmCoefficients&) const = default;
};

using GemmField = CoefficientField<GemmCoefficients>;
inline constexpr std::array kGemmFields = {
    GemmField{"share", &GemmCoefficients::share, 0.1, 1.3, "of the peak, for tiles without end; by family"},
    GemmField{"fp8_share", &GemmCoefficients::fp8_share, 0.1, 1.3, "of fp8's peak, over `share`"},
    GemmField{"fp4_share", &GemmCoefficients::fp4_share, 0.1, 1.3, "of fp4's peak, over `share`"},
    GemmField{"operand", &GemmCoefficients::operand, 0.5, 300,
              "tile side whose operands take as long as its products"},
    GemmField{"prologue_k", &GemmCoefficients::prologue_k, 0.5, 1024,
              "steps of K that filling and draining cost"},
    GemmField{"saturating_waves", &GemmCoefficients::saturating_waves, 0, 32,
              "wavefronts for a CU's full rate"},
    GemmField{"step_cycles", &GemmCoefficients::step_cycles, 0, 2000, "least cycles of 64 steps of K"},
    GemmField{"l2_bytes_per_clock", &GemmCoefficients::l2_bytes_per_clock, 8, 512, "that a CU loads from L2"},
    GemmField{"hbm_share", &GemmCoefficients::hbm_share, 0.2, 1.2, "of HBM's achieved rate"},
    GemmField{"split_us", &GemmCoefficients::split_us, 0, 100, "us, of starting to add a split K's parts"},
    GemmField{"split_cycles", &GemmCoefficients::split_cycles, 0, 50000, "the same, core cycles"},
    GemmField{"choice_loss", &GemmCoefficients::choice_loss, 1, 1.5,
              "time over the best tile's; not of batched products"},
    GemmField{"nt_loss", &GemmCoefficients::nt_loss, 1, 1.5,
              "time of a weight gradient's layout (nt) over forward's (tn)"},
    GemmField{"scale_ops", &GemmCoefficients::scale_ops, 0, 8,
              "vector multiply-adds of a result and an fp32 block scale; by family"},
    GemmField{"mx_ops", &GemmCoefficients::mx_ops, 0, 8, "the same of an mx scale; by family"},
    GemmField{"launch_cycles", &GemmCoefficients::launch_cycles, 0, 50000,
              "core cycles of one call alone, on the device"},
    GemmField{"scale", &GemmCoefficients::scale, 0.2, 5,
              "of all times but launches; 1 but for a GPU calibrated alone"},
};

/// Operators without a matrix product.
struct VectorCoefficients {
  double memory_share = 0.9;
  double issue_share = 0.9;
  double access_ops = 1.1;
  double convert_ops = 1.0;
  double cast_ops = 7.2;
  double power_ops = 52.0;
  double lookup_ops = 214.0;
  double row_ops = 22.5;
  double iteration_us = 0.35;
  double block_us = 3.9;
  double row_cycles = 735.0;
  double l1_kept = 0.35;
  double l2_kept = 0.65;
  double miss_sharpness = 5.0;
  double wave_interval = 11.0;
  double first_load_cycles = 670.0;
  double absmax_us = 0.0;
  double absmax_ops = 1.0;
  double scale = 1.0;

  bool operator==(const VectorCoefficients&) const = default;
};

using VectorField = CoefficientField<VectorCoefficients>;
inline constexpr std::array kVectorFields = {
    VectorField{"memory_share", &VectorCoefficients::memory_share, 0.4, 1.0,
                "of the memory's peak; by technology"},
    VectorField{"issue_share", &VectorCoefficients::issue_share, 0.1, 1,
                "of a CU's issue slots, that kernels fill"},
    VectorField{"access_ops", &VectorCoefficients::access_ops, 0.1, 20,
                "instructions of loading or storing a number"},
    VectorField{"convert_ops", &VectorCoefficients::convert_ops, 0, 20, "more of them for a 16-bit number"},
    VectorField{"cast_ops", &VectorCoefficients::cast_ops, 0, 100,
                "instructions of scaling and casting an element"},
    VectorField{"power_ops", &VectorCoefficients::power_ops, 1, 500, "the same of pow"},
    VectorField{"lookup_ops", &VectorCoefficients::lookup_ops, 1, 500, "the same of a row that is looked up"},
    VectorField{"row_ops", &VectorCoefficients::row_ops, 1, 200, "the same of a row kept in registers"},
    VectorField{"iteration_us", &VectorCoefficients::iteration_us, 0.02, 5, "us, of one loop of a row softmax"},
    VectorField{"block_us", &VectorCoefficients::block_us, 0.1, 50, "us, of a row softmax's reductions"},
    VectorField{"row_cycles", &VectorCoefficients::row_cycles, 10, 5000, "CU cycles of a normalised row"},
    VectorField{"l1_kept", &VectorCoefficients::l1_kept, 0.01, 1.5,
                "of the LDS and L1, keeps rows between passes"},
    VectorField{"l2_kept", &VectorCoefficients::l2_kept, 0.01, 1.5,
                "of an L2 partition, keeps rows between passes"},
    VectorField{"miss_sharpness", &VectorCoefficients::miss_sharpness, 1, 20,
                "exponent of the step from hit to miss"},
    VectorField{"wave_interval", &VectorCoefficients::wave_interval, 1, 100,
                "cycles between instructions of a wave that wait for one another"},
    VectorField{"first_load_cycles", &VectorCoefficients::first_load_cycles, 0, 5000,
                "cycles that a wave waits for a number that none loaded before"},
    VectorField{"absmax_us", &VectorCoefficients::absmax_us, 0, 100,
                "us, least time of the maximum of a tensor, launch included"},
    VectorField{"absmax_ops", &VectorCoefficients::absmax_ops, 0.1, 200,
                "instructions of an element in the maximum of a tensor, loads apart; by family"},
    VectorField{"scale", &VectorCoefficients::scale, 0.2, 5,
                "of all times but launches; 1 but for a GPU calibrated alone"},
};

/// Flash attention.
struct AttentionCoefficients {
  double share = 0.6;
  double flash2_share = 1.0;
  double flash1_rate = 1.0;
  double triton_rate = 1.0;
  double cudnn_rate = 1.0;
  double backward_share = 1.0;
  double exp_share = 1.0;
  double work_group_us = 1.5;
  double query_passes = 2.0;
  double key_passes = 1.0;
  double hbm_share = 1.0;
  double scale = 1.0;

  bool operator==(const AttentionCoefficients&) const = default;
};

using AttentionField = CoefficientField<AttentionCoefficients>;
inline constexpr std::array kAttentionFields = {
    AttentionField{"share", &AttentionCoefficients::share, 0.1, 1.2,
                   "of the matrix peak while it works; by family"},
    AttentionField{"flash2_share", &AttentionCoefficients::flash2_share, 0.1, 1,
                   "of `share`, of FlashAttention-2; by family"},
    AttentionField{"flash1_rate", &AttentionCoefficients::flash1_rate, 0.1, 1,
                   "of FlashAttention-2's rate, of the first FlashAttention"},
    AttentionField{"triton_rate", &AttentionCoefficients::triton_rate, 0.1, 1,
                   "the same of FlashAttention in Triton"},
    AttentionField{"cudnn_rate", &AttentionCoefficients::cudnn_rate, 0.5, 2,
                   "of the newest kernel's rate, of cuDNN's forward pass; by family"},
    AttentionField{"backward_share", &AttentionCoefficients::backward_share, 0.1, 1.5,
                   "of either, of the backward pass; by family"},
    AttentionField{"exp_share", &AttentionCoefficients::exp_share, 0.1, 4, "of the special-function rate"},
    AttentionField{"work_group_us", &AttentionCoefficients::work_group_us, 0.05, 20, "us, start and drain"},
    AttentionField{"query_passes", &AttentionCoefficients::query_passes, 0, 20, "over Q that nothing hides"},
    AttentionField{"key_passes", &AttentionCoefficients::key_passes, 0, 20, "over K and V that nothing hides"},
    AttentionField{"hbm_share", &AttentionCoefficients::hbm_share, 0.2, 1.2, "of HBM's achieved rate"},
    AttentionField{"scale", &AttentionCoefficients::scale, 0.2, 5,
                   "of all times but launches; 1 but for a GPU calibrated alone"},
};

/// Convolutions, on matrix units (implicit_gemm, gemm) or on vector units (the others).
struct ConvolutionCoefficients {
  double implicit_share = 1.0;
  double winograd_share = 1.0;
  double direct_share = 1.0;
  double image_share = 1.0;
  double kernel_us = 0.0;
  double scale = 1.0;

  bool operator==(const ConvolutionCoefficients&) const = default;
};

using ConvolutionField = CoefficientField<ConvolutionCoefficients>;
inline constexpr std::array kConvolutionFields = {
    ConvolutionField{"implicit_share", &ConvolutionCoefficients::implicit_share, 0.1, 1.3,
                     "of a product's rate, of one that gathers an operand from an image; by family"},
    ConvolutionField{"winograd_share", &ConvolutionCoefficients::winograd_share, 0.05, 1.2,
                     "of the vector units' peak, of Winograd's multiplications; by family"},
    ConvolutionField{"direct_share", &ConvolutionCoefficients::direct_share, 0.02, 1.2,
                     "the same of direct convolutions and of FFT's products; by family"},
    ConvolutionField{"image_share", &ConvolutionCoefficients::image_share, 0.1, 1.2,
                     "of HBM's achieved rate, of kernels that read or rearrange images"},
    ConvolutionField{"kernel_us", &ConvolutionCoefficients::kernel_us, 0, 50,
                     "us, that starting and draining a kernel cost it; by family"},
    ConvolutionField{"scale", &ConvolutionCoefficients::scale, 0.2, 5,
                     "of all times but launches; 1 but for a GPU calibrated alone"},
};

/// Chunked recurrences and the causal convolutions before them.
struct ScanCoefficients {
  double matrix_share = 0.2;
  double row_cycles = 600.0;
  double conv_ops = 50.0;
  double conv_row_ops = 20.0;
  double token_cycles = 450.0;
  double scale = 1.0;

  bool operator==(const ScanCoefficients&) const = default;
};

using ScanField = CoefficientField<ScanCoefficients>;
inline constexpr std::array kScanFields = {
    ScanField{"matrix_share", &ScanCoefficients::matrix_share, 0.05, 1,
              "of the matrix peak, of products of chunks"},
    ScanField{"row_cycles", &ScanCoefficients::row_cycles, 10, 5000,
              "core cycles of one row of the substitution that inverts a chunk's matrix"},
    ScanField{"conv_ops", &ScanCoefficients::conv_ops, 1, 500,
              "instructions of a result of a causal convolution, channels last"},
    ScanField{"conv_row_ops", &ScanCoefficients::conv_row_ops, 1, 500, "the same, channels first"},
    ScanField{"token_cycles", &ScanCoefficients::token_cycles, 0, 5000,
              "core cycles from one token of a thread to its next, channels last"},
    ScanField{"scale", &ScanCoefficients::scale, 0.2, 5,
              "of all times but launches; 1 but for a GPU calibrated alone"},
};

struct KernelCoefficients {
  GemmCoefficients vector_gemm;  ///< fp32
  GemmCoefficients matrix_gemm;
  VectorCoefficients vector;
  AttentionCoefficients attention;
  ConvolutionCoefficients convolution;
  ScanCoefficients scan;

  bool operator==(const KernelCoefficients&) const = default;
};

}}  // namespace c3::gpu
