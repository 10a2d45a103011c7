#pragma once
/// Measured times of kernels, from the tables in which they are published.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "configs/tables/kernel_table.hpp"
#include "engine/units.hpp"
#include "gpu/kernels/operator.hpp"

namespace c3 { inline namespace configs {

struct MeasuredKernel {
  Operator op;
  std::string gpu;           ///< slug of the preset
  Seconds time;              ///< > 0
  bool train = true;         ///< false: kept back, to test what was fitted to the others
  std::string kernel_class;  ///< the operator as the table names it: "bmm", "linear", "softmax", ..
  std::uint32_t line = 0;
};

struct MeasuredKernels {
  std::vector<MeasuredKernel> kernels;  ///< kernels in the order of the file
  std::vector<BrokenRow> broken;        ///< without their text
};

/// Reads \p file, whose header tells which table it is:
/// - kernel shapes with a column time_us (KernelTable);
/// - NeuSight's split,device,op,B,M,N,K,ms (y[M,K] = x[M,N] w[N,K]) and split,device,op,B,H,ms, all fp32;
/// - aiconfigurator's source,dtype,m,n,k,ms and batch_size,isl,num_heads,num_key_value_heads,head_dim,ms
///   (causal prefill in bf16).
/// Devices get the name of their preset (gpu_preset_of). Without a column split every row is for training.
/// \param gpu of the rows that name none. \throws ConfigError for another header, std::system_error
MeasuredKernels read_measured_kernels(const std::filesystem::path& file, const std::string& gpu = "");

}}  // namespace c3::configs
