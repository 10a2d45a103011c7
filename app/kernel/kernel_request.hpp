#pragma once
/// What the options of `c3sim kernel` ask for.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpu/kernel_time.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/kernels/shape_words.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace app {

/// Options as typed.
struct KernelOptions {
  std::map<ShapeKey, std::vector<std::string>> shape;  ///< several only of m, n and k
  std::vector<std::string> gpus;
  std::vector<std::string> cus;
  double cache_share = 1.0;
  double hbm_share = 1.0;
  std::string launch = "measured";
  std::string host;  ///< preset; empty: none is in the time
  std::string state = "auto";
  std::vector<std::string> sets;
  std::string csv;
  std::string output;
  bool json = false;
  bool quiet = false;
};

struct KernelCase {
  std::shared_ptr<const GpuSpec> gpu;
  Operator op;
  KernelSlice slice;
};

/// Every GPU with every number of CUs and every shape. \throws UsageError for a shape or slice that is none,
/// ConfigError for a GPU or override that is none.
std::vector<KernelCase> cases_of(const KernelOptions& options);

/// The preset of \p name, which may be written as a driver does, with the overrides.
std::shared_ptr<const GpuSpec> gpu_of(const std::string& name, const KernelOptions& options);

/// One for each value of --cus. \throws UsageError
std::vector<KernelSlice> slices_of(const KernelOptions& options);

/// "-m", "--kv-heads": how the command line gives \p key.
std::string option_name(ShapeKey key);

}}  // namespace c3::app
