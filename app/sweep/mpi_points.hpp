#pragma once
/// A sweep under mpirun: rank 0 hands out the points, every rank simulates.

#include <memory>
#include <optional>
#include <vector>

#include "app/sweep/point_source.hpp"

namespace c3 {

/// This process as one of several that mpirun started. MPI is begun with it and ends with it.
class MpiWorld {
 public:
  /// Absent when nobody started more than one process. \throws UsageError when somebody did, and c3sim was
  /// built without MPI
  static std::unique_ptr<MpiWorld> join();

  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;
  ~MpiWorld();

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// \param points all of them, of rank 0; the others ask it. Must not outlive this.
  std::unique_ptr<PointSource> points(std::vector<std::size_t> points) const;

 private:
  MpiWorld() = default;

  void* module_ = nullptr;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace c3
