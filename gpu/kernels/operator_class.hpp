#pragma once
/// A class of operators (products, attention, ..): how its operators are written, what they compute, and as
/// which kernel they run. One entry a class, listed in operator_table.cpp.

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/units.hpp"
#include "gpu/channels/footprint.hpp"
#include "gpu/kernel.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/kernels/shape_words.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// Which numbers of a GPU, beside those of its memory and caches, the plan, the time or the share of the peak
/// of a kernel depend on.
struct GpuUse {
  std::set<std::string_view> coefficients = {};  ///< classes of coefficients: names of kKernelClasses
  std::set<DType> peaks = {};                    ///< types whose peak rate matters
  std::set<DType> sustained = {};                ///< types whose sustained rate, and its clock, matter
  bool streamed = false;                         ///< what GemmTraffic::streamed is timed by
  bool everything = false;                       ///< all of the above: its class does not say

  void add(const GpuUse& other);
};

/// What kernels on vector units depend on, with the coefficients of class \p coefficients.
inline GpuUse use_of_vector_units(std::string_view coefficients) {
  return {.coefficients = {coefficients}, .peaks = {DType::fp32}};
}

/// Members without a default are required. A function is called with operators of its own class only; on_shape
/// makes it from one that takes their shape.
struct OperatorClass {
  std::string_view name;                           ///< "gemm"
  std::span<const std::string_view> operators;     ///< words of `op` that mean one of its operators
  std::span<const std::string_view> aliases = {};  ///< further words, of other tools
  Operator (*read)(const ShapeWords& words);       ///< \throws ShapeError
  std::vector<ShapeField> (*fields)(
      const Operator& op);                        ///< what `read` takes, but `op`, in the order of tables
  std::string (*shape_text)(const Operator& op);  ///< for people: "4096 x 4096 x 8192 bf16"
  /// \throws InfeasibleError when the GPU lacks the data type, a size is out of range, or a kernel of this kind
  /// cannot be built.
  KernelDescription (*describe)(const Operator& op, std::string name, const GpuSpec& gpu);
  /// The same by the kernel that is fastest on a slice of the GPU; nullptr: its libraries have one kernel.
  KernelDescription (*describe_tuned)(const Operator& op, std::string name, const GpuSpec& gpu,
                                      const KernelSlice& slice) = nullptr;
  Bytes (*output)(const Operator& op);  ///< what it writes

  std::string (*name_of)(const Operator& op) = nullptr;  ///< as a word of `op`; nullptr: the class's name
  /// Type of the operands of its matrix products; nullptr: it has none. Operators without products move bytes,
  /// and find some of them in the caches.
  DType (*multiplies)(const Operator& op) = nullptr;
  bool fuses = false;                                   ///< whether its operators joined by '+' are one kernel
  Flops (*matrix_flops)(const Operator& op) = nullptr;  ///< nullptr: none
  /// The class of coefficients (kKernelClasses) that its time takes; nullptr: none.
  std::string_view (*coefficients)(const Operator& op) = nullptr;
  /// Which numbers of a GPU can change its time; nullptr: any.
  GpuUse (*uses)(const Operator& op, const GpuSpec& gpu) = nullptr;
  /// Numbers that are the same for operators that a calibration holds out together, as the passes of one layer;
  /// nullptr: only equal operators are alike.
  std::vector<std::int64_t> (*shape_numbers)(const Operator& op) = nullptr;
  /// Which addresses it touches at about the same time, by phase of its call; nullptr: all channels of memory
  /// alike.
  std::vector<TouchedPhase> (*touches)(const Operator& op, const GpuSpec& gpu) = nullptr;
  /// Under which a step's times are summed up: "norm"; nullptr: the class's name.
  std::string_view (*group)(const Operator& op) = nullptr;
  /// The operator on one of \p parts of its rows; nullptr: it is not cut.
  Operator (*part)(const Operator& op, std::int64_t parts) = nullptr;

  bool has_product() const { return multiplies != nullptr; }
};

/// Makes a function of the shape, `R f(const Shape&, ..)` or `R f(std::string, const Shape&, ..)`, one of the
/// operator.
template <class Function>
struct OnShape;
template <class Result, class Shape, class... Rest>
struct OnShape<Result (*)(const Shape&, Rest...)> {
  template <Result (*function)(const Shape&, Rest...)>
  static Result call(const Operator& op, Rest... rest) {
    return function(*op.as<Shape>(), std::forward<Rest>(rest)...);
  }
};
template <class Result, class Shape, class... Rest>
struct OnShape<Result (*)(std::string, const Shape&, Rest...)> {
  template <Result (*function)(std::string, const Shape&, Rest...)>
  static Result call(const Operator& op, std::string name, Rest... rest) {
    return function(std::move(name), *op.as<Shape>(), std::forward<Rest>(rest)...);
  }
};
template <auto function>
inline constexpr auto on_shape = &OnShape<decltype(function)>::template call<function>;

}}  // namespace c3::gpu
