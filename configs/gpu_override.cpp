#include "configs/gpu_override.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "configs/quantity_text.hpp"

namespace c3 {
namespace {

/// The number itself: of a range its nominal value.
const Node* plain(const Table& table, std::string_view key) {
  const Node* found = table.find(key);
  if (found == nullptr || !is_sourced_value(*found)) return found;
  const Node* value = found->table()->find("value");
  return value != nullptr ? value : found->table()->find("nominal");
}

std::optional<double> number(const Node* node) {
  if (node == nullptr) return std::nullopt;
  if (const auto* integer = std::get_if<std::int64_t>(&node->value)) return static_cast<double>(*integer);
  if (node->text() == nullptr) return std::nullopt;
  const auto quantity = find_quantity(*node->text());
  return quantity ? std::optional(quantity->value) : std::nullopt;
}

/// By what the overrides multiply \p key; 1 when they leave it or one of the two cannot be read.
double change_of(const Table& gpu, const Table& overrides, std::string_view key) {
  const auto before = number(plain(gpu, key));
  const auto after = number(plain(overrides, key));
  const bool is_known = before && after && *before > 0.0 && *after > 0.0;
  return is_known ? *after / *before : 1.0;
}

void multiply(Node& quantity, double factor) {
  if (quantity.text() == nullptr) return;
  const auto found = find_quantity(*quantity.text());
  if (found) quantity.value = fmt::format("{} {}", found->value * factor, base_unit(found->dimension));
}

void multiply_sourced(Node& rate, double factor, const std::string& why) {
  Table* table = rate.table();
  if (table == nullptr) {
    multiply(rate, factor);
    return;
  }
  for (const std::string_view part : {"value", "low", "nominal", "high"}) {
    if (Node* found = table->find(part)) multiply(*found, factor);
  }
  Node* source = table->find("source");
  if (source != nullptr && source->text() != nullptr) source->value = *source->text() + why;
}

}  // namespace

void override_gpu(Table& gpu, const Table& overrides) {
  constexpr std::array<std::string_view, 4> kDTypes = {"bf16", "fp16", "fp8", "fp32"};
  const double cus = change_of(gpu, overrides, "xcds") * change_of(gpu, overrides, "cus_per_xcd");
  const double clock = change_of(gpu, overrides, "boost_clock");
  const auto follow = [&](const std::string& key, double factor) {
    Node* rate = gpu.find(key);
    const bool moves = rate != nullptr && factor != 1.0 && overrides.find(key) == nullptr;
    if (!moves) return;
    multiply_sourced(*rate, factor,
                     fmt::format("; x {:.6g}, with the overridden compute units and boost clock", factor));
  };
  for (const std::string_view dtype : kDTypes) {
    follow(fmt::format("{}_peak", dtype), cus * clock);
    follow(fmt::format("{}_sustained", dtype), cus * clock);
    follow(fmt::format("{}_clock", dtype), clock);
  }
  merge(gpu, overrides);
}

}  // namespace c3
