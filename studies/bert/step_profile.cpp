#include "studies/bert/step_profile.hpp"

namespace c3 { inline namespace studies {
namespace {

bool is_in_layer(const ProfiledOperator& kernel) {
  return kernel.name.starts_with("attn.") || kernel.name.starts_with("mlp.");
}

BertClass class_in_layer(const ProfiledOperator& kernel) {
  const std::string role = kernel.name.substr(kernel.name.find('.') + 1);
  if (role == "norm" || role == "residual") return BertClass::norms;
  if (role == "activation") return BertClass::activation;
  const bool is_attention = role == "scores" || role == "softmax" || role == "values";
  if (kernel.is_product()) {
    if (is_attention) return BertClass::attention;
    return kernel.name.starts_with("mlp.") ? BertClass::fc : BertClass::linear;
  }
  return is_attention ? BertClass::scores : BertClass::other;
}

}  // namespace

BertClass class_of(const ProfiledOperator& kernel) {
  if (kernel.range == "optimizer") return BertClass::optimizer;
  if (is_in_layer(kernel)) return class_in_layer(kernel);
  if (kernel.name.starts_with("embedding")) return BertClass::embedding;
  if (kernel.name.starts_with("head") || kernel.name.starts_with("loss")) return BertClass::head;
  return BertClass::other;
}

StepProfile::StepProfile(const Experiment& step) {
  const Script& script = step.program.scripts.front();
  IsolatedTimes times(step.program, step.cluster);
  for (ProfiledOperator& its : profile(step.program, script, step.cluster)) {
    if (its.is_collective()) continue;
    const Seconds time = times.of(script.streams[its.place.stream][its.place.operation]);
    const BertClass of = class_of(its);
    total_ += time;
    times_[of] += time;
    if (!its.is_product()) memory_bound_ += time;
    if (is_in_layer(its)) layers_ += time;
    if (its.is_product() && is_in_layer(its) && its.range.starts_with("forward")) forward_products_[of] += time;
    if (its.name.starts_with("lamb")) optimizer_bytes_ += its.bytes;
    kernels_.push_back({std::move(its), time});
  }
}

Seconds StepProfile::of_class(BertClass of) const {
  const auto found = times_.find(of);
  return found == times_.end() ? Seconds{} : found->second;
}

double StepProfile::forward_product_share(BertClass of) const {
  Seconds all;
  for (const auto& [each, time] : forward_products_)
    all += time;
  return forward_products_.at(of) / all;
}

}}  // namespace c3::studies
