#include "gpu/spec.hpp"

#include <algorithm>

#include "engine/errors.hpp"

namespace c3 {

Bytes element_size(DType dtype) {
  switch (dtype) {
    case DType::bf16:
    case DType::fp16:
      return Bytes{2};
    case DType::fp8:
      return Bytes{1};
    case DType::fp32:
      return Bytes{4};
  }
  throw std::logic_error("element_size: unknown data type");
}

std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return "bf16";
    case DType::fp16:
      return "fp16";
    case DType::fp8:
      return "fp8";
    case DType::fp32:
      return "fp32";
  }
  throw std::logic_error("name_of: unknown data type");
}

std::string_view name_of(GpuFamily family) {
  constexpr std::array<std::string_view, kGpuFamilies.size()> kNames = {
      "pascal",    "volta",         "turing", "ampere", "ada",   "hopper",
      "blackwell", "blackwell_rtx", "cdna1",  "cdna2",  "cdna3", "cdna4"};
  return kNames.at(static_cast<std::size_t>(family));
}

std::string_view name_of(MemoryTechnology technology) {
  constexpr std::array<std::string_view, kMemoryTechnologies.size()> kNames = {
      "gddr5", "gddr6", "gddr7", "hbm2", "hbm2e", "hbm3", "hbm3e"};
  return kNames.at(static_cast<std::size_t>(technology));
}

std::string_view name_of(DispatchPolicy policy) {
  switch (policy) {
    case DispatchPolicy::oldest_first:
      return "oldest_first";
    case DispatchPolicy::round_robin:
      return "round_robin";
    case DispatchPolicy::random_order:
      return "random_order";
  }
  throw std::logic_error("name_of: unknown dispatch policy");
}

std::string_view name_of(HbmArbitration arbitration) {
  switch (arbitration) {
    case HbmArbitration::outstanding:
      return "outstanding";
    case HbmArbitration::byte_fair:
      return "byte_fair";
    case HbmArbitration::equal_slowdown:
      return "equal_slowdown";
    case HbmArbitration::stream_fair:
      return "stream_fair";
    case HbmArbitration::compute_first:
      return "compute_first";
  }
  throw std::logic_error("name_of: unknown HBM arbitration");
}

std::string_view name_of(StoreOrder order) {
  switch (order) {
    case StoreOrder::shared:
      return "shared";
    case StoreOrder::stores_first:
      return "stores_first";
    case StoreOrder::loads_first:
      return "loads_first";
  }
  throw std::logic_error("name_of: unknown store order");
}

std::string_view name_of(WriteBack write_back) {
  return write_back == WriteBack::spread ? "spread" : "at_once";
}

std::string_view name_of(Replacement replacement) { return replacement == Replacement::lru ? "lru" : "random"; }

const MatrixRate& matrix_rate(const GpuSpec& gpu, DType dtype) {
  const auto& rates = gpu.compute.matrix;
  const auto found = std::ranges::find(rates, dtype, &MatrixRate::dtype);
  if (found == rates.end()) {
    throw InfeasibleError("gpu '" + gpu.name + "' has no matrix rate for " + std::string(name_of(dtype)));
  }
  return *found;
}

}  // namespace c3
