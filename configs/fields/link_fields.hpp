#pragma once
/// Keys of a full-duplex link, each after the prefix of its table: `link_raw`, `pcie_raw`, `nic_raw`.

#include "configs/fields/field.hpp"
#include "interconnect/spec.hpp"

namespace c3 { inline namespace configs {

/// Payloads are kept as shares of `raw` under the same prefix, and matter if \p payload_matters. Nodes call the
/// what-if factor `link_scale`, fabrics `scale`.
constexpr auto link_fields(When payload_matters = When::always) {
  return std::to_array<Field<LinkSpec>>({
      quantity<&LinkSpec::raw>("raw", "signalling rate of one direction").scaled_by("link_scale"),
      quantity<&LinkSpec::one_way>("one_way", "payload one way, the other idle")
          .share_of("raw")
          .scaled_by("link_scale")
          .used_if(payload_matters),
      quantity<&LinkSpec::both_ways>("both_ways", "payload each way while both are busy")
          .share_of("raw")
          .scaled_by("link_scale")
          .used_if(payload_matters),
      quantity<&LinkSpec::latency>("latency", "latency of one hop"),
  });
}
inline constexpr auto kLinkFields = link_fields();
static_assert(member_count<LinkSpec>() == kLinkFields.size());

}}  // namespace c3::configs
