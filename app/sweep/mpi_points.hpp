#pragma once
/// A sweep under mpirun: rank 0 hands out the points, every rank simulates.

#include <memory>
#include <optional>
#include <vector>

#include "app/sweep/point_source.hpp"
#include "base/module.hpp"

namespace c3 { inline namespace app {

/// This process as one of several that mpirun started. MPI is begun with it and ends with it: rank 0 waits
/// until all others have left, also when an error ends it, and tells who still asks that there are no more
/// points.
class MpiWorld {
 public:
  /// Absent when nobody started more than one process. \throws UsageError when somebody did, and c3sim was
  /// built without MPI
  static std::unique_ptr<MpiWorld> join();

  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;
  ~MpiWorld();

  int rank() const { return rank_; }
  /// \param points all of them, of rank 0; the others ask it. Must not outlive this.
  std::unique_ptr<PointSource> points(std::vector<std::size_t> points);

  /// Rank 0 only: answers who asks now, with \p points. \returns what others say that they have done.
  PointCounts answer(ListedPoints& points);
  /// Rank 0 only: how many others have not left.
  int others() const { return others_; }
  /// Other ranks only: asks rank 0 for a point, and tells it what was done.
  std::optional<std::size_t> ask(const PointCounts& done);
  void leave(const PointCounts& done);  ///< likewise, the last word

 private:
  explicit MpiWorld(Module module);

  Module module_;
  int rank_ = 0;
  int others_ = 0;
  bool has_left_ = false;
};

}}  // namespace c3::app
