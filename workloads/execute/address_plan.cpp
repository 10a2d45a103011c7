#include "workloads/execute/address_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpu/kernels/operator_class.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

/// Channels of the library have equal parts of \p bytes.
Footprint buffer_of(Bytes bytes, int width) {
  const std::int64_t part = std::llround(bytes.value) / width;
  return {.start = 0,
          .extent = std::clamp<std::int64_t>(part, 1, AddressPlan::kInFlight),
          .rows = width,
          .stride = part};
}

}  // namespace

AddressPlan::AddressPlan(const GpuSpec& gpu, const Program& program)
    : gpu_(gpu), program_(program), mapping_(gpu.hbm.channels) {
  for_each_operation(program, [this](const Operation& operation) { allocate(operation); });
}

BytesPerSecond AddressPlan::channel_rate() const {
  return gpu_.hbm.read / static_cast<double>(gpu_.hbm.channels.count);
}

std::vector<TouchedPhase> AddressPlan::phases_of(const Operation& operation, int width) const {
  std::vector<TouchedPhase> phases;
  if (const Operator* const op = kernel_of(operation)) {
    if (const auto touches = op->of_class().touches) phases = touches(*op, gpu_);
  } else if (const CollectiveCall* const call = program_.call_of(operation);
             call != nullptr && call->bytes.value > 0) {
    const Footprint parts = buffer_of(call->bytes, width);
    phases.push_back({{}, {{"input", call->bytes, false, parts}, {"result", call->bytes, true, parts}}});
  }
  for (TouchedPhase& phase : phases) {
    for (TouchedTensor& operand : phase.operands) {
      operand.name = program_.name_of(operation) + " " + operand.name;
      operand.footprint.start = address_of(operand);
    }
  }
  return phases;
}

std::int64_t AddressPlan::address_of(const TouchedTensor& operand) const {
  const auto found =
      addresses_.find({operand.name, static_cast<std::uint64_t>(std::llround(operand.bytes.value))});
  return found == addresses_.end() ? 0 : found->second;
}

void AddressPlan::allocate(const Operation& operation) {
  for (const TouchedPhase& phase : phases_of(operation)) {
    for (const TouchedTensor& operand : phase.operands) {
      const auto bytes = std::llround(operand.bytes.value);
      const Key key{operand.name, static_cast<std::uint64_t>(bytes)};
      if (addresses_.contains(key)) continue;
      const std::int64_t unit = bytes >= kMebibyte ? 2 * kMebibyte : 512;
      end_ = (end_ + unit - 1) / unit * unit;
      addresses_.emplace(key, end_);
      end_ += bytes;
    }
  }
}

// Reads and writes of all operands are mixed by their bytes. A random mapping is drawn for each block: over a
// stream all channels have as many.
std::span<const ChannelShares> AddressPlan::shares_of(const Operation& operation, int width) {
  if (gpu_.hbm.channels.mapping == ChannelMapping::random) return {};
  const std::vector<TouchedPhase> phases = phases_of(operation, width);
  if (phases.empty()) return {};
  std::string key;
  for (const TouchedPhase& phase : phases) {
    for (const TouchedTensor& each : phase.operands)
      key += fmt::format("{} {} {} {} {};", each.footprint.start, each.footprint.extent, each.footprint.rows,
                         each.footprint.stride, each.bytes.value);
    key += '|';
  }
  const auto [found, is_new] = shares_.try_emplace(std::move(key));
  if (is_new)
    for (const TouchedPhase& phase : phases)
      found->second.push_back(shares_of(phase));
  return found->second;
}

ChannelShares AddressPlan::shares_of(const TouchedPhase& phase) const {
  ChannelShares shares;
  for (const bool is_written : {false, true}) {
    std::vector<double>& of = is_written ? shares.written : shares.read;
    double all = 0.0;
    for (const TouchedTensor& operand : phase.operands) {
      if (operand.is_written != is_written) continue;
      ChannelLoad load(mapping_);
      load.add(operand.footprint);
      const std::vector<double> busy = load.busy(channel_rate());
      const double times = operand.bytes.value / load.bytes();
      of.resize(busy.size(), 0.0);
      for (std::size_t i = 0; i < busy.size(); ++i)
        of[i] += times * busy[i];
      all += operand.bytes.value;
    }
    for (double& share : of)
      share /= all;
  }
  return shares;
}

}}  // namespace c3::workloads
