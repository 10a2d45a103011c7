#pragma once
/// Smaller steps from which the time of a training step follows.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "workloads/execute/flow_corrections.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// Three sizes of a step, equally far apart, from which larger ones follow.
struct Sizes {
  std::array<std::int64_t, 3> of;
  std::int64_t whole = 0;

  bool is_shortened() const { return whole > of.back(); }
  std::int64_t first() const { return is_shortened() ? of[0] : whole; }
  std::int64_t last() const { return is_shortened() ? of[2] : whole; }
  /// The same distance apart, each that much larger.
  Sizes larger() const { return {{of[1], of[2], of[2] + (of[2] - of[1])}, whole}; }
  /// The one at \p place, or the whole where that is not shortened.
  std::int64_t at(std::size_t place) const { return is_shortened() ? of[place] : whole; }
  /// What lies beyond the one at \p place, the last by default, in distances between two.
  double beyond(std::size_t place = 2) const {
    return is_shortened() ? static_cast<double>(whole - of[place]) / static_cast<double>(of[2] - of[1]) : 0.0;
  }

  bool operator==(const Sizes&) const = default;
};

/// Of layers, and of micro-batches.
Sizes layers_of(const ProgramFamily& family);
Sizes micro_batches_of(const ProgramFamily& family);

/// "8 of 32 layers and 4 of 16 micro-batches"
std::string part_text(const Sizes& layers, const Sizes& micro_batches);

/// The same step with so many layers and micro-batches.
Experiment resized(const Experiment& experiment, const StepSize& size);

/// Whether run_step() may take the time of \p experiment from smaller steps.
bool may_be_shortened(const Experiment& experiment);

/// The smallest of the steps from which the time of \p family's follows where it is shortened.
std::shared_ptr<const ProgramFamily> smallest(const ProgramFamily& family);

/// The smallest of the steps from which the time of \p experiment follows where it is shortened.
/// \pre it is a training step
Experiment smallest(const Experiment& experiment);

/// A step at the sizes from which its time follows, each written once: the parts of a study that run it under
/// other strategies, seeds or filters share them.
class ShorterSteps {
 public:
  /// \p whole must outlive it.
  explicit ShorterSteps(const Experiment& whole) : whole_(whole) {}

  const Experiment& whole() const { return whole_; }
  /// Of its kernels, for the runs of all sizes.
  const std::shared_ptr<FlowCorrections>& corrections() const { return corrections_; }
  /// As resized(). The reference stays valid until clear().
  const Experiment& at(const StepSize& size);
  const Experiment& smallest();
  /// Gives their memory back.
  void clear() { written_.clear(); }

 private:
  const Experiment& whole_;
  std::map<StepSize, Experiment> written_;
  std::shared_ptr<FlowCorrections> corrections_ = std::make_shared<FlowCorrections>();
};

/// How many micro-batches say what a step of \p family needs and takes, together with those of its next size:
/// all of them where \p estimator shortens nothing, or where both sizes together are no shorter than the whole.
std::int64_t outlined_micro_batches(const ProgramFamily& family, Estimator estimator);

/// Which part of \p experiment abridged() is: "8 of 32 layers and 4 of 16 micro-batches".
/// \pre it is a training step that is shortened
std::string abridged_part(const Experiment& experiment);

/// The largest of the steps from which the time of \p experiment follows where it is shortened.
/// \pre it is a training step
Experiment abridged(const Experiment& experiment);

}}  // namespace c3::workloads
