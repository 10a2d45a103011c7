#include "app/kernel/kernel_request.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "app/host_calls.hpp"
#include "base/nearest_name.hpp"
#include "base/usage_error.hpp"
#include "configs/presets/gpu_match.hpp"
#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/operator_table.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::size_t kMostRows = 10'000;

int cus_of(const std::string& text) {
  int cus = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, cus);
  if (error == std::errc() && end == last && cus > 0) return cus;
  throw UsageError(fmt::format("--cus: '{}' is no number of compute units", text));
}

void check_share(std::string_view option, double share, bool zero_is_fine) {
  const bool fine = share <= 1.0 && (share > 0.0 || (zero_is_fine && share == 0.0));  // NaN is not
  if (!fine) throw UsageError(fmt::format("{}: must be a share, up to 1, not {}", option, share));
}

Operator operator_from(const ShapeWords& words) {
  try {
    return operator_of(words);
  } catch (const ShapeError& error) {
    throw UsageError(fmt::format("{}: {}", option_name(error.key()), error.what()));
  }
}

/// \p words with each value of the lists from \p key on.
void add_operators(const KernelOptions& options, std::size_t key, ShapeWords& words,
                   std::vector<Operator>& found) {
  if (key == kShapeKeys.size()) {
    found.push_back(operator_from(words));
    if (found.size() > kMostRows) throw UsageError(fmt::format("more than {} shapes", kMostRows));
    return;
  }
  const auto given = options.shape.find(static_cast<ShapeKey>(key));
  if (given == options.shape.end() || given->second.empty())
    return add_operators(options, key + 1, words, found);
  for (const std::string& word : given->second) {
    words[static_cast<ShapeKey>(key)] = word;
    add_operators(options, key + 1, words, found);
  }
}

}  // namespace

std::string option_name(ShapeKey key) {
  if (key == ShapeKey::op) return "OP";
  std::string name(name_of(key));
  std::ranges::replace(name, '_', '-');
  return (name.size() == 1 ? "-" : "--") + name;
}

std::shared_ptr<const GpuSpec> gpu_of(const std::string& name, const KernelOptions& options) {
  const std::optional<std::string> preset = gpu_preset_of(name);
  if (!preset) {
    throw ConfigError({std::make_shared<const std::string>("--gpu"), 1, 1}, "gpu",
                      unknown_name("GPU preset", name, preset_names(PresetKind::gpu)));
  }
  GpuSpec gpu = load_gpu(*preset, options.sets);
  if (options.state == "auto") {  // measured calls were bursts; a queue that is never empty is hot
    gpu.governor.state = options.launch == "device" ? ClockState::sustained : ClockState::burst;
  } else {
    gpu.governor.state = options.state == "burst" ? ClockState::burst : ClockState::sustained;
  }
  return std::make_shared<const GpuSpec>(std::move(gpu));
}

std::vector<KernelSlice> slices_of(const KernelOptions& options) {
  check_share("--cache-share", options.cache_share, true);
  check_share("--hbm-share", options.hbm_share, false);
  if (!options.host.empty() && options.launch == "device")
    throw UsageError("--host: its part of a call is hidden with --launch device");
  const KernelSlice whole = {.cus = 0,
                             .cache = options.cache_share,
                             .hbm = options.hbm_share,
                             .launch = options.launch == "device" ? LaunchCost::device : LaunchCost::measured,
                             .calls = calls_of(options.host)};
  if (options.cus.empty()) return {whole};
  std::vector<KernelSlice> slices;
  for (const std::string& cus : options.cus) {
    slices.push_back(whole);
    slices.back().cus = cus_of(cus);
  }
  return slices;
}

std::vector<KernelCase> cases_of(const KernelOptions& options) {
  std::vector<Operator> operators;
  ShapeWords words;
  add_operators(options, 0, words, operators);
  const std::vector<KernelSlice> slices = slices_of(options);
  if (options.gpus.empty()) throw UsageError("--gpu is required");
  if (operators.size() * slices.size() * options.gpus.size() > kMostRows)
    throw UsageError(fmt::format("more than {} rows", kMostRows));
  std::vector<KernelCase> cases;
  for (const std::string& name : options.gpus) {
    const std::shared_ptr<const GpuSpec> gpu = gpu_of(name, options);
    for (const Operator& op : operators) {
      for (const KernelSlice& slice : slices)
        cases.push_back({gpu, op, slice});
    }
  }
  return cases;
}

}}  // namespace c3::app
