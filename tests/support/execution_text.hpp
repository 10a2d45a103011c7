#pragma once
/// Small PyTorch execution traces, made by tests, in the schema of 1.0.1 or that of later ones.

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/trace_text.hpp"
#include "workloads/traces/execution/execution_reader.hpp"

namespace c3 {

/// An argument as three pieces of JSON.
struct ArgumentText {
  std::string value;
  std::string shape;
  std::string type;
};

inline ArgumentText int_text(std::int64_t value) { return {fmt::format("{}", value), "[]", "Int"}; }
inline ArgumentText string_text(const std::string& value) {
  return {fmt::format("\"{}\"", value), "[]", "String"};
}

/// A float tensor of \p number with one dimension.
inline ArgumentText tensor_text(int number, int size, const char* device = "cuda:0") {
  return {fmt::format(R"([{},{},0,{},4,"{}"])", number, number + 1000, size, device), fmt::format("[{}]", size),
          "Tensor(float)"};
}
inline ArgumentText tensors_text(int number, int size) {
  const ArgumentText one = tensor_text(number, size);
  return {"[" + one.value + "]", "[" + one.shape + "]", "GenericList[" + one.type + "]"};
}
inline ArgumentText list_text(const std::vector<int>& values) {
  std::vector<std::string> types(values.size(), "Int");
  return {fmt::format("[{}]", fmt::join(values, ",")), "[]",
          fmt::format("GenericList[{}]", fmt::join(types, ","))};
}

class ExecutionText {
 public:
  explicit ExecutionText(std::string schema = "1.0.1") : schema_(std::move(schema)) {}

  /// \p attributes JSON of numbers and texts by name: {{"pg_size", "2"}}
  ExecutionText& node(int id, const std::string& name, int parent, const std::vector<ArgumentText>& inputs = {},
                      const std::vector<ArgumentText>& outputs = {}, int thread = 1,
                      const std::vector<std::pair<std::string, std::string>>& attributes = {}) {
    const std::string schema = name.find("::") == std::string::npos ? "" : name + "(..)";
    const std::string common = fmt::format(R"("id":{},"name":"{}")", id, name);
    if (schema_ == "1.0.1") {
      nodes_.push_back(fmt::format(
          R"({{{},"rf_id":{},"parent":{},"fw_parent":0,"seq_id":-1,"tid":{},"op_schema":"{}",{},{}}})", common,
          id, parent, thread, schema, flat("inputs", "input_", inputs), flat("outputs", "output_", outputs)));
      return *this;
    }
    std::string list = fmt::format(R"({{"name":"rf_id","type":"uint64","value":{}}},)", id) +
                       fmt::format(R"({{"name":"tid","type":"uint64","value":{}}},)", thread) +
                       fmt::format(R"({{"name":"op_schema","type":"string","value":"{}"}})", schema);
    for (const auto& [key, value] : attributes)
      list += fmt::format(R"(,{{"name":"{}","type":"?","value":{}}})", key, value);
    nodes_.push_back(fmt::format(R"({{{},"ctrl_deps":{},"inputs":{},"outputs":{},"attrs":[{}]}})", common,
                                 parent, nested(inputs), nested(outputs), list));
    return *this;
  }
  ExecutionText& raw(const std::string& node) {
    nodes_.push_back(node);
    return *this;
  }

  std::string text() const {
    return fmt::format(R"({{"schema":"{}","pid":100,"nodes":[{}]}})", schema_, fmt::join(nodes_, ",\n"));
  }
  ExecutionTrace read(const std::string& file = "et.json") const {
    return read_execution_trace(file, source_of(text()));
  }

 private:
  static std::string column(const std::vector<ArgumentText>& side, std::string ArgumentText::*member) {
    std::vector<std::string> cells;
    for (const ArgumentText& argument : side)
      cells.push_back(member == &ArgumentText::type ? "\"" + argument.type + "\"" : argument.*member);
    return fmt::format("[{}]", fmt::join(cells, ","));
  }
  static std::string flat(const std::string& values, const std::string& before,
                          const std::vector<ArgumentText>& side) {
    return fmt::format(R"("{}":{},"{}shapes":{},"{}types":{})", values, column(side, &ArgumentText::value),
                       before, column(side, &ArgumentText::shape), before, column(side, &ArgumentText::type));
  }
  static std::string nested(const std::vector<ArgumentText>& side) {
    return fmt::format(R"({{"values":{},"shapes":{},"types":{}}})", column(side, &ArgumentText::value),
                       column(side, &ArgumentText::shape), column(side, &ArgumentText::type));
  }

  std::string schema_;
  std::vector<std::string> nodes_;
};

}  // namespace c3
