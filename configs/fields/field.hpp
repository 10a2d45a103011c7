#pragma once
/// The keys of a spec as a table: what each is called, means, allows and fills. A spec is read from its table,
/// and whoever must not forget a rate or a latency goes through the same table: what-if factors, overrides that
/// move what was measured against them, the schema's texts and the metamorphic tests.

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/enum_names.hpp"
#include "configs/fields/when.hpp"
#include "configs/toml/section.hpp"
#include "engine/units.hpp"

namespace c3 { inline namespace configs {

/// The range of a number without unit; both ends are allowed.
struct Limits {
  double low = 0.0;
  double high = 0.0;
};

/// A number with a unit that a spec holds.
struct QuantityOf {
  double* value;
  Dimension dimension;
};

/// One key of \p Spec.
template <class Spec>
struct Field {
  using Read = void (*)(Section&, std::string_view key, const Field&, Spec&);
  using Quantity = double* (*)(Spec&);
  using Value = PlainValue (*)(const Spec&);

  std::string_view key;
  std::string_view meaning;  ///< one line, for schemas and for the list of keys that a file lacks
  Read read = nullptr;
  Quantity quantity = nullptr;  ///< the number where it has a unit; null where the spec has none
  Value value = nullptr;        ///< what the spec holds, where a file has it as one plain value
  Dimension dimension = Dimension::bytes;
  Limits limits = {};
  bool may_be_zero = false;     ///< bytes only; durations always may
  bool may_be_absent = false;   ///< then the spec's own value stays
  bool depends = false;         ///< without the key, on other keys
  std::string_view peak = {};   ///< key of the same table, or "node.link_raw": what it was measured against
  std::string_view scale = {};  ///< what-if factor
  Conditions conditions = {};   ///< when it matters to a run

  /// The file may leave it out.
  constexpr Field optional() const {
    return with([](Field& field) { field.may_be_absent = true; });
  }
  /// The file may leave it out, and other keys decide then.
  constexpr Field by_others() const {
    return with([](Field& field) { field.may_be_absent = field.depends = true; });
  }
  /// Zero means that there is none.
  constexpr Field or_none() const {
    return with([](Field& field) { field.may_be_zero = true; });
  }
  /// The value is kept as a share of the key \p peak_key: overriding that key alone multiplies both
  /// (preset_override.hpp).
  constexpr Field share_of(std::string_view peak_key) const {
    return with([=](Field& field) { field.peak = peak_key; });
  }
  /// The what-if factor \p name multiplies it, and divides it where it is a duration.
  constexpr Field scaled_by(std::string_view name) const {
    return with([=](Field& field) { field.scale = name; });
  }
  /// The key matters only to runs for which all conditions hold; users are told the first that does not.
  constexpr Field used_if(When first, When second = When::always) const {
    return with([=](Field& field) {
      append(field.conditions, first);
      append(field.conditions, second);
    });
  }

