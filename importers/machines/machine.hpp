#pragma once
/// A machine as tools describe it: processors, PCIe switches, GPUs, what joins these, NICs.

#include <string>
#include <vector>

namespace c3 { inline namespace importers {

struct PcieLink {
  int generation = 0;  ///< 1 to 6; 0: not said
  int lanes = 0;       ///< 0: not said

  bool operator==(const PcieLink&) const = default;
};

/// GB/s of one direction on the wire; 0 where the generation is not said. 16 lanes where those are not.
double raw_rate(const PcieLink& link);
/// The one that carries less; one that says nothing does not narrow the other.
PcieLink narrower(const PcieLink& a, const PcieLink& b);

/// A processor or a PCIe switch.
struct Hub {
  std::string name;  ///< "cpu0" or "sw3"
  int parent = -1;   ///< a hub that comes earlier; -1: this is a processor
  PcieLink up = {};  ///< link to the parent

  bool is_processor() const { return parent < 0; }
};

struct MachineGpu {
  std::string name;  ///< name in the file: "0000:3b:00.0", "GPU3"
  int hub = -1;      ///< -1: the file does not say
  PcieLink up = {};
};

struct MachineNic {
  std::string name;
  int hub = -1;  ///< -1: the file does not say
  PcieLink up = {};
  double gigabits = 0.0;  ///< Gb/s; 0: not said
};

/// `count` links of NVLink or xGMI between two GPUs, or between one and the switch.
struct GpuLink {
  static constexpr int kSwitch = -1;
  int a = 0;
  int b = kSwitch;
  int count = 0;
};

/// What a file says the GPUs are; empty and 0 where it does not.
struct GpuNames {
  std::string pci = {};      ///< "10de:2330"
  std::string product = {};  ///< "NVIDIA H100 80GB HBM3"
  std::string chip = {};     ///< "gfx942", "sm_90"
  int units = 0;             ///< SMs or CUs

  bool operator==(const GpuNames&) const = default;
};

enum class NicKind { not_said, infiniband, ethernet, slingshot, efa_p4d, efa_p5, efa_p5en };

struct Machine {
  std::vector<Hub> hubs = {};
  std::vector<MachineGpu> gpus = {};
  std::vector<MachineNic> nics = {};
  std::vector<GpuLink> links = {};  ///< each pair once, a < b
  bool lists_links = false;         ///< the file would have links of GPUs if there were some
  GpuNames gpu = {};                ///< all are alike
  std::string preset = {};          ///< the GPU's preset, once it is known
  NicKind nic_kind = NicKind::not_said;
  std::string processor = {};  ///< maker, as CPUID has it: "GenuineIntel"
  int processor_family = 0;
  int processor_model = 0;
  bool is_below_one_switch = false;  ///< prune_hubs took the only way down from the only processor for that
};

/// Leaves hubs out that nothing passes: those that lead to no GPU, whose NICs move up, and switches with one
/// GPU or one further hub and no NIC, whose links become one. Where one switch leads to everything, it stands
/// for the processor above it. GPUs and NICs keep their order, hubs are named anew.
void prune_hubs(Machine& machine);

/// PCIe switches.
int switch_count(const Machine& machine);

/// Whether links of GPUs alone, or a switch of theirs, join all.
bool links_join_all(const Machine& machine);

/// PCIe between a GPU and the NIC that is nearest to it; says nothing where the file does not.
PcieLink path_to_nic(const Machine& machine);

/// NICs in the order of the GPUs that they are nearest to.
void order_nics(Machine& machine);

}}  // namespace c3::importers
