#pragma once
/// A processor generation as the host of a GPU, and what a framework's training step costs on it.

#include <string>

#include "engine/units.hpp"
#include "gpu/call_costs.hpp"
#include "workloads/models/framework.hpp"

namespace c3 { inline namespace workloads {

/// Times that one thread of a processor generation needs for the things that PyTorch's eager code does. A
/// framework multiplies each (`Framework::host_forward`, ..). Wrong when: one of these times grows from
/// processor to processor unlike the others within a framework (a driver's part of a launch, Python's part of a
/// layer).
struct Host {
  std::string name;
  Seconds kernel_launch;      ///< one kernel of a forward pass, from the call of its operator
  Seconds collective_launch;  ///< one collective, on the stream that calls it
  Seconds event;              ///< to record an event or to wait for one on a stream
  Seconds layer_forward;      ///< of a layer's forward pass beyond its launches: modules, views, hooks
  Seconds layer_backward;     ///< of its backward pass
  Seconds optimizer;          ///< of its optimizer, once a step, for each tensor that it goes through
  Seconds stall_interval;     ///< of work between two stalls of a thread, on average; 0: it has none
  Seconds stall;              ///< duration of one, on average
  CallCosts calls = {};       ///< one call alone between two events, by operator

  bool operator==(const Host&) const = default;
};

/// What one host thread takes for each thing that a step makes it do.
struct HostCosts {
  Seconds forward_launch;   ///< each kernel forward, computed again, of the optimizer
  Seconds backward_launch;  ///< each kernel of the backward pass
  Seconds collective_launch;
  Seconds event;
  Seconds layer_forward, layer_backward;
  Seconds optimizer;  ///< each tensor that is updated, before the optimizer's first kernel
};

/// The host's times, each by the framework's multiple of it.
inline HostCosts host_costs(const Host& host, const Framework& framework) {
  return {.forward_launch = host.kernel_launch * framework.host_forward,
          .backward_launch = host.kernel_launch * framework.host_backward,
          .collective_launch = host.collective_launch * framework.host_collective,
          .event = host.event * framework.host_event,
          .layer_forward = host.layer_forward * framework.host_layer_forward,
          .layer_backward = host.layer_backward * framework.host_layer_backward,
          .optimizer = host.optimizer * framework.host_optimizer};
}

}}  // namespace c3::workloads