 private:
  template <class Change>
  constexpr Field with(Change change) const {
    Field field = *this;
    change(field);
    return field;
  }
};

namespace detail {

template <class>
struct MemberPointer;
template <class Owner, class Value>
struct MemberPointer<Value Owner::*> {
  using Spec = Owner;
  using Type = Value;
};
template <auto Member>
using SpecOf = typename MemberPointer<decltype(Member)>::Spec;
template <auto Member>
using TypeOf = typename MemberPointer<decltype(Member)>::Type;

template <class T>
struct Plain {
  using Type = T;
};
template <class T>
struct Plain<std::optional<T>> {
  using Type = T;
};

template <class Q>
constexpr Dimension dimension_of() {
  if constexpr (std::same_as<Q, Bytes>) return Dimension::bytes;
  if constexpr (std::same_as<Q, Seconds>) return Dimension::duration;
  if constexpr (std::same_as<Q, BytesPerSecond>) return Dimension::bandwidth;
  if constexpr (std::same_as<Q, FlopsPerSecond>) return Dimension::flop_rate;
  if constexpr (std::same_as<Q, Hertz>) return Dimension::frequency;
  if constexpr (std::same_as<Q, Watts>) return Dimension::power;
}

template <class Q>
Q read_quantity(Section& section, std::string_view key, bool may_be_zero) {
  if constexpr (std::same_as<Q, Bytes>) return may_be_zero ? section.bytes_or_none(key) : section.bytes(key);
  if constexpr (std::same_as<Q, Seconds>) return section.duration(key);
  if constexpr (std::same_as<Q, BytesPerSecond>) return section.bandwidth(key);
  if constexpr (std::same_as<Q, FlopsPerSecond>) return section.flop_rate(key);
  if constexpr (std::same_as<Q, Hertz>) return section.frequency(key);
  if constexpr (std::same_as<Q, Watts>) return section.power(key);
}

/// The member as a file has it; nullptr for what has a unit, is a list or a chosen name.
template <auto Member>
constexpr auto plain_value_of() -> typename Field<SpecOf<Member>>::Value {
  using Spec = SpecOf<Member>;
  using Type = TypeOf<Member>;
  if constexpr (std::same_as<Type, bool> || std::same_as<Type, double>)
    return [](const Spec& spec) -> PlainValue { return spec.*Member; };
  else if constexpr (std::integral<Type>)
    return [](const Spec& spec) -> PlainValue { return static_cast<std::int64_t>(spec.*Member); };
  else if constexpr (NamedEnum<Type>)
    return [](const Spec& spec) -> PlainValue { return name_of(spec.*Member); };
  else
    return nullptr;
}

/// Fits whatever a member is made from.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): it stands for any initialiser
};

}  // namespace detail

/// Members of an aggregate without base classes.
template <class Spec, class... Known>
consteval std::size_t member_count() {
  if constexpr (requires { Spec{Known{}..., detail::Anything{}}; }) {
    return member_count<Spec, Known..., detail::Anything>();
  } else {
    return sizeof...(Known);
  }
}

/// Bytes, a duration, a rate or a clock, with its unit.
template <auto Member>
constexpr auto quantity(std::string_view key, std::string_view meaning) {
  using Spec = detail::SpecOf<Member>;
  using Type = detail::TypeOf<Member>;
  using Q = typename detail::Plain<Type>::Type;
  Field<Spec> field{.key = key, .meaning = meaning};
  field.dimension = detail::dimension_of<Q>();
  field.read = [](Section& section, std::string_view name, const Field<Spec>& declared, Spec& spec) {
    spec.*Member = detail::read_quantity<Q>(section, name, declared.may_be_zero);
  };
  field.quantity = [](Spec& spec) -> double* {
    if constexpr (std::same_as<Type, Q>) {
      return &(spec.*Member).value;
    } else {
      return (spec.*Member).has_value() ? &(spec.*Member)->value : nullptr;
    }
  };
  return field;
}

/// A number without unit, whole where the member is an integer.
template <auto Member>
constexpr auto number(std::string_view key, Limits limits, std::string_view meaning) {
  using Spec = detail::SpecOf<Member>;
  using Type = detail::TypeOf<Member>;
  Field<Spec> field{.key = key, .meaning = meaning};
  field.value = detail::plain_value_of<Member>();
  field.limits = limits;
  field.read = [](Section& section, std::string_view name, const Field<Spec>& declared, Spec& spec) {
    if constexpr (std::integral<Type>) {
      spec.*Member = static_cast<Type>(section.integer(name, static_cast<std::int64_t>(declared.limits.low),
                                                       static_cast<std::int64_t>(declared.limits.high)));
    } else {
      spec.*Member = section.fraction(name, declared.limits.high, declared.limits.low);
    }
  };
  return field;
}

/// What \p Read makes of the value: true or false, a name, a list of texts.
template <auto Member, auto Read>
constexpr auto read_by(std::string_view key, std::string_view meaning) {
  using Spec = detail::SpecOf<Member>;
  Field<Spec> field{.key = key, .meaning = meaning};
  field.value = detail::plain_value_of<Member>();
  field.read = [](Section& section, std::string_view name, const Field<Spec>&, Spec& spec) {
    spec.*Member = Read(section, name);
  };
  return field;
}

template <auto Member>
constexpr auto flag(std::string_view key, std::string_view meaning) {
  return read_by<Member, [](Section& section, std::string_view name) { return section.sourced_flag(name); }>(
      key, meaning);
}

/// True or false, of which nobody says where it comes from.
template <auto Member>
constexpr auto plain_flag(std::string_view key, std::string_view meaning) {
  return read_by<Member, [](Section& section, std::string_view name) { return section.flag(name); }>(key,
                                                                                                     meaning);
}

/// One of an enumeration's names.
template <auto Member>
constexpr auto choice(std::string_view key, std::string_view meaning) {
  return read_by<Member, [](Section& section, std::string_view name) {
    return section.choice<typename detail::Plain<detail::TypeOf<Member>>::Type>(name);
  }>(key, meaning);
}

/// A name that no list limits.
template <auto Member>
constexpr auto sourced_slug(std::string_view key, std::string_view meaning) {
  return read_by<Member, [](Section& section, std::string_view name) { return section.sourced_slug(name); }>(
      key, meaning);
}

/// \p fields, which matter only to runs for which all \p conditions hold, before those of their own.
template <When... conditions, class Spec, std::size_t N>
constexpr std::array<Field<Spec>, N> used_if(std::array<Field<Spec>, N> fields) {
  for (Field<Spec>& field : fields) {
    for (const When own : std::exchange(field.conditions, {conditions...}))
      if (own != When::always) append(field.conditions, own);
  }
  return fields;
}
template <When... conditions, class Spec, std::size_t N>
constexpr std::array<Field<Spec>, N> used_if(Field<Spec> (&&fields)[N]) {
  return used_if<conditions...>(std::to_array(std::move(fields)));
}

/// What a spec has without the key, where a file could have said so.
template <class Spec>
PlainValue default_of(const Field<Spec>& field) {
  if (!field.may_be_absent || field.depends || field.value == nullptr) return {};
  const PlainValue value = field.value(Spec{});
  const auto* count = std::get_if<std::int64_t>(&value);
  const bool is_written = count == nullptr || (static_cast<double>(*count) >= field.limits.low &&
                                               static_cast<double>(*count) <= field.limits.high);
  return is_written ? value : PlainValue{};
}

template <class Spec>
void read_field(Section& section, Spec& spec, const Field<Spec>& field, const std::string& prefix = {}) {
  const std::string key = prefix + std::string(field.key);
  if (!field.may_be_absent || section.has(key)) field.read(section, key, field, spec);
  if (section.is_rehearsal()) section.explain({key, field.meaning, default_of(field), field.conditions});
}

/// Reads every key of \p fields, each with \p prefix before it. \throws ConfigError
template <class Spec>
void read_fields(Section& section, Spec& spec, std::span<const Field<std::type_identity_t<Spec>>> fields,
                 const std::string& prefix = {}) {
  for (const Field<Spec>& field : fields)
    read_field(section, spec, field, prefix);
}

/// Multiplies what the what-if factor \p name multiplies; durations are divided.
template <class Spec>
void scale_fields(Spec& spec, std::span<const Field<std::type_identity_t<Spec>>> fields, std::string_view name,
                  double factor) {
  for (const Field<Spec>& field : fields) {
    double* const number = field.scale == name && field.quantity != nullptr ? field.quantity(spec) : nullptr;
    if (number != nullptr)
      *number = field.dimension == Dimension::duration ? *number / factor : *number * factor;
  }
}

/// Calls \p visit(key, QuantityOf) for every number with a unit that \p spec has.
template <class Spec, class Visit>
void each_quantity(Spec& spec, std::span<const Field<std::type_identity_t<Spec>>> fields,
                   const std::string& prefix, const Visit& visit) {
  for (const Field<Spec>& field : fields) {
    double* const number = field.quantity == nullptr ? nullptr : field.quantity(spec);
    if (number != nullptr) visit(prefix + std::string(field.key), QuantityOf{number, field.dimension});
  }
}

}}  // namespace c3::configs
