#pragma once
/// Who says which point is next: this process, or rank 0 of an MPI job.

#include <cstddef>
#include <optional>
#include <vector>

namespace c3 { inline namespace app {

/// Points that came to an end, of one process or of all.
struct PointCounts {
  std::size_t simulated = 0;
  std::size_t failed = 0;  ///< how many of these failed

  PointCounts& operator+=(const PointCounts& more) {
    simulated += more.simulated;
    failed += more.failed;
    return *this;
  }
};

class PointSource {
 public:
  virtual ~PointSource() = default;

  /// The next point to simulate; absent when there are no more, from then on for good.
  virtual std::optional<std::size_t> next() = 0;
  /// \p counts came to an end in this process. Called often: others are served meanwhile.
  virtual void account(const PointCounts& counts) = 0;
  /// The counts of everybody whose points come out of this source.
  virtual PointCounts total() const = 0;
  /// Whether others may still come for points.
  virtual bool serves_others() const = 0;
  /// No more points for anybody.
  virtual void stop() = 0;
};

/// A list.
class ListedPoints : public PointSource {
 public:
  explicit ListedPoints(std::vector<std::size_t> points) : points_(std::move(points)) {}

  std::optional<std::size_t> next() override;
  void account(const PointCounts& counts) override { total_ += counts; }
  PointCounts total() const override { return total_; }
  bool serves_others() const override { return false; }
  void stop() override { given_ = points_.size(); }

 private:
  std::vector<std::size_t> points_;
  std::size_t given_ = 0;
  PointCounts total_;
};

}}  // namespace c3::app
