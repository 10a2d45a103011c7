#include "studies/cases/kernel_row.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/shape_words.hpp"
#include "gpu/kernels/stream_times.hpp"

namespace c3 { inline namespace studies {

using namespace literals;

Operator operator_in(const RowArguments& row) {
  ShapeWords words;
  for (std::size_t key = 0; key < kShapeKeys.size(); ++key)
    words[static_cast<ShapeKey>(key)] = row.find(kShapeKeys.at(key));
  try {
    return operator_of(words);
  } catch (const ShapeError& error) {
    row.fail(name_of(error.key()), error.what());
  }
}

std::shared_ptr<const GpuSpec> gpu_in(const RowArguments& row) {
  static std::map<std::string, std::shared_ptr<const GpuSpec>> loaded;
  const std::string name = row.text("gpu");
  const std::vector<std::string> sets = row.sets("gpu.");
  std::shared_ptr<const GpuSpec>& gpu = loaded[fmt::format("{} {}", name, fmt::join(sets, " "))];
  if (!gpu) gpu = std::make_shared<const GpuSpec>(load_gpu(name, sets));
  return gpu;
}

NumberSource kernel_row(const RowArguments& row) {
  constexpr std::int64_t kMostSms = 1024;
  const int sms = row.find("sms").empty() ? 0 : static_cast<int>(row.whole("sms", kMostSms));
  const KernelSlice slice{.cus = sms, .launch = LaunchCost::device};
  if (row.find("as") == "stream") {
    return [op = operator_in(row), gpu = gpu_in(row), slice] {
      const std::array<Operator, 1> stream = {op};
      const GovernedTimes times = stream_times(stream, *gpu, slice);
      return std::map<std::string, double>{{"burst_us", times.burst / 1.0_us},
                                           {"sustained_us", times.sustained / 1.0_us}};
    };
  }
  return [op = operator_in(row), gpu = gpu_in(row), slice] {
    const KernelTime time = time_of(op, *gpu, slice);
    return std::map<std::string, double>{{"time_us", time.time / 1.0_us}, {"launch_us", time.launch / 1.0_us}};
  };
}

}}  // namespace c3::studies
