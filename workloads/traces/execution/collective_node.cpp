#include "workloads/traces/execution/collective_node.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workloads/traces/collective_issues.hpp"

namespace c3 { inline namespace traces {
namespace {

std::optional<std::int64_t> count_in(JsonView value) {
  const std::optional<std::int64_t> number = value.integer();
  return number && *number >= 0 ? number : std::nullopt;
}

std::string list_text(JsonView list) {
  std::vector<std::string_view> numbers;
  for (const JsonView number : list)
    numbers.push_back(number.text());
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

/// Arguments by their type, in order.
struct TypedArguments {
  std::vector<JsonView> before;  ///< integers before the name
  std::vector<JsonView> after;   ///< integers behind it
  std::vector<JsonView> splits;  ///< lists without tensors
  JsonView numbered;             ///< a tuple that begins with a number: the sequence number
  JsonView named;                ///< a tuple that begins with a text: the group
  JsonView name;
};

TypedArguments typed(const ArgumentsJson& json) {
  TypedArguments found;
  auto value = json.values.begin();
  for (auto type = json.types.begin(); type != json.types.end() && value != json.values.end();
       ++type, ++value) {
    const std::string_view text = (*type).text();
    if (text == "Int") {
      (found.name.is(JsonKind::text) ? found.after : found.before).push_back(*value);
    } else if (text == "String") {
      if (!found.name.is(JsonKind::text)) found.name = *value;
    } else if (text.starts_with("Tuple[Int")) {
      found.numbered = *value;
    } else if (text.starts_with("Tuple[String")) {
      found.named = *value;
    } else if (text.starts_with("GenericList[") && text.find("Tensor(") == std::string_view::npos) {
      found.splits.push_back(*value);
    }
  }
  return found;
}

std::vector<JsonView> elements(JsonView list) {
  std::vector<JsonView> found;
  for (const JsonView element : list)
    found.push_back(element);
  return found;
}

/// Others give the rank of the root or of the peer in its place.
bool has_own_rank(std::string_view kind) {
  return kind == "all_reduce" || kind == "all_gather" || kind == "reduce_scatter" || kind == "all_to_all" ||
         kind == "barrier";
}

void read_typed(const ArgumentsJson& json, ExecutionCollective& collective, TextPool& pool) {
  TypedArguments found = typed(json);
  CollectiveArguments& arguments = collective.arguments;
  arguments.name = pool.id_of(found.name.text());
  std::vector<JsonView>& before = found.before;  // [sequence,] [address,] rank
  const auto take_first = [&] {
    const JsonView first = before.empty() ? JsonView() : before.front();
    if (!before.empty()) before.erase(before.begin());
    return first;
  };
  const std::vector<JsonView> pair = elements(found.numbered);
  arguments.sequence = count_in(pair.empty() ? take_first() : pair.front());
  const std::vector<JsonView> group = elements(found.named);
  if (!group.empty()) arguments.group = pool.id_of(group[0].text());
  if (group.size() > 1) arguments.group_description = pool.id_of(group[1].text());
  if (!before.empty()) {
    if (has_own_rank(collective_kind(found.name.text()))) collective.group_rank = count_in(before.back());
    before.pop_back();
  }
  if (!before.empty() && group.empty()) collective.group_address = pool.id_of(before.back().text());
  if (!found.splits.empty()) arguments.in_split = pool.id_of(list_text(found.splits[0]));
  if (found.splits.size() > 1) arguments.out_split = pool.id_of(list_text(found.splits[1]));
  const std::vector<JsonView>& after = found.after;  // [first rank, stride,] size
  if (!after.empty()) arguments.group_size = count_in(after.back());
  if (after.size() >= 3) {
    collective.first_rank = count_in(after[after.size() - 3]);
    collective.rank_stride = count_in(after[after.size() - 2]);
  }
}

/// All tensors of one type: their elements. Nothing for none.
std::optional<std::int64_t> elements_of(const ExecutionArguments& side, const ExecutionTrace& trace) {
  if (side.tensors == 0) return std::nullopt;
  std::int64_t sum = 0;
  for (std::uint32_t i = 0; i < side.tensors; ++i) {
    const std::int64_t count = trace.tensors[side.first_tensor + i].elements;
    if (count < 0 || __builtin_add_overflow(sum, count, &sum)) return std::nullopt;
  }
  return sum;
}

void read_named(const NodeJson& node, ExecutionCollective& collective, TextPool& pool) {
  CollectiveArguments& arguments = collective.arguments;
  const auto text = [&](std::string_view key, TextId& into) {
    if (const JsonView value = node.attribute(key); !value.text().empty()) into = pool.id_of(value.text());
  };
  const auto count = [&](std::string_view key, std::optional<std::int64_t>& into) {
    if (const auto value = count_in(node.attribute(key))) into = value;
  };
  text("collective_name", arguments.name);
  text("dtype", arguments.dtype);
  text("pg_name", arguments.group);
  text("pg_desc", arguments.group_description);
  text("in_split_size", arguments.in_split);
  text("out_split_size", arguments.out_split);
  count("in_msg_nelems", arguments.in_elements);
  count("out_msg_nelems", arguments.out_elements);
  count("pg_size", arguments.group_size);
  count("seq", arguments.sequence);
  count("global_rank_start", collective.first_rank);
  count("global_rank_stride", collective.rank_stride);
}

}  // namespace

ExecutionCollective read_collective(const NodeJson& node, const ExecutionArguments& inputs,
                                    const ExecutionArguments& outputs, ExecutionTrace& trace) {
  ExecutionCollective collective;
  read_typed(node.inputs(), collective, trace.texts);
  CollectiveArguments& arguments = collective.arguments;
  if (inputs.tensors > 0) arguments.dtype = trace.tensors[inputs.first_tensor].type;
  arguments.in_elements = elements_of(inputs, trace);
  arguments.out_elements = elements_of(outputs, trace);
  read_named(node, collective, trace.texts);
  collective.is_wait = trace.texts.text(arguments.name) == "wait";
  if (collective.is_wait) {  // these are made up
    collective.group_address = 0;
    arguments.group_size.reset();
    arguments.in_elements.reset();
    arguments.out_elements.reset();
  }
  return collective;
}

void pair_waits(std::vector<ExecutionCollective>& collectives) {
  std::map<std::int64_t, std::vector<std::uint32_t>> issues;  // by sequence number, in order
  for (std::uint32_t i = 0; i < collectives.size(); ++i) {
    ExecutionCollective& collective = collectives[i];
    if (!collective.arguments.sequence) continue;
    std::vector<std::uint32_t>& known = issues[*collective.arguments.sequence];
    if (!collective.is_wait) {
      known.push_back(i);
      continue;
    }
    const TextId group = collective.arguments.group;
    const auto found = std::find_if(known.rbegin(), known.rend(), [&](std::uint32_t issue) {
      return group == 0 || collectives[issue].arguments.group == group;
    });
    if (found == known.rend()) continue;
    collective.partner = *found;
    if (collectives[*found].partner == kNoIndex) collectives[*found].partner = i;
  }
}

}}  // namespace c3::traces
