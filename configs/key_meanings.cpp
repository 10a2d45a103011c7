#include "configs/key_meanings.hpp"

#include <algorithm>
#include <array>

namespace c3 {
namespace {

struct Meaning {
  std::string_view preset;
  std::string_view key;
  std::string_view text;
};

constexpr std::array kMeanings = {
    Meaning{"gpu", "name", "the file's name without .toml"},
    Meaning{"gpu", "family", "GPUs that share library kernels, and so sustained shares of their peaks"},
    Meaning{"gpu", "matrix_operands", "where matrix units take operands from: decides tiles and their staging"},
    Meaning{"gpu", "gemm_order", "order in which the work groups of a matrix product run"},
    Meaning{"gpu", "l1_keeps_loads", "whether a CU's L1 keeps loads of global memory"},
    Meaning{"gpu", "tuned_as", "GPU whose published tables the collective library takes"},
    Meaning{"gpu", "kernels", "coefficients: extends = \"kernels/FAMILY.toml\""},
    Meaning{"gpu", "xcds", "dies with an L2 and a work-group queue of their own; 1 on most GPUs"},
    Meaning{"gpu", "cus_per_xcd", "compute units (SMs) of one die"},
    Meaning{"gpu", "lds_per_cu", "shared memory of one CU"},
    Meaning{"gpu", "registers_per_cu", "vector register file of one CU"},
    Meaning{"gpu", "wave_slots_per_cu", "wavefronts (warps) that can be resident on one CU"},
    Meaning{"gpu", "boost_clock", "highest core clock"},
    Meaning{"gpu", "matrix_tiles", "tiles of the library's kernels on matrix units"},
    Meaning{"gpu", "vector_tiles", "tiles of the library's kernels on vector units"},
    Meaning{"gpu", "batched_vector_tiles", "the same of batched products"},
    Meaning{"gpu", "dispatch_policy", "which queue's work groups are placed first"},
    Meaning{"gpu", "mask_granule", "CU masks of streams are multiples of so many CUs"},
    Meaning{"gpu", "work_group_spread", "standard deviation of a work group's time over its mean"},
    Meaning{"gpu", "launch_latency", "from a packet in the queue to the first work group"},
    Meaning{"gpu", "dependent_gap", "between two dependent kernels of one stream"},
    Meaning{"gpu", "l2_size", "of one die"},
    Meaning{"gpu", "l2_bandwidth", "of one die, at boost clock"},
    Meaning{"gpu", "xcd_port_bandwidth", "between one die and the memory side"},
    Meaning{"gpu", "llc_size", "memory-side cache of the whole GPU; \"0 B\" without one"},
    Meaning{"gpu", "llc_bandwidth", "of that cache; any value without one"},
    Meaning{"gpu", "hbm_technology", "decides the share of the peak that kernels reach"},
    Meaning{"gpu", "hbm_size", "total memory that the driver reports"},
    Meaning{"gpu", "hbm_peak", "data sheet's memory bandwidth"},
    Meaning{"gpu", "hbm_latency", "idle, from a core to memory and back"},
    Meaning{"gpu", "hbm_arbitration", "how requesters share a full memory"},
    Meaning{"gpu", "dma_engines", "copy engines that reach peers; 0 without"},
    Meaning{"gpu", "dma_engine_bandwidth", "of one copy engine"},
    Meaning{"gpu", "dma_outstanding",
            "in flight at memory for one copy engine: its bandwidth times the latency"},
    Meaning{"gpu", "dma_control", "host time to create commands and ring one doorbell"},
    Meaning{"gpu", "dma_schedule", "doorbell and fetch, on the engine"},
    Meaning{"gpu", "dma_copy_latency", "of a copy, beyond its bytes and the way"},
    Meaning{"gpu", "dma_next_copy", "more for each copy that follows another without a signal"},
    Meaning{"gpu", "dma_sync", "completion signal, on the engine"},
    Meaning{"gpu", "dma_trigger", "from the host's write to an engine that polls for it"},
    Meaning{"gpu", "dma_observe", "host time to see one completion signal"},
    Meaning{"node", "name", "the file's name without .toml"},
    Meaning{"node", "gpu", "GPU preset"},
    Meaning{"node", "library", "preset of the collective library"},
    Meaning{"node", "topology", "what joins the GPUs"},
    Meaning{"node", "gpus", "of one node"},
    Meaning{"node", "link_raw", "signalling rate of one direction: the lower bound's rate"},
    Meaning{"node", "link_one_way", "payload while the reverse direction is idle"},
    Meaning{"node", "link_both_ways", "payload of each direction while both are busy"},
    Meaning{"node", "link_latency", "of one hop"},
    Meaning{"node", "pcie_raw", "signalling rate between a GPU and its NICs, one direction"},
    Meaning{"node", "pcie_one_way", "payload while the reverse direction is idle"},
    Meaning{"node", "pcie_both_ways", "payload of each direction while both are busy"},
    Meaning{"node", "pcie_latency", "of one hop"},
    Meaning{"library", "name", "the file's name without .toml"},
    Meaning{"library", "channels", "work groups of one collective"},
    Meaning{"library", "waves_per_channel", "wavefronts (warps) of one channel"},
    Meaning{"library", "channel_lds", "shared memory of one channel"},
    Meaning{"library", "channel_registers", "registers of one channel"},
    Meaning{"library", "channel_rate", "payload that one channel moves, alone on its CU"},
    Meaning{"library", "cu_rate", "payload that all channels of one CU move together"},
    Meaning{"library", "clock_share", "share of a channel's time per byte that scales with the core clock"},
    Meaning{"library", "link_payload", "payload per link and direction that the protocol leaves"},
    Meaning{"library", "staging_bytes",
            "memory bytes at the receiver per wire byte, beyond a read and a write"},
    Meaning{"library", "channel_outstanding", "in flight at memory for one channel"},
    Meaning{"library", "chunk_size", "what a channel of a tree or chain passes on at once"},
    Meaning{"library", "ring_chunk", "most that a channel sends in a step of a ring; \"0 B\": unlimited"},
    Meaning{"library", "base_latency", "of one collective, without the gap before it"},
    Meaning{"library", "hop_latency", "of one step within a node"},
    Meaning{"library", "network_latency", "of one step between nodes"},
    Meaning{"library", "threads", "of one channel that copy"},
    Meaning{"library", "eager_gap", "between two collectives that a host launches, beyond a graph's"},
    Meaning{"library", "host_launch", "host time to launch one collective on one GPU"},
    Meaning{"library", "rules", "whose rules choose algorithm and protocol"},
    Meaning{"library", "tuner_bandwidth", "bus bandwidth that the library expects of its rings in a node"},
    Meaning{"fabric", "name", "the file's name without .toml"},
    Meaning{"fabric", "topology", "how switches join the nodes"},
    Meaning{"fabric", "nic_raw", "signalling rate of one NIC, one direction"},
    Meaning{"fabric", "nic_one_way", "payload while the reverse direction is idle"},
    Meaning{"fabric", "nic_both_ways", "payload of each direction while both are busy"},
    Meaning{"fabric", "nic_latency", "both ends together"},
    Meaning{"fabric", "switch_latency", "of each switch on the way"},
    Meaning{"fabric", "message_latency", "to post a message and to notice it, both ends together"},
    Meaning{"fabric", "message_cost", "for which each message holds its NIC, beside its bytes"},
    Meaning{"fabric", "message_size", "into which larger transfers are cut"},
};

}  // namespace

std::string_view meaning_of(std::string_view preset, std::string_view key) {
  const auto found = std::ranges::find_if(
      kMeanings, [&](const Meaning& meaning) { return meaning.preset == preset && meaning.key == key; });
  return found == kMeanings.end() ? std::string_view() : found->text;
}

}  // namespace c3
