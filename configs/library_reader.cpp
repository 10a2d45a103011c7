#include "configs/spec_readers.hpp"

namespace c3 {

CollectiveLibrarySpec read_library(Section& section) {
  CollectiveLibrarySpec library;
  library.name = section.slug("name");
  library.channels = static_cast<int>(section.integer("channels", 1, 1024));
  if (section.has("p2p_channels")) {
    library.p2p_channels = static_cast<int>(section.integer("p2p_channels", 1, 1024));
  }
  library.waves_per_channel = static_cast<int>(section.integer("waves_per_channel", 1, 32));
  library.channel_lds = section.bytes_or_none("channel_lds");
  library.channel_registers = section.bytes("channel_registers");
  library.channel_rate = section.bandwidth("channel_rate");
  library.cu_rate = section.bandwidth("cu_rate");
  library.clock_share = section.fraction("clock_share");
  library.link_payload = section.bandwidth("link_payload");
  library.staging_bytes = section.fraction("staging_bytes", 4.0);
  library.channel_outstanding = section.bytes("channel_outstanding");
  library.base_latency = section.duration("base_latency");
  library.hop_latency = section.duration("hop_latency");
  library.chunk_size = section.bytes("chunk_size");
  if (section.has("nvls_channels")) {
    library.nvls_channels = static_cast<int>(section.integer("nvls_channels", 1, 1024));
    library.nvls_payload = section.bandwidth("nvls_payload");
    library.nvls_latency = section.duration("nvls_latency");
  }
  if (library.cu_rate < library.channel_rate) section.fail("cu_rate", "must not be below channel_rate");
  section.finish();
  return library;
}

}  // namespace c3
