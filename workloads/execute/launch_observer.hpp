#pragma once
/// What hosts launch, for whoever writes it down.

#include <cstddef>

#include "engine/units.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// One operation of a rank that its host has put into the GPU's queue.
struct HostLaunch {
  int rank = 0;
  OperationPlace place;
  std::size_t thread = 0;  ///< of the rank's host; of a rank without one, the stream
  Seconds came;            ///< when the thread was ready to launch it: before `at` where the queue was full
  Seconds at;
};

class LaunchObserver {
 public:
  LaunchObserver() = default;
  LaunchObserver(const LaunchObserver&) = delete;
  LaunchObserver& operator=(const LaunchObserver&) = delete;
  virtual ~LaunchObserver() = default;

  /// In the order of dates, and those of a thread in its order. Everything of a rank without a host is launched
  /// when the rank begins, stream by stream as the strategy enqueues them.
  virtual void launched(const HostLaunch& launch) = 0;
};

}}  // namespace c3::workloads
