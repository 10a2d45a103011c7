#include "workloads/execute/address_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "gpu/kernels/gemm/gemm_shape.hpp"

namespace c3::inline workloads {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

/// Rows of \p rows x \p columns elements of \p element bytes, of which a step goes through part. From 1 MiB on
/// a row is in all channels.
Footprint along(std::int64_t rows, std::int64_t columns, std::int64_t step, double element) {
  return {.start = 0,
          .extent = std::clamp<std::int64_t>(
              std::llround(element * static_cast<double>(std::min(step, columns))), 1, kMebibyte),
          .rows = std::min(rows, AddressPlan::kMostRows),
          .stride = std::llround(element * static_cast<double>(columns))};
}

/// A product's operands as its layout has them: A[m,k], B[k,n].
std::array<PlacedOperand, 3> operands_of(const std::string& name, const GemmShape& gemm) {
  const OperandSizes sizes = operand_sizes(gemm);
  const auto count = static_cast<double>(gemm.batch);
  const auto tensor = [count](std::int64_t rows, std::int64_t columns, Bytes element) {
    return element * (count * static_cast<double>(rows) * static_cast<double>(columns));
  };
  // Along K a step is a part of each row; across it, whole rows.
  const auto touched = [&](bool is_along, std::int64_t outer, Bytes element) {
    if (is_along) return along(outer, gemm.k, AddressPlan::kStep, element.value);
    return along(std::min(gemm.k, AddressPlan::kStep), outer, outer, element.value);
  };
  const bool a_along = gemm.layout != GemmLayout::nt;
  const bool b_along = gemm.layout == GemmLayout::tn;
  const Bytes result = result_size(gemm);
  return {{{name + " A", tensor(gemm.m, gemm.k, sizes.a), false, touched(a_along, gemm.m, sizes.a)},
           {name + " B", tensor(gemm.k, gemm.n, sizes.b), false, touched(b_along, gemm.n, sizes.b)},
           {name + " C", tensor(gemm.m, gemm.n, result), true,
            along(gemm.m, gemm.n, AddressPlan::kTile, result.value)}}};
}

/// Channels of the library have equal parts of \p bytes.
Footprint buffer_of(Bytes bytes, int width) {
  const std::int64_t part = std::llround(bytes.value) / width;
  return {.start = 0,
          .extent = std::clamp<std::int64_t>(part, 1, AddressPlan::kInFlight),
          .rows = width,
          .stride = part};
}

}  // namespace

AddressPlan::AddressPlan(const HbmSpec& hbm, const Program& program)
    : hbm_(hbm), program_(program), mapping_(hbm.channels) {
  for_each_operation(program, [this](const Operation& operation) { allocate(operation); });
}

BytesPerSecond AddressPlan::channel_rate() const {
  return hbm_.read / static_cast<double>(hbm_.channels.count);
}

std::vector<PlacedOperand> AddressPlan::operands_of(const Operation& operation, int width) const {
  std::vector<PlacedOperand> operands;
  const std::string& name = program_.name_of(operation);
  if (const auto* const gemm = shape_of<GemmShape>(operation)) {
    std::ranges::move(workloads::operands_of(name, *gemm), std::back_inserter(operands));
  } else if (const CollectiveCall* const call = program_.call_of(operation);
             call != nullptr && call->bytes.value > 0) {
    for (const bool is_written : {false, true})
      operands.push_back(
          {name + (is_written ? " result" : " input"), call->bytes, is_written, buffer_of(call->bytes, width)});
  }
  for (PlacedOperand& operand : operands)
    operand.footprint.start = address_of(operand);
  return operands;
}

std::int64_t AddressPlan::address_of(const PlacedOperand& operand) const {
  const auto found =
      addresses_.find({operand.name, static_cast<std::uint64_t>(std::llround(operand.bytes.value))});
  return found == addresses_.end() ? 0 : found->second;
}

void AddressPlan::allocate(const Operation& operation) {
  for (const PlacedOperand& operand : operands_of(operation)) {
    const auto bytes = std::llround(operand.bytes.value);
    const Key key{operand.name, static_cast<std::uint64_t>(bytes)};
    if (addresses_.contains(key)) continue;
    const std::int64_t unit = bytes >= kMebibyte ? 2 * kMebibyte : 512;
    end_ = (end_ + unit - 1) / unit * unit;
    addresses_.emplace(key, end_);
    end_ += bytes;
  }
}

// Reads and writes of all operands are mixed by their bytes. A random mapping is drawn for each block: over a
// stream all channels have as many.
const ChannelShares* AddressPlan::shares_of(const Operation& operation, int width) {
  if (hbm_.channels.mapping == ChannelMapping::random) return nullptr;
  const std::vector<PlacedOperand> operands = operands_of(operation, width);
  if (operands.empty()) return nullptr;
  std::string key;
  for (const PlacedOperand& each : operands)
    key += fmt::format("{} {} {} {};", each.footprint.start, each.footprint.extent, each.footprint.rows,
                       each.footprint.stride);
  const auto [found, is_new] = shares_.try_emplace(std::move(key));
  if (!is_new) return &found->second;
  ChannelShares& shares = found->second;
  for (const bool is_written : {false, true}) {
    std::vector<double>& of = is_written ? shares.written : shares.read;
    double all = 0.0;
    for (const PlacedOperand& operand : operands) {
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
  return &shares;
}

}  // namespace c3::workloads
