#pragma once
/// How much of a resource, or of several together, is in use: a step function of time.

#include <cstdint>
#include <string>
#include <vector>

namespace c3 {

class UseCurve {
 public:
  UseCurve() = default;
  explicit UseCurve(std::string name) : name_(std::move(name)) {}

  /// \returns the member's number. Until its first step it is unused.
  std::size_t add_member(double capacity);
  /// Dates never decrease; of equal ones the last holds.
  void step(std::size_t member, std::int64_t time, double used, double capacity);

  const std::string& name() const noexcept { return name_; }
  std::size_t members() const noexcept { return members_.size(); }
  double capacity() const noexcept { return capacity_; }  ///< of all members at the start

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
  std::string name_;
  double capacity_ = 0;
  std::vector<Member> members_;
  std::vector<Step> steps_;
};

}  // namespace c3
