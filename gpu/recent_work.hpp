#pragma once
/// Whether a kernel finds the GPU as a loop of itself leaves it.

#include <string>
#include <string_view>
#include <vector>

namespace c3 { inline namespace gpu {

/// Kernels and collectives of one GPU in the order in which they began, by name. A matrix product takes longer
/// right after other work than in a loop of itself (ROCm/tritonBLAS on MI300X: measured, its cause unknown),
/// and benchmarks of products are loops: HypothesisSpec::product_after_others is how much longer.
/// Wrong when: two kernels of one name are unlike; the state wears off within a long kernel.
class RecentWork {
 public:
  /// With \p on false it keeps nothing, and nothing ever is other work.
  explicit RecentWork(bool on) : on_(on) {}

  void begin(std::string_view name);
  void end(std::string_view name);

  /// Whether work that is not called \p name runs now, or began since what is called so began before.
  bool is_other_than(std::string_view name) const;

 private:
  bool on_;
  std::vector<std::string> running_;
  std::string last_, before_;  ///< that began; empty: none
};

}}  // namespace c3::gpu
