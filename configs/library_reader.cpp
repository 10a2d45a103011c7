#include "configs/spec_readers.hpp"

#include <array>

namespace c3 {
namespace {

constexpr double kLeastShare = 1e-3;  // of a link

/// Of protocol simple, whose keys are the library's own, or of the table of another one.
ProtocolSpec read_protocol(Section& section) {
  ProtocolSpec protocol;
  protocol.base_latency = section.duration("base_latency");
  protocol.hop_latency = section.duration("hop_latency");
  protocol.network_latency = section.duration("network_latency");
  protocol.channel_rate = section.bandwidth("channel_rate");
  protocol.threads = static_cast<int>(section.integer("threads", 32, 1024));
  return protocol;
}

std::optional<ProtocolSpec> read_other_protocol(Section& section, std::string_view name) {
  if (!section.has(name)) return std::nullopt;
  Section table = section.table(name);
  ProtocolSpec protocol = read_protocol(table);
  protocol.link_share = table.fraction("link_share", 1.0, kLeastShare);
  table.finish();
  return protocol;
}

void read_nvls(Section& section, CollectiveLibrarySpec& library) {
  if (!section.has("nvls_channels")) return;
  library.nvls_channels = static_cast<int>(section.integer("nvls_channels", 1, 1024));
  library.nvls_payload = section.bandwidth("nvls_payload");
  library.nvls_channel_rate = section.bandwidth("nvls_channel_rate");
  library.nvls_latency = section.duration("nvls_latency");
  library.nvls_tree_latency = section.duration("nvls_tree_latency");
  library.nvls_tree_network_latency = section.duration("nvls_tree_network_latency");
  library.nvls_tuner_bandwidth = section.bandwidth("nvls_tuner_bandwidth");
}

}  // namespace

CollectiveLibrarySpec read_library(Section& section) {
  CollectiveLibrarySpec library;
  library.name = section.slug("name");
  library.channels = static_cast<int>(section.integer("channels", 1, 1024));
  if (section.has("p2p_channels")) {
    library.p2p_channels = static_cast<int>(section.integer("p2p_channels", 1, 1024));
  }
  if (section.has("p2p_to_itself")) library.p2p_to_itself = section.sourced_flag("p2p_to_itself");
  if (section.has("peers_share_channels"))
    library.peers_share_channels = section.sourced_flag("peers_share_channels");
  library.waves_per_channel = static_cast<int>(section.integer("waves_per_channel", 1, 32));
  library.channel_lds = section.bytes_or_none("channel_lds");
  library.channel_registers = section.bytes("channel_registers");
  library.simple = read_protocol(section);
  library.ll = read_other_protocol(section, "ll");
  library.ll128 = read_other_protocol(section, "ll128");
  library.cu_rate = section.bandwidth("cu_rate");
  if (section.has("pair_cu_rate")) library.pair_cu_rate = section.bandwidth("pair_cu_rate");
  library.clock_share = section.fraction("clock_share");
  library.link_payload = section.bandwidth("link_payload");
  library.staging_bytes = section.fraction("staging_bytes", 4.0);
  library.channel_outstanding = section.bytes("channel_outstanding");
  library.chunk_size = section.bytes("chunk_size");
  library.ring_chunk = section.bytes_or_none("ring_chunk");
  if (section.has("handshake_hops"))
    library.handshake_hops = static_cast<int>(section.integer("handshake_hops", 0, 16));
  if (section.has("local_rate")) library.local_rate = section.bandwidth("local_rate");
  library.eager_gap = section.duration("eager_gap");
  library.host_launch = section.duration("host_launch");
  library.rules = section.choice<TunerRules>("rules");
  if (section.has("network_fabric")) library.network_fabric = section.text("network_fabric");
  if (section.has("ring_plateau")) library.ring_plateau = section.fraction("ring_plateau", 4.0);
  library.tuner_bandwidth = section.bandwidth("tuner_bandwidth");
  if (section.has("one_shot_latency")) library.one_shot_latency = section.duration("one_shot_latency");
  read_nvls(section, library);
  if (library.cu_rate < library.simple.channel_rate) section.fail("cu_rate", "must not be below channel_rate");
  if (library.pair_cu_rate > library.cu_rate) section.fail("pair_cu_rate", "must not be above cu_rate");
  section.finish();
  return library;
}

}  // namespace c3
