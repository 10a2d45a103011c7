#include <cctype>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "workloads/traces/chakra/chakra_reader.hpp"
#include "workloads/traces/chakra/node_list.hpp"
#include "workloads/traces/json_tree.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3 { inline namespace traces {
namespace {

/// "ctrl_deps", "ctrlDeps" and "CtrlDeps" are "ctrldeps".
std::string plain(std::string_view key) {
  std::string letters;
  for (const char letter : key) {
    if (letter != '_') letters.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
  }
  return letters;
}

std::optional<std::int64_t> integer_in(JsonView value) {
  if (value.is(JsonKind::flag)) return value.text() == "true" ? 1 : 0;
  return value.integer();
}

ChakraType type_in(JsonView value) {
  if (const auto number = integer_in(value)) {
    const bool is_known = *number >= 0 && *number <= static_cast<std::int64_t>(ChakraType::collective);
    return is_known ? static_cast<ChakraType>(*number) : ChakraType::invalid;
  }
  if (value.text().starts_with("COMM_COLL")) return ChakraType::collective;
  if (value.text().starts_with("COMM_SEND")) return ChakraType::send;
  if (value.text().starts_with("COMM_RECV")) return ChakraType::receive;
  if (value.text().starts_with("COMP")) return ChakraType::compute;
  if (value.text().starts_with("MEM_LOAD")) return ChakraType::memory_load;
  if (value.text().starts_with("MEM_STORE")) return ChakraType::memory_store;
  return value.text().starts_with("METADATA") ? ChakraType::metadata : ChakraType::invalid;
}

class ChakraJsonReader final : public JsonPieces {
 public:
  explicit ChakraJsonReader(const std::string& file) : nodes_(file) {}

  MemberUse use_of(std::string_view key) override {
    if (key != "workload_graph") return MemberUse::skip;
    has_nodes_ = true;
    return MemberUse::split;
  }
  void member(std::string_view /*key*/, std::string_view /*text*/) override {}

  void element(std::uint64_t index, std::string_view text) override {
    nodes_.begin_node(index);
    try {
      add(tree_.parse(text));
    } catch (const JsonSyntaxError& error) {
      nodes_.fail(fmt::format("it is not a JSON object: {}", error.what()));
    }
  }

  ChakraTrace take() {
    if (!has_nodes_)
      throw TraceError({.file = nodes_.trace().file, .rank = {}, .event = {}},
                       "it has no \"workload_graph\": it is not a Chakra trace");
    return nodes_.take();
  }

 private:
  void add(JsonView json) {
    if (!json.is(JsonKind::object)) nodes_.fail("it is not a JSON object");
    ChakraNode node;
    bool has_id = false;
    std::vector<std::uint64_t> control;
    std::vector<std::uint64_t> data;
    TextPool& texts = nodes_.trace().texts;
    for (const JsonView member : json) {
      const std::string key = plain(member.key());
      if (key == "id") {
        node.id = id_in(member);
        has_id = true;
      } else if (key == "name") {
        node.name = texts.id_of(member.text());
      } else if (key == "nodetype" || key == "type") {
        node.type = type_in(member);
      } else if (key == "ctrldeps") {
        control = ids_in(member);
      } else if (key == "datadeps") {
        data = ids_in(member);
      } else if (key == "runtime" || key == "durationmicros") {
        node.duration = time_in(member);
      } else if (key == "starttimemicros") {
        node.start = time_in(member);
      } else {
        set(node, member);
      }
    }
    if (!has_id) nodes_.fail("it has no id");
    nodes_.add(node, control, data);
  }

  void set(ChakraNode& node, JsonView member) {
    const std::string key = plain(member.key());
    for (const std::string_view name :
         {"is_cpu_op", "tid", "comm_type", "comm_size", "pg_name", "comm_group"}) {
      if (plain(name) != key) continue;
      if (const auto number = integer_in(member)) {
        nodes_.set(node, name, *number);
      } else {
        nodes_.set(node, name, member.text());
      }
    }
  }

  std::uint64_t id_in(JsonView value) const {
    const std::optional<std::int64_t> id = integer_in(value);
    if (!id || *id < 0)
      nodes_.fail(fmt::format("\"{}\" is not an id, which is an integer from 0", value.text().substr(0, 100)));
    return static_cast<std::uint64_t>(*id);
  }

  std::vector<std::uint64_t> ids_in(JsonView list) const {
    std::vector<std::uint64_t> ids;
    if (!list.is(JsonKind::array)) return ids;
    for (const JsonView id : list)
      ids.push_back(id_in(id));
    return ids;
  }

  Picoseconds time_in(JsonView value) const {
    const std::optional<std::int64_t> time = integer_in(value);
    if (!time || *time < 0)
      nodes_.fail(fmt::format("{}: \"{}\" is not a number of microseconds from 0", value.key(),
                              value.text().substr(0, 100)));
    return nodes_.time(static_cast<std::uint64_t>(*time), value.key());
  }

  ChakraNodeList nodes_;
  JsonTree tree_{3};  // a node and its lists
  bool has_nodes_ = false;
};

}  // namespace

ChakraTrace read_chakra_json(const std::string& file, const ByteSource& source) {
  ChakraJsonReader reader(file);
  split_trace(file, source, reader);
  return reader.take();
}

}}  // namespace c3::traces
