#include "gpu/kernels/operator_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/nearest_name.hpp"
#include "gpu/clock/governor.hpp"

namespace c3 { inline namespace gpu {

extern const OperatorClass kGemmClass;
extern const OperatorClass kAttentionClass;
extern const OperatorClass kVectorClass;
extern const OperatorClass kConvolutionClass;
extern const OperatorClass kEmbeddingClass;
extern const OperatorClass kPoolClass;
extern const OperatorClass kBatchNormClass;
extern const OperatorClass kScanClass;
extern const OperatorClass kCausalConvClass;
extern const OperatorClass kIndexClass;
extern const OperatorClass kIndexSelectClass;

OperatorClasses operator_classes() {
  static constexpr std::array kAll = {
      &kGemmClass,      &kAttentionClass, &kVectorClass,     &kConvolutionClass, &kEmbeddingClass,  &kPoolClass,
      &kBatchNormClass, &kScanClass,      &kCausalConvClass, &kIndexClass,       &kIndexSelectClass};
  return kAll;
}

namespace {

bool has(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

Operator operator_of(const ShapeWords& words, OperatorClasses classes) {
  need(words, "every operator", {ShapeKey::op});
  const std::string_view op = words[ShapeKey::op];
  const std::string_view first = op.substr(0, op.find('+'));
  for (const OperatorClass* each : classes) {
    if (!has(each->operators, first) && !has(each->aliases, first)) continue;
    if (first.size() < op.size() && !each->fuses)
      refuse(ShapeKey::op, fmt::format("'{}' cannot be fused with another operator", first));
    return each->read(words);
  }
  std::vector<std::string> known;
  for (const OperatorClass* each : classes)
    known.insert(known.end(), each->operators.begin(), each->operators.end());
  refuse(ShapeKey::op, unknown_name("operator", first, known));
}

std::string name_of(const Operator& op) {
  const OperatorClass& of = op.of_class();
  return of.name_of == nullptr ? std::string(of.name) : of.name_of(op);
}

Flops matrix_flops(const Operator& op) {
  const OperatorClass& of = op.of_class();
  return of.matrix_flops == nullptr ? Flops{} : of.matrix_flops(op);
}

void GpuUse::add(const GpuUse& other) {
  coefficients.insert(other.coefficients.begin(), other.coefficients.end());
  peaks.insert(other.peaks.begin(), other.peaks.end());
  sustained.insert(other.sustained.begin(), other.sustained.end());
  streamed = streamed || other.streamed;
  everything = everything || other.everything;
}

// A measured level is one of 16-bit products: the power that a board may draw follows from what these sustain.
GpuUse use_of(const Operator& op, const GpuSpec& gpu) {
  const OperatorClass& of = op.of_class();
  if (of.uses == nullptr) return {.everything = true};
  GpuUse use = of.uses(op, gpu);
  if (of.has_product() && is_governed(gpu) && gpu.governor.level.value > 0.0) use.sustained.insert(DType::bf16);
  return use;
}

Bytes output_bytes(const Operator& op) { return op.of_class().output(op); }

Operator part_of(const Operator& op, std::int64_t parts) {
  const OperatorClass& of = op.of_class();
  return of.part == nullptr ? op : of.part(op, parts);
}

std::string_view group_of(const Operator& op) {
  const OperatorClass& of = op.of_class();
  return of.group == nullptr ? of.name : of.group(op);
}

}}  // namespace c3::gpu
