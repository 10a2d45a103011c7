#include "importers/machines/nic_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "configs/presets/preset_store.hpp"
#include "configs/toml/toml_text.hpp"
#include "importers/machines/preset_values.hpp"

namespace c3 { inline namespace importers {
namespace {

struct ShippedFabric {
  NicKind kind;
  double gigabits;
  std::string_view preset;
};

constexpr auto kShippedFabrics = std::to_array<ShippedFabric>({
    {NicKind::infiniband, 100, "ib-edr"},
    {NicKind::infiniband, 200, "ib-hdr"},
    {NicKind::infiniband, 400, "ib-ndr"},
    {NicKind::infiniband, 800, "ib-xdr"},
    {NicKind::ethernet, 100, "roce-100g"},
    {NicKind::ethernet, 200, "roce-200g"},
    {NicKind::ethernet, 400, "roce-400g"},
    {NicKind::ethernet, 800, "roce-800g"},
    {NicKind::slingshot, 200, "slingshot-11"},
    {NicKind::efa_p4d, 100, "efa-p4d"},
    {NicKind::efa_p5, 100, "efa-p5"},
    {NicKind::efa_p5en, 200, "efa-p5en"},
});

constexpr double kLeastOfRdma = 25.0;  // Gb/s; below, NICs are for TCP

/// NICs of a cloud come with one rate: Gb/s; 0 for others.
double only_rate_of(NicKind kind) {
  const bool is_one_product = kind == NicKind::efa_p4d || kind == NicKind::efa_p5 ||
                              kind == NicKind::efa_p5en || kind == NicKind::slingshot;
  const auto* const shipped = std::ranges::find(kShippedFabrics, kind, &ShippedFabric::kind);
  return is_one_product ? shipped->gigabits : 0.0;
}

/// What a NIC of another rate is most like.
std::string_view nearest_fabric(NicKind kind, double gigabits) {
  if (kind == NicKind::infiniband) return "ib-edr";
  return gigabits < kLeastOfRdma ? "tcp-100g" : "roce-100g";
}

/// A fabric like \p base whose NICs have \p gigabits.
void write_fabric(const std::string& name, const std::string& base, double gigabits, FileReading& reading) {
  constexpr double kOfBase = 100.0;
  const Node fabric = load_preset(PresetKind::fabric, base, origin_in(base), "fabric");
  const std::string why = fmt::format("{} of {} Gb/s, as {} says", gigabits, kOfBase, reading.file);
  std::string text = fmt::format(
      "# NICs of {} Gb/s, otherwise as {}. Read from {}.\n\nextends = \"fabrics/{}\"\nname = \"{}\"\n\n",
      gigabits, base, reading.file, base, name);
  for (const std::string_view key : {"nic_raw", "nic_one_way", "nic_both_ways"}) {
    const Node value = scaled(*fabric.table()->find(key), gigabits / kOfBase, why);
    text += fmt::format("{} = {}\n", key, write_value(value));
  }
  reading.presets.push_back({.path = fmt::format("fabrics/{}.toml", name), .text = std::move(text)});
}

}  // namespace

std::string fabric_for(const Machine& machine, const std::string& name, const std::string& usual,
                       FileReading& reading) {
  const auto slowest = std::ranges::min_element(machine.nics, {}, &MachineNic::gigabits);
  double gigabits = slowest == machine.nics.end() ? 0.0 : slowest->gigabits;
  if (gigabits <= 0.0) gigabits = only_rate_of(machine.nic_kind);
  const auto assume = [&](const std::string& fabric, const std::string& why) {
    reading.assumed.push_back({.key = "node.fabric", .value = fmt::format("\"{}\"", fabric), .why = why});
    return fabric;
  };
  if (gigabits <= 0.0) {
    if (usual.empty()) return usual;
    return assume(usual, "the file does not say how fast all NICs are; this is the usual fabric of such nodes");
  }
  const double fastest = std::ranges::max(machine.nics, {}, &MachineNic::gigabits).gigabits;
  if (slowest->gigabits > 0.0 && fastest > gigabits) {
    reading.unmodelled.push_back(
        {.what =
             fmt::format("NICs of {} and {} Gb/s in one node: all have the lower rate", gigabits, fastest)});
  }
  const bool is_said = machine.nic_kind != NicKind::not_said;
  const NicKind kind = is_said ? machine.nic_kind : NicKind::infiniband;
  const auto* const shipped = std::ranges::find_if(kShippedFabrics, [&](const ShippedFabric& fabric) {
    return fabric.kind == kind && fabric.gigabits == gigabits;
  });
  if (shipped != kShippedFabrics.end()) {
    const std::string fabric(shipped->preset);
    return is_said ? fabric : assume(fabric, "the file says the rate of NICs, not whether they are InfiniBand");
  }
  const std::string base(nearest_fabric(machine.nic_kind, gigabits));
  write_fabric(name, base, gigabits, reading);
  return assume(name, fmt::format("NICs of {} Gb/s; what the file does not say is as in {}", gigabits, base));
}

}}  // namespace c3::importers
