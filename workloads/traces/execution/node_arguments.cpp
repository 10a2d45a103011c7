#include "workloads/traces/execution/node_arguments.hpp"

#include <algorithm>
#include <array>

#include "base/json.hpp"

namespace c3 { inline namespace traces {
namespace {

/// "Tensor(float)" is "float"; anything else is not a tensor.
std::optional<std::string_view> tensor_type(std::string_view type) {
  constexpr std::string_view kBefore = "Tensor(";
  if (!type.starts_with(kBefore) || !type.ends_with(')')) return std::nullopt;
  type.remove_prefix(kBefore.size());
  type.remove_suffix(1);
  if (type.starts_with("nullptr")) return "";
  // Kineto has the compiler's names of types, later ETs PyTorch's.
  if (type == "long") return "long int";
  if (type == "short") return "short int";
  return type;
}

/// What is in the brackets of "GenericList[..]" or "Tuple[..]", split at its commas.
std::vector<std::string_view> inner_types(std::string_view type) {
  std::vector<std::string_view> inner;
  const std::size_t open = type.find('[');
  if (open == std::string_view::npos || !type.ends_with(']')) return inner;
  type = type.substr(open + 1, type.size() - open - 2);
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t at = 0; at < type.size(); ++at) {
    if (type[at] == '[' || type[at] == '(') ++depth;
    if (type[at] == ']' || type[at] == ')') --depth;
    if (type[at] != ',' || depth != 0) continue;
    inner.push_back(type.substr(from, at - from));
    from = at + 1;
  }
  if (!type.empty()) inner.push_back(type.substr(from));
  return inner;
}

std::string dims_of(JsonView shape) {
  std::string text = "[";
  for (const JsonView size : shape) {
    if (text.size() > 1) text += ", ";
    text += size.is(JsonKind::number) ? size.text() : std::string_view("[]");
  }
  return text + "]";
}

/// Prints a number or a flag as Kineto does.
std::string scalar_of(JsonView value) {
  if (value.is(JsonKind::flag)) return value.text() == "true" ? "True" : "False";
  return std::string(value.text());
}

/// "[4, 2048]", also of nested lists.
std::string list_of(JsonView values) {
  std::string text = "[";
  for (const JsonView value : values) {
    if (text.size() > 1) text += ", ";
    text += value.is(JsonKind::array) ? list_of(value) : scalar_of(value);
  }
  return text + "]";
}

/// The columns of Kineto's three lists, argument by argument.
class ArgumentTexts {
 public:
  void add(const std::string& dims, std::string_view type, std::string_view concrete) {
    append(dims_, dims);
    append(types_, json_quoted(type));
    append(concrete_, json_quoted(concrete));
  }
  OpDetails details(TextPool& pool) const {
    if (dims_.empty()) return {};
    return {.dims = pool.id_of("[" + dims_ + "]"),
            .types = pool.id_of("[" + types_ + "]"),
            .concrete = pool.id_of("[" + concrete_ + "]")};
  }

 private:
  static void append(std::string& list, std::string_view text) {
    if (!list.empty()) list += ", ";
    list += text;
  }

  std::string dims_;
  std::string types_;
  std::string concrete_;
};

class ArgumentReader {
 public:
  explicit ArgumentReader(ExecutionTrace& trace) : trace_(trace) {}

  void add(JsonView value, JsonView shape, std::string_view type) {
    if (const auto of_tensor = tensor_type(type)) {
      const std::string dims = dims_of(shape);
      add_tensor(value, dims, *of_tensor);
      texts_.add(dims, *of_tensor, "");
    } else if (type.starts_with("GenericList[")) {
      add_list(value, shape, inner_types(type));
    } else if (value.is(JsonKind::number) || value.is(JsonKind::flag)) {
      texts_.add("[]", "Scalar", scalar_of(value));
    } else if (value.is(JsonKind::array)) {
      texts_.add("[]", "", list_of(value));
    } else {
      const bool is_nothing = type == "None" || value.text() == "<None>" || value.text() == "<Object>";
      texts_.add("[]", "", is_nothing ? std::string_view() : value.text());
    }
  }

  OpDetails details() const { return texts_.details(trace_.texts); }

 private:
  /// [tensor, storage, offset, elements, bytes of an element, device]
  void add_tensor(JsonView value, const std::string& dims, std::string_view type) {
    if (!value.is(JsonKind::array)) return;
    ExecutionTensor tensor;
    constexpr std::array kMembers{&ExecutionTensor::tensor, &ExecutionTensor::storage, &ExecutionTensor::offset,
                                  &ExecutionTensor::elements, &ExecutionTensor::element_bytes};
    std::size_t place = 0;
    for (const JsonView member : value) {
      if (place < kMembers.size()) tensor.*kMembers[place] = member.integer().value_or(0);
      if (place == kMembers.size()) tensor.device = trace_.texts.id_of(member.text());
      ++place;
    }
    tensor.type = trace_.texts.id_of(type);
    tensor.dims = trace_.texts.id_of(dims);
    trace_.tensors.push_back(tensor);
  }

  void add_list(JsonView values, JsonView shapes, const std::vector<std::string_view>& types) {
    const bool has_tensors =
        std::ranges::any_of(types, [](std::string_view type) { return tensor_type(type).has_value(); });
    if (!has_tensors) return texts_.add("[]", "ScalarList", list_of(values));
    std::string all = "[";
    auto shape = shapes.begin();
    std::size_t place = 0;
    for (const JsonView value : values) {
      const auto type = place < types.size() ? tensor_type(types[place]) : std::nullopt;
      const std::string dims = shape == shapes.end() ? "[]" : dims_of(*shape);
      if (shape != shapes.end()) ++shape;
      if (type) add_tensor(value, dims, *type);
      if (place++ > 0) all += ", ";
      all += dims;
    }
    texts_.add(all + "]", "TensorList", "");
  }

  ExecutionTrace& trace_;
  ArgumentTexts texts_;
};

}  // namespace

ExecutionArguments read_arguments(const ArgumentsJson& json, ExecutionTrace& trace) {
  ExecutionArguments arguments;
  arguments.first_tensor = static_cast<std::uint32_t>(trace.tensors.size());
  ArgumentReader reader(trace);
  auto value = json.values.begin();
  auto shape = json.shapes.begin();
  auto type = json.types.begin();
  for (; value != json.values.end() && shape != json.shapes.end() && type != json.types.end();
       ++value, ++shape, ++type)
    reader.add(*value, *shape, (*type).text());
  arguments.tensors = static_cast<std::uint32_t>(trace.tensors.size()) - arguments.first_tensor;
  arguments.texts = reader.details();
  return arguments;
}

}}  // namespace c3::traces
