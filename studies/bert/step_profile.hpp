#pragma once
/// Steps of BERT-Large as a profiler sees them: kernels alone, summed up by what they do.

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "workloads/analysis/operator_profile.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace studies {

/// What kernels of a step do, as the paper's figures divide them.
enum class BertClass { linear, fc, attention, scores, activation, norms, embedding, head, optimizer, other };
constexpr auto enum_names(BertClass) {
  return std::to_array<EnumName<BertClass>>({{"linear", BertClass::linear},
                                             {"fc", BertClass::fc},
                                             {"attention", BertClass::attention},
                                             {"scores", BertClass::scores},
                                             {"activation", BertClass::activation},
                                             {"norms", BertClass::norms},
                                             {"embedding", BertClass::embedding},
                                             {"head", BertClass::head},
                                             {"optimizer", BertClass::optimizer},
                                             {"other", BertClass::other}});
}

/// Projections of attention (linear), the two products of the feed-forward block (fc), attention's batched
/// products, what stands between those (scores), the activation, norms with dropout and residual sums, and what
/// is not in layers; biases' gradients, casts and sums of gradients are `other`.
BertClass class_of(const ProfiledOperator& kernel);

/// A kernel and its time alone.
struct TimedKernelOfStep {
  ProfiledOperator what;
  Seconds time;
};

class StepProfile {
 public:
  /// Of the only script of \p step, collectives left out.
  explicit StepProfile(const Experiment& step);

  Seconds total() const { return total_; }
  double share(BertClass of) const { return of_class(of) / total_; }
  /// Of kernels that are no products.
  double memory_bound_share() const { return memory_bound_ / total_; }
  /// Of what is in the layers, forward and backward.
  double layers_share() const { return layers_ / total_; }
  /// Of linear, fc and attention's products forward.
  double forward_product_share(BertClass of) const;
  /// What the optimizer's own kernels read and write.
  Bytes optimizer_bytes() const { return optimizer_bytes_; }
  const std::vector<TimedKernelOfStep>& kernels() const { return kernels_; }

 private:
  Seconds of_class(BertClass of) const;

  std::vector<TimedKernelOfStep> kernels_;
  std::map<BertClass, Seconds> times_, forward_products_;
  Seconds total_, memory_bound_, layers_;
  Bytes optimizer_bytes_;
};

}}  // namespace c3::studies
