#include "workloads/execute/buffer_reach.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "engine/errors.hpp"

namespace c3 { inline namespace workloads {
namespace {

std::optional<AddressMapping> mapping_of(ChannelSpec channels, ChannelMapping mapping) {
  channels.mapping = mapping;
  try {
    return AddressMapping(channels);
  } catch (const InfeasibleError&) {  // no power of two of channels
    return std::nullopt;
  }
}

}  // namespace

double reach_of(const TouchedPhase& phase, const AddressMapping& mapping, BytesPerSecond channel_rate) {
  ChannelLoad joint(mapping);
  for (const TouchedTensor& tensor : phase.operands)
    joint.add(tensor.footprint, tensor.bytes.value / static_cast<double>(tensor.footprint.bytes()));
  return joint.effective(channel_rate);
}

std::vector<BufferReach> buffer_reaches(const GpuSpec& gpu, const Program& program) {
  const AddressPlan plan(gpu, program);
  std::vector<std::optional<AddressMapping>> mappings;
  for (const ChannelMapping mapping : kReachMappings)
    mappings.push_back(mapping_of(gpu.hbm.channels, mapping));
  std::vector<BufferReach> reaches;
  std::map<std::tuple<std::string, std::string>, std::size_t> places;
  std::set<std::tuple<std::size_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>> seen;
  const auto add = [&](const TouchedPhase& phase, const TouchedTensor& tensor) {
    const auto [found, is_new] = places.try_emplace({tensor.name, phase.name}, reaches.size());
    const Footprint& at = tensor.footprint;
    if (!seen.emplace(found->second, at.start, at.extent, at.rows, at.stride).second) return;
    if (is_new)
      reaches.push_back({tensor.name, phase.name, tensor.bytes, tensor.is_written, at.start,
                         std::vector<std::optional<double>>(mappings.size())});
    BufferReach& its = reaches[found->second];
    for (std::size_t i = 0; i < mappings.size(); ++i) {
      if (!mappings[i]) continue;
      const double share = reach_of({.name = {}, .operands = {tensor}}, *mappings[i], plan.channel_rate());
      its.reach[i] = std::min(its.reach[i].value_or(1.0), share);
    }
  };
  for_each_operation(program, [&](const Operation& operation) {
    for (const TouchedPhase& phase : plan.phases_of(operation))
      for (const TouchedTensor& tensor : phase.operands)
        add(phase, tensor);
  });
  return reaches;
}

}}  // namespace c3::workloads
