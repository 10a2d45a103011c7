#pragma once
/// Operators that are alike, counted.

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "workloads/traces/node_graph_report.hpp"

namespace c3 { inline namespace traces {

class ShapeCounts {
 public:
  void add(const OperatorShapes& shapes);
  /// The longest first, then the most frequent.
  std::vector<OperatorShapes> take();

 private:
  std::map<std::tuple<std::string, std::string, std::string>, OperatorShapes>
      counts_;  ///< by name, dims, types
};

}}  // namespace c3::traces
