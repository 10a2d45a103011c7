#pragma once
/// A node as it stands in the file, whatever its schema: 1.0.1 has all at one level, later ones have lists.

#include <string_view>

#include "workloads/traces/json_tree.hpp"

namespace c3 { inline namespace traces {

/// Three arrays of the same length, one element an argument.
struct ArgumentsJson {
  JsonView values;
  JsonView shapes;
  JsonView types;
};

class NodeJson {
 public:
  explicit NodeJson(JsonView node) : node_(node), attributes_(node["attrs"]) {}

  JsonView operator[](std::string_view key) const { return node_[key]; }

  /// An attribute of "attrs", else a key of the node; null if there is neither.
  JsonView attribute(std::string_view name) const {
    for (const JsonView attribute : attributes_) {
      if (attribute["name"].text() == name) return attribute["value"];
    }
    return node_[name];
  }

  ArgumentsJson inputs() const { return arguments("inputs", "input_shapes", "input_types"); }
  ArgumentsJson outputs() const { return arguments("outputs", "output_shapes", "output_types"); }

 private:
  ArgumentsJson arguments(std::string_view key, std::string_view shapes, std::string_view types) const {
    const JsonView side = node_[key];
    if (side.is(JsonKind::object))
      return {.values = side["values"], .shapes = side["shapes"], .types = side["types"]};
    return {.values = side, .shapes = node_[shapes], .types = node_[types]};
  }

  JsonView node_;
  JsonView attributes_;
};

}}  // namespace c3::traces
