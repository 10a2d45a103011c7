#pragma once
/// How much of a resource, or of several together, is in use: a step function of time.

#include <cstdint>
#include <string>
#include <vector>

namespace c3 { inline namespace results {

class UseCurve {
 public:
  UseCurve() = default;
  explicit UseCurve(std::string name) : name_(std::move(name)) {}

  /// Joins steps that are less than \p resolution [ps] apart, with their mean, so that a curve of a long run
  /// has no more steps than can be seen. The resolution is 0 at first, which joins nothing.
  void coarsen(std::int64_t resolution) { resolution_ = resolution; }

  /// \returns the member's number. Until its first step it is unused.
  std::size_t add_member(double capacity);
  /// Dates never decrease; of equal ones the last holds.
  void step(std::size_t member, std::int64_t time, double used, double capacity);

  const std::string& name() const noexcept { return name_; }
  std::size_t members() const noexcept { return members_.size(); }
  double capacity() const noexcept { return capacity_; }  ///< sum over all members at the start

  /// Mean share of capacity in use, 0 to 1, in each of \p bins equal parts of [0, \p end).
  std::vector<double> shares(std::int64_t end, std::size_t bins) const;
  double mean(std::int64_t end) const;  ///< share in use over [0, end)
  double peak() const;                  ///< largest share in use

 private:
  struct Member {
    double used = 0;
    double capacity = 0;
  };
  struct Step {
    std::int64_t time = 0;
    double share = 0;
  };
  double share_now() const;
  /// Gives the last of \p steps its mean until \p time, if several are one.
  void close_last(std::vector<Step>& steps, std::int64_t time) const;
  std::vector<Step> all_steps() const;

  std::string name_;
  double capacity_ = 0;
  std::vector<Member> members_;
  std::vector<Step> steps_;      // the last may go on
  Step now_;                     // since when the share is what it is
  double area_ = 0;              // integral of share x ps, between the last of steps_ and now
  double peak_ = 0;              // before now
  std::int64_t resolution_ = 0;  // ps
};

}}  // namespace c3::results
