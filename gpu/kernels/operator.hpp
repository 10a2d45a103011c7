#pragma once
/// What a kernel computes: an operator of some class, with its shape. Shapes say nothing of a GPU.

#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/enum_names.hpp"

namespace c3 { inline namespace gpu {

struct OperatorClass;

/// Which half of a training step. A backward operator takes the gradient of its output and makes those of its
/// inputs.
enum class Pass { forward, backward };
constexpr auto enum_names(Pass) {
  return std::to_array<EnumName<Pass>>({{"forward", Pass::forward}, {"backward", Pass::backward}});
}

/// Which operands the kernel before has left in the last-level cache, as far as they fit.
enum class WarmOperands : std::uint8_t {
  none,
  activations,  ///< A of a product: just written, or read by the same product with other weights
  all,          ///< the same kernel was repeated on the same buffers
};
constexpr auto enum_names(WarmOperands) {
  return std::to_array<EnumName<WarmOperands>>(
      {{"none", WarmOperands::none}, {"activations", WarmOperands::activations}, {"all", WarmOperands::all}});
}

/// A shape with a class: `operator_class(shape)` is declared beside it.
template <class Shape>
concept OperatorShape = requires(const Shape& shape) {
  { operator_class(shape) } -> std::same_as<const OperatorClass&>;
} && std::equality_comparable<Shape>;

/// An operator of any class. Copies share its shape, which never changes.
class Operator {
 public:
  template <OperatorShape Shape>
  Operator(Shape shape)  // NOLINT(google-explicit-constructor): a shape is an operator
      : held_(std::make_shared<const Held<Shape>>(std::move(shape))) {}

  const OperatorClass& of_class() const { return held_->of_class(); }

  /// The shape when it is of this type, nullptr otherwise.
  template <OperatorShape Shape>
  const Shape* as() const {
    const auto* held = dynamic_cast<const Held<Shape>*>(held_.get());
    return held == nullptr ? nullptr : &held->shape;
  }

  friend bool operator==(const Operator& a, const Operator& b) {
    return a.held_ == b.held_ || a.held_->equals(*b.held_);
  }

 private:
  struct AnyShape {
    virtual ~AnyShape() = default;
    virtual const OperatorClass& of_class() const = 0;
    virtual bool equals(const AnyShape& other) const = 0;
  };
  template <class Shape>
  struct Held final : AnyShape {
    explicit Held(Shape of) : shape(std::move(of)) {}
    const OperatorClass& of_class() const override { return operator_class(shape); }
    bool equals(const AnyShape& other) const override {
      const auto* same = dynamic_cast<const Held*>(&other);
      return same != nullptr && same->shape == shape;
    }
    Shape shape;
  };

  std::shared_ptr<const AnyShape> held_;
};

}}  // namespace c3::gpu
