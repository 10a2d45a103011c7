#pragma once
/// What a job of NCCL or RCCL printed about itself: the messages of NCCL_DEBUG=INFO, and the devices and
/// versions that nccl-tests and rccl-tests print. Table of the lines that are read, by repository, commit and
/// file:
///
/// | line | where |
/// | --- | --- |
/// | `NCCL version 2.27.3+cuda12.8` | NVIDIA/nccl 5067397c src/init.cc; RCCL has "+hip6.3" |
/// | `RCCL version : 2.22.3-HEAD:..` | RCCL of ROCm 6.3 and later |
/// | `comm 0x.. rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0` | src/init.cc, from 2.20 |
/// | `comm 0x.. rank 0 nranks 16 cudaDev 0 busId .. - Init COMPLETE` | src/init.cc, all releases |
/// | `24 coll channels, 24 collnet channels, 16 nvls channels, 32 p2p channels` | src/init.cc |
/// | `Channel 00/16 : 0 1 2 3`, `Trees [0] 1/-1/-1->0->-1` | src/graph/rings.cc, src/init.cc |
/// | `Connected all rings`, `NVLS multicast support is available` | src/transport |
/// | `NET/IB : Using [0]mlx5_0:1/IB ..`, `Using network IB`, `NET/Plugin: Loaded net plugin NAME (v8)` |
/// | | src/transport/net_ib, src/init.cc, src/plugin/net |
/// | `NCCL_ALGO set by environment to Ring.`, `reset to NCCL_MIN_CTAS=8` | src/misc/param.cc, src/init.cc |
/// | `AllReduce: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}` | src/enqueue.cc, from 2.24; numbers of
/// | | algorithm and protocol, and a time, from 2.20 to 2.23 |
/// | `AllReduce [Symmetric]: 8 Bytes -> Kernel NAME nchannels 4 ..` | src/scheduler/symmetric_sched.cc |
/// | `# nccl-tests version 2.19.6 nccl-headers=22703 nccl-library=22703` | NVIDIA/nccl-tests a0b82b2
/// src/util.cu | | `#  Rank  0 Group  0 Pid  6899 on node-a device  0 [0000:04:00] NVIDIA H100 80GB HBM3` | the
/// same |

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/call.hpp"

namespace c3 { inline namespace importers {

/// One GPU in nccl-tests' list of devices.
struct LoggedRank {
  int rank = 0;
  int group = 0;  ///< nccl-tests may split ranks into groups that run side by side (NCCL_TESTS_SPLIT)
  std::string host;
  std::string gpu;  ///< name that its driver gives; empty where it is not printed
};

/// How the library ran calls of one size.
struct LoggedChoice {
  std::optional<CollectiveKind> kind;  ///< absent in logs of NCCL 2.20 to 2.22
  Bytes bytes;                         ///< total buffer, as CollectiveCall::bytes
  std::string algorithm;               ///< spelled like c3sim's where it has it: "ring", "nvls_tree"
  std::string protocol;                ///< "ll", "ll128", "simple"; empty for symmetric kernels
  std::optional<int> channels;
  std::size_t calls = 0;
  std::uint32_t line = 0;  ///< line of the first call
};

struct LoggedVariable {
  std::string value;
  std::uint32_t line = 0;  ///< 0 where the file has no lines of its own, as JSON
};

struct LibraryLog {
  std::string library;        ///< "NCCL 2.27.3", "RCCL 2.22.3"; empty where it is not said
  std::string tests_version;  ///< version of nccl-tests or rccl-tests
  /// What nccl-tests was told: whether calls were replayed as a CUDA graph, and GPUs that one thread drove.
  std::optional<bool> graph_launches = std::nullopt;
  std::optional<int> gpus_per_thread = std::nullopt;
  std::vector<LoggedRank> devices;  ///< each once
  /// Size of the communicator with the most ranks, as the library says; ranks also out of the list of devices.
  std::optional<int> ranks = std::nullopt, nodes = std::nullopt;
  bool multi_node_nvlink = false;  ///< NVLink joins hosts (MNNVL)
  std::set<std::string> hosts;     ///< hosts that printed a message
  std::optional<int> channels = std::nullopt, nvls_channels = std::nullopt, p2p_channels = std::nullopt;
  std::optional<int> rings = std::nullopt, trees = std::nullopt;
  bool connected_rings = false;
  std::optional<bool> nvls = std::nullopt;          ///< whether the node's switch multicasts
  std::string network;                              ///< "IB", "Socket", "AWS Libfabric"
  std::set<std::string> nics;                       ///< "mlx5_0:1/IB"
  std::set<std::string> plugins;                    ///< plug-ins of the network
  std::map<std::string, LoggedVariable> variables;  ///< variables of NCCL and RCCL, the last value of each
  std::vector<LoggedChoice> choices;                ///< each once, by first line

  /// Devices of the first group: what took part in one collective. 0 without a list of devices.
  std::size_t listed_ranks() const;
  /// Hosts of these devices, or else those that printed messages, where these are several. 0: it is not said.
  std::size_t host_count() const;
  /// The driver's name of the GPUs; empty where none or several are named.
  std::string gpu() const;
  /// Whether anything of it is there.
  bool has_facts() const;
};

/// Whether \p text has a message of NCCL_DEBUG=INFO, or the line with which NCCL or RCCL says its version.
bool is_library_log(std::string_view text);

/// Reads what is there; lines that are none of the above are passed over.
LibraryLog read_library_log(std::string_view text);

/// The GPU that a line of nccl-tests' list of devices names, from its '#' on. Absent for other lines.
std::optional<LoggedRank> logged_rank(std::string_view line);

/// "ring", "nvls_tree", "collnet": what c3sim calls the algorithm that a library calls \p word, or numbers so.
std::string logged_algorithm(std::string_view word);
/// "ll128", "simple": the same of protocols.
std::string logged_protocol(std::string_view word);

/// Whether \p name can be a variable of NCCL or RCCL: "NCCL_ALGO".
bool is_library_variable(std::string_view name);

/// "2.27.3" of NCCL's number 22703, "2.8.4" of 2804. Absent for what is no such number.
std::optional<std::string> version_of_number(std::int64_t number);

}}  // namespace c3::importers
