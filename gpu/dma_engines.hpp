#pragma once
/// Copy engines: they move bytes without CUs, and cannot add.

#include <cstdint>
#include <vector>

#include "engine/fifo_lock.hpp"
#include "engine/simulation.hpp"
#include "gpu/spec.hpp"

namespace c3 {

/// The copy engines of one GPU, and the host thread that feeds them.
class DmaEngines {
 public:
  DmaEngines(Simulation& simulation, const DmaSpec& spec, int rank);

  const DmaSpec& spec() const { return spec_; }
  FifoLock& host() { return host_; }
  FifoLock& queue(int engine) { return queues_[static_cast<std::size_t>(engine)]; }
  ResourceId bandwidth(int engine) const { return bandwidth_[static_cast<std::size_t>(engine)]; }

 private:
  const DmaSpec& spec_;
  FifoLock host_;
  std::vector<FifoLock> queues_;
  std::vector<ResourceId> bandwidth_;
};

/// Bytes that one engine moves in a copy.
struct EngineUse {
  DmaEngines* engines = nullptr;
  int engine = 0;
  Bytes bytes;
  int legs = 1;  ///< transfers that the engine serves one after another
};

/// One flow on one engine, or on several in lock step (a gang).
struct DmaCopy {
  std::vector<EngineUse> uses;
  std::vector<Demand> path;  ///< HBM, links, HBM of the far side: everything but the engines; whole copy
  int commands = 1;          ///< that each engine serves one after another; each pays its phases
  Seconds latency;           ///< of the way, paid by each command
  double weight = 1.0;       ///< at the resources of `path`, see Memory::weight
  ActivityInfo info;         ///< of the transfer, for observers
};

/// Runs a copy to its end. A command passes four phases: control (host, one command at a time for a GPU),
/// schedule (doorbell and fetch), copy (at most the engine's bandwidth) and sync (completion signal); an engine
/// serves one command at a time. \p activity receives the transfer's activity when its engines take it up.
/// Source: phases of DMA collectives on MI300X (arXiv 2511.06605).
/// Wrong when: commands are queued ahead (prelaunch), which hides control and schedule.
Task run_copy(Simulation& simulation, DmaCopy copy, ActivityId* activity);

}  // namespace c3
