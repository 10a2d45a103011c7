#include "workloads/traces/collective_issues.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "base/json.hpp"

namespace c3 { inline namespace traces {
namespace {

std::optional<std::int64_t> number_in(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// An array of a file, or null for what is none: metadata that cannot be read are metadata that are missing.
Json array_in(const std::string& text) {
  if (text.empty()) return {};
  try {
    Json value = Json::parse(text);
    return value.is_array() ? value : Json();
  } catch (const JsonError&) {
    return {};
  }
}

std::vector<std::string> texts_in(const std::string& text) {
  std::vector<std::string> texts;
  const Json array = array_in(text);
  if (array.is_null()) return texts;
  for (const Json& element : array.elements())
    texts.push_back(element.is_text() ? element.text() : "");
  return texts;
}

/// Elements of all tensors in "Input Dims" of one input: [4, 2048] or [[4, 2048], [16]].
std::optional<std::int64_t> elements_in(const Json& dims) {
  if (!dims.is_array() || dims.empty()) return std::nullopt;
  std::int64_t product = 1;
  std::int64_t sum = 0;
  for (const Json& size : dims.elements()) {
    if (size.is_array()) {
      sum += elements_in(size).value_or(0);
    } else if (size.is_integer() && __builtin_mul_overflow(product, size.integer(), &product)) {
      return std::nullopt;
    }
  }
  const std::int64_t elements = sum > 0 ? sum : product;
  if (elements <= 0 || dims.elements().front().is_array() != (sum > 0)) return std::nullopt;
  return elements;
}

/// Elements of the first input that is a tensor or a list of them.
std::optional<std::int64_t> first_input(const std::string& dims) {
  const Json inputs = array_in(dims);
  if (inputs.is_null() || inputs.empty()) return std::nullopt;
  return elements_in(inputs.elements().front());
}

void read_arguments(const Trace& trace, const CollectiveArguments& from, CollectiveIssue& issue) {
  const std::string& name = trace.texts.text(from.name);
  issue.is_wait = name == "wait";
  issue.kind = collective_kind(name);
  issue.group = group_text(trace, from);
  issue.has_group_name = !issue.group.empty();
  issue.dtype = trace.texts.text(from.dtype);
  issue.splits = split_text(trace.texts.text(from.in_split), trace.texts.text(from.out_split));
  issue.in_splits = split_sizes(trace.texts.text(from.in_split));
  issue.out_splits = split_sizes(trace.texts.text(from.out_split));
  issue.sequence = from.sequence;
  issue.group_size = from.group_size;
  issue.in_elements = from.in_elements;
  issue.out_elements = from.out_elements;
}

/// [tensors, sequence, group, rank, name, in-splits, out-splits, .., group size], or without tensors for a
/// wait. Later versions have tuples, which are not printed, for sequence and group.
void read_inputs(const Trace& trace, const OpDetails& from, CollectiveIssue& issue) {
  const std::vector<std::string> types = texts_in(trace.texts.text(from.types));
  const std::vector<std::string> values = texts_in(trace.texts.text(from.concrete));
  if (types.empty() || types.size() != values.size()) return;
  const std::size_t first = types.front() == "TensorList" ? 1 : 0;
  if (first == 0 && issue.kind.empty()) issue.is_wait = true;
  const auto scalar = [&](std::size_t place) -> std::optional<std::int64_t> {
    if (place >= types.size() || types[place] != "Scalar") return std::nullopt;
    return number_in(values[place]);
  };
  if (!issue.sequence && scalar(first + 1)) issue.sequence = scalar(first);
  if (issue.group.empty() && !issue.is_wait && scalar(first) && scalar(first + 1))
    issue.group = values[first + 1];
  if (!issue.group_size && !issue.is_wait) issue.group_size = scalar(types.size() - 1);
  if (!issue.in_elements) issue.in_elements = first_input(trace.texts.text(from.dims));
  std::vector<std::string> lists;  // of splits alone: there are no other lists of numbers
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == "ScalarList") lists.push_back(values[i]);
  }
  if (issue.splits.empty() && lists.size() == 2) {
    issue.splits = split_text(lists[0], lists[1]);
    issue.in_splits = split_sizes(lists[0]);
    issue.out_splits = split_sizes(lists[1]);
  }
}

/// `nccl:` ranges by thread and start.
class Ranges {
 public:
  explicit Ranges(const Trace& trace) : trace_(trace) {
    const auto add = [&](const TraceEvent& event) {
      if (trace.name_of(event).starts_with("nccl:"))
        ranges_.emplace(std::pair(event.track, event.start), &event);
    };
    std::ranges::for_each(trace.annotations, add);
    std::ranges::for_each(trace.ops, add);
  }

  /// Kind, type and sizes where the operator has none.
  void complete(const TraceEvent& op, CollectiveIssue& issue) const {
    const auto found = ranges_.lower_bound(std::pair(op.track, op.start));
    if (found == ranges_.end() || found->first.first != op.track || found->second->start > op.end()) return;
    const TraceEvent& range = *found->second;
    if (issue.kind.empty()) issue.kind = collective_kind(trace_.name_of(range));
    if (range.details == kNoIndex) return;
    const OpDetails& details = trace_.op_details[range.details];
    const std::vector<std::string> types = texts_in(trace_.texts.text(details.types));
    if (issue.dtype.empty() && !types.empty()) issue.dtype = types.front();
    if (!issue.in_elements) issue.in_elements = first_input(trace_.texts.text(details.dims));
  }

 private:
  const Trace& trace_;
  std::multimap<std::pair<std::uint32_t, Picoseconds>, const TraceEvent*> ranges_;
};

}  // namespace

std::string group_text(const Trace& trace, const CollectiveArguments& from) {
  const std::string& name = trace.texts.text(from.group);
  const std::string& ranks = trace.texts.text(from.ranks);
  return name.empty() || ranks.size() <= 2 ? name : name + " " + ranks;
}

std::optional<std::vector<std::int64_t>> split_sizes(const std::string& text) {
  const Json array = array_in(text);
  if (array.is_null()) return std::nullopt;
  std::vector<std::int64_t> sizes;
  for (const Json& size : array.elements()) {
    if (!size.is_integer() || size.integer() < 0) return std::nullopt;
    sizes.push_back(size.integer());
  }
  return sizes;
}

std::vector<CollectiveIssue> collective_issues(const Trace& trace) {
  std::vector<CollectiveIssue> issues;
  const Ranges ranges(trace);
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    const TraceEvent& event = trace.ops[op];
    if (trace.name_of(event) != "record_param_comms") continue;
    CollectiveIssue issue;
    issue.op = op;
    if (event.collective != kNoIndex)
      read_arguments(trace, trace.collective_arguments[event.collective], issue);
    if (event.details != kNoIndex) read_inputs(trace, trace.op_details[event.details], issue);
    if (!issue.is_wait) ranges.complete(event, issue);
    issues.push_back(std::move(issue));
  }
  return issues;
}

}}  // namespace c3::traces
