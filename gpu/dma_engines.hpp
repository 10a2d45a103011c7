#pragma once
/// Copy engines: they move bytes without CUs, and cannot add.

#include <vector>

#include "engine/event.hpp"
#include "engine/fifo_lock.hpp"
#include "engine/simulation.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// The copy engines of one GPU, and a host thread that feeds them alone.
class DmaEngines {
 public:
  DmaEngines(Simulation& simulation, const DmaSpec& spec, int rank);

  const DmaSpec& spec() const { return spec_; }
  int rank() const { return rank_; }
  FifoLock& host() { return host_; }
  FifoLock& queue(int engine) { return queues_[static_cast<std::size_t>(engine)]; }
  ResourceId bandwidth(int engine) const { return bandwidth_[static_cast<std::size_t>(engine)]; }

 private:
  const DmaSpec& spec_;
  int rank_;
  FifoLock host_;
  std::vector<FifoLock> queues_;
  std::vector<ResourceId> bandwidth_;
};

/// An engine that a copy holds from schedule to sync.
struct EngineUse {
  DmaEngines* engines = nullptr;
  int engine = 0;
  FifoLock* host = nullptr;  ///< the thread that rings its doorbell
  int submissions = 1;       ///< of a gang, which it serves one after another
  int first = 1;             ///< place of its first submission among those of its host
  int last = 1;              ///< place of its last one
  Seconds alone = {};        ///< that its bytes take at its bandwidth: when its signals come, in a gang
};

/// What moves at once: one command, or one of each engine of a gang.
struct DmaStage {
  std::vector<Demand> demands;  ///< the engines among them
  double weight = 1.0;          ///< at the other resources, see Memory::weight
  PriorityClass priority = 0;
};

/// What one doorbell asks of an engine; of a gang, several engines in lock step.
struct DmaCopy {
  std::vector<EngineUse> uses;
  std::vector<DmaStage> stages;  ///< commands, one after another; one completion signal at the end
  int hops = 1;                  ///< doorbells one after another, each of which pays its phases
  Seconds latency;               ///< of the way, paid at each hop
  bool prelaunched = false;      ///< queued ahead: the engine polls for a trigger
  ActivityInfo info;             ///< of the transfer, for observers
};

/// Runs a copy until its host knows that it has ended. It passes the phases control (host, one submission at a
/// time), schedule (doorbell and fetch), copy (copy_latency, way, and the bytes at no more than the engine's
/// bandwidth), sync (completion signal) and observe (host, one signal at a time). Prelaunched, a trigger stands
/// in place of control and schedule. An engine serves one submission at a time; within one, a copy is fetched
/// while the last one runs and costs next_copy. \p activity receives the transfer's activity when its engines
/// take it up; \p signalled is set before the host observes.
/// Source: phases of DMA commands on MI300X (arXiv 2511.06605).
/// Wrong when: a host thread is late, because it does other work; engines fetch the next submission early.
Task run_copy(Simulation& simulation, DmaCopy copy, ActivityId* activity, Event* signalled);

}}  // namespace c3::gpu
