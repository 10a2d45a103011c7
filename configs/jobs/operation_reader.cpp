#include "configs/jobs/operation_reader.hpp"
#include "configs/toml/describe.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "gpu/pim.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <stdexcept>

#include "configs/fields/operation_keys.hpp"
#include "configs/jobs/message_reader.hpp"
#include "configs/presets/spec_readers.hpp"
#include "configs/toml/quantity_text.hpp"
#include "configs/toml/rank_list.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/shape_words.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::int64_t kLargestExtent = 16'777'216;  // rows, columns or depth of a GEMM
constexpr std::int64_t kLargestShapeExtent = std::int64_t{1} << 40U;
constexpr std::int64_t kLargestRank = kMostRanks - 1;
/// What of an operation a size may be: its weight, and the rows of all GPUs that it takes or makes.
constexpr std::array<std::string_view, 3> kSizes = {".weight", ".input", ".output"};
constexpr std::string_view kNext = "next.";
const HbmSpec kNoUnits;  // for operations that are only described

/// Whether one size says how much is moved.
bool has_size(CollectiveKind kind) {
  return kind != CollectiveKind::all_to_all_v && kind != CollectiveKind::barrier;
}

/// The layer's own operation: the next layer has the same shapes.
std::string_view in_this_layer(std::string_view operation) {
  return operation.starts_with(kNext) ? operation.substr(kNext.size()) : operation;
}

/// A text that is the name of a layer's operation, followed by \p suffix.
PatternRule operation_rule(std::string_view suffix) {
  const std::string names = fmt::format("({})?({}){}", kNext, fmt::join(layer_operations(), "|"), suffix);
  std::string regex;
  for (const char c : names)
    regex += c == '.' ? std::string("\\.") : std::string(1, c);
  return {regex, fmt::format("{}{}", layer_operations().front(), suffix)};
}

/// A size such as "896 MiB", or "<operation>.weight".
Rule size_rule() {
  return {AnyOfRule{{{QuantityRule{Dimension::bytes, Sign::positive}},
                     {operation_rule(kSizes[0])},
                     {operation_rule(kSizes[1])},
                     {operation_rule(kSizes[2])}}}};
}

/// A list of rows of sizes.
Rule sends_rule() {
  const Rule row = {ListRule{std::make_shared<Rule>(Rule{QuantityRule{Dimension::bytes, Sign::not_negative}})}};
  return {ListRule{std::make_shared<Rule>(row)}};
}

/// `groups = { size = 4, stride = 1 }`: how all ranks are grouped.
std::optional<RankGroups> read_groups(Section& section) {
  if (!section.has("groups")) return std::nullopt;
  Section table = section.table("groups");
  RankGroups groups{.size = static_cast<int>(table.integer("size", 2, kMostRanks))};
  if (table.has("stride")) groups.stride = static_cast<int>(table.integer("stride", 1, kMostRanks));
  table.explain(kGroupKeys);
  table.finish();
  return groups;
}

/// Sizes by sender, then receiver, row after row.
std::vector<Bytes> read_sends(Section& section) {
  constexpr std::string_view kForm = R"(must be a list of rows of sizes, as in [["0 B", "1 MiB"], ..])";
  const Array* rows = section.node("sends", sends_rule).array();
  if (rows == nullptr || rows->empty()) section.fail("sends", kForm);
  std::vector<Bytes> sends;
  for (const Node& row : *rows) {
    if (row.array() == nullptr || row.array()->size() != rows->size()) {
      throw ConfigError(row.origin, section.dotted("sends"), "each row needs as many sizes as there are rows");
    }
    for (const Node& size : *row.array()) {
      if (size.text() == nullptr) throw ConfigError(size.origin, section.dotted("sends"), kForm);
      try {
        sends.push_back({parse_quantity(*size.text(), Dimension::bytes)});
      } catch (const std::invalid_argument& error) {
        throw ConfigError(size.origin, section.dotted("sends"), error.what());
      }
    }
  }
  return sends;
}

GemmShape read_gemm(Section& section) {
  GemmShape shape{.m = section.integer("m", 1, kLargestExtent),
                  .n = section.integer("n", 1, kLargestExtent),
                  .k = section.integer("k", 1, kLargestExtent),
                  .dtype = read_dtype(section, "dtype")};
  if (section.has("traffic")) shape.traffic = section.choice<GemmTraffic>("traffic");
  return shape;
}

/// The words and numbers of a kernel's shape.
class KernelWords {
 public:
  explicit KernelWords(Section& section) {
    for (std::size_t i = 0; i < kShapeKeys.size(); ++i) {
      const auto key = static_cast<ShapeKey>(i);
      if (key == ShapeKey::op || key == ShapeKey::dtype || section.has(name_of(key))) read(section, key);
    }
  }
  const ShapeWords& words() const { return words_; }
  /// "softmax fp32 rows=16384 cols=4096"
  std::string name() const {
    std::string name = fmt::format("{} {}", words_[ShapeKey::op], words_[ShapeKey::dtype]);
    for (auto i = static_cast<std::size_t>(ShapeKey::b); i < kShapeKeys.size(); ++i) {
      const auto key = static_cast<ShapeKey>(i);
      if (words_.number(key)) {
        name += fmt::format(" {}={}", name_of(key), *words_.number(key));
      } else if (words_.has(key)) {
        name += fmt::format(" {}={}", name_of(key), words_[key]);
      }
    }
    return name;
  }

 private:
  void read(Section& section, ShapeKey key) {
    if (is_text(key)) {
      words_[key] = texts_.emplace_back(section.text(name_of(key)));
    } else if (key == ShapeKey::causal) {
      words_.number(key) = section.flag(name_of(key)) ? 1 : 0;
    } else {
      const bool is_pad = key == ShapeKey::pad_h || key == ShapeKey::pad_w;
      words_.number(key) = section.integer(name_of(key), is_pad ? 0 : 1, kLargestShapeExtent);
    }
  }

  std::deque<std::string> texts_;  ///< owns the texts that words_ views
  ShapeWords words_;
};

/// \p op on the units in \p hbm.
TimedKernel placed_in_memory(const Section& entry, const Operator& op, const HbmSpec& hbm) {
  const auto* const shape = op.as<VectorShape>();
  try {
    if (shape != nullptr) return in_memory(*shape, hbm);
  } catch (const std::exception& error) {  // no units, or not for this
    entry.fail("place", error.what());
  }
  entry.fail("place", fmt::format("units in memory compute elementwise operators, sums, quantisation and "
                                  "optimizers, not '{}'",
                                  op.of_class().name));
}

/// `kernel = { op = "softmax", dtype = "fp32", rows = 16384, cols = 4096 }`
WrittenOperation read_kernel(Section& entry, const HbmSpec& hbm) {
  const KernelWords words(entry);
  std::vector<int> on = optional_ranks(entry, "on");
  const Place place = entry.has("place") ? entry.choice<Place>("place") : Place::gpu;
  entry.explain(kKernelKeys);
  entry.finish();
  if (entry.is_rehearsal()) return {"kernel", VectorShape{}, std::move(on)};
  try {
    const Operator op = operator_of(words.words());
    if (place == Place::pim)
      return {words.name() + " in memory", placed_in_memory(entry, op, hbm), std::move(on)};
    return {words.name(), op, std::move(on)};
  } catch (const ShapeError& error) {
    entry.fail(name_of(error.key()), error.what());
  }
}

/// `{ time = "20 us", read = "64 MiB" }`
WrittenOperation read_detailed_timed(Section& section) {
  TimedKernel kernel{.duration = section.positive_duration("time")};
  if (section.has("read")) kernel.read = section.bytes_or_none("read");
  if (section.has("written")) kernel.written = section.bytes_or_none("written");
  std::string name = "timed";
  if (section.has("name")) name = section.text("name");
  std::vector<int> on = optional_ranks(section, "on");
  section.explain(kTimedKeys);
  section.finish();
  return {std::move(name), kernel, std::move(on)};
}

/// Either a time alone or a table.
Rule timed_rule() {
  return {AnyOfRule{{{QuantityRule{Dimension::duration, Sign::positive}},
                     {describe("", Provenance::optional, read_detailed_timed)}}}};
}

/// `timed = "20 us"`, or a table
WrittenOperation read_timed(Section& section) {
  const Node& what = section.node("timed", timed_rule);
  if (what.table() != nullptr) {
    Section entry(what, section.dotted("timed"));
    return read_detailed_timed(entry);
  }
  return {"timed", TimedKernel{.duration = section.positive_duration("timed")}};
}

/// Distinguishes calls of one stream that differ in more than their size.
std::string group_text(const CollectiveCall& call) {
  std::string text;
  if (call.in_place) text += " in place";
  if (call.root != 0) text += fmt::format(" of root {}", call.root);
  if (!call.ranks.empty()) text += " on ranks " + ranks_text(call.ranks);
  if (call.groups) text += fmt::format(" in groups of {}", call.groups->size);
  if (call.groups && call.groups->stride > 1) text += fmt::format(", {} apart", call.groups->stride);
  return text;
}

}  // namespace

WrittenOperation OperationReader::read(const Node& entry, const std::string& where) const {
  if (const std::string* name = entry.text()) return {*name, layer_gemm(*name, entry.origin, where)};
  if (entry.table() == nullptr || entry.table()->members().size() != 1) {
    throw ConfigError(entry.origin, where,
                      fmt::format("must be the name of an operation or a table with one key of {}",
                                  fmt::join(kOperationNames, ", ")));
  }
  Section section(entry, where);
  return read(section);
}

Rule OperationReader::run_rule() {
  const std::optional<LayerInput> no_layer;
  const OperationReader reader(no_layer, kNoUnits);
  const TableRule table = describe("", Provenance::optional, [&](Section& entry) { reader.read(entry); });
  return {ListRule{std::make_shared<Rule>(Rule{AnyOfRule{{{table}, {operation_rule("")}}}})}};
}

WrittenOperation OperationReader::read(Section& section) const {
  const std::string key = section.only_key("operation", kOperationNames);
  section.explain(kOperations);
  if (key == "record") return {"record " + section.text(key), WrittenRecord{section.text(key)}};
  if (key == "wait") return {"wait " + section.text(key), WrittenWait{section.text(key)}};
  if (key == "gemm") {
    Section entry = section.table(key);
    const GemmShape shape = read_gemm(entry);
    std::vector<int> on = optional_ranks(entry, "on");
    entry.explain(kGemmKeys);
    entry.finish();
    const std::string_view streamed = shape.traffic == GemmTraffic::streamed ? " streamed" : "";
    return {fmt::format("gemm {}x{}x{} {}{}", shape.m, shape.n, shape.k, name_of(shape.dtype), streamed), shape,
            std::move(on)};
  }
  if (key == "kernel") {
    Section entry = section.table(key);
    return read_kernel(entry, hbm_);
  }
  if (key == "timed") return read_timed(section);
  if (key == "copy_to_host" || key == "copy_from_host") {
    const Bytes bytes = section.bytes(key);
    const std::string name = section.is_rehearsal() ? key : fmt::format("{} {}", key, section.text(key));
    return {name, HostCopy{bytes, key == "copy_to_host" ? HostWay::to_host : HostWay::from_host}};
  }
  if (key == "send" || key == "receive") return read_message(section, key);
  if (key == "exchange") return read_exchange(section);
  const auto kind = std::ranges::find(kCollectiveKinds, key, [](CollectiveKind k) { return name_of(k); });
  return collective(section, *kind);
}

/// Either a size alone or a table.
Rule OperationReader::collective_rule(CollectiveKind kind) {
  const std::optional<LayerInput> no_layer;
  const OperationReader reader(no_layer, kNoUnits);
  AnyOfRule rule;
  if (has_size(kind)) rule.alternatives.push_back(size_rule());
  rule.alternatives.push_back(
      {describe("", Provenance::optional, [&](Section& entry) { reader.detailed_collective(entry, kind); })});
  return {rule};
}

WrittenOperation OperationReader::collective(Section& section, CollectiveKind kind) const {
  const std::string key(name_of(kind));
  const Node& what = section.node(key, [kind] { return collective_rule(kind); });
  if (what.table() != nullptr) {
    Section entry(what, section.dotted(key));
    return detailed_collective(entry, kind);
  }
  if (!has_size(kind)) section.fail(key, "must be a table");
  if (what.text() == nullptr) section.fail(key, "must be a size, as in \"896 MiB\", or a table with `size`");
  CollectiveCall call{.kind = kind};
  read_size(section, key, call);
  return {fmt::format("{} {}", key, *what.text()), std::move(call)};
}

WrittenOperation OperationReader::detailed_collective(Section& section, CollectiveKind kind) const {
  CollectiveCall call{.kind = kind};
  std::string name(name_of(kind));
  if (kind == CollectiveKind::all_to_all_v) {
    call.sends = read_sends(section);
  } else if (has_size(kind)) {
    read_size(section, "size", call);
    name += " " + *section.node("size", size_rule).text();
  }
  if (kind == CollectiveKind::all_gather && section.has("in_place")) call.in_place = section.flag("in_place");
  const bool has_root = is_rooted(kind);
  if (has_root && section.has("root")) {
    call.root = static_cast<int>(section.integer("root", 0, kLargestRank));
  }
  call.ranks = optional_ranks(section, "ranks");
  call.groups = read_groups(section);
  if (call.groups && !call.ranks.empty())
    section.fail("groups", "cannot be given with 'ranks', which is one group");
  std::vector<int> on = optional_ranks(section, "on");
  section.explain(kCollectiveKeys);
  section.finish();
  name += group_text(call);
  return {std::move(name), std::move(call), std::move(on)};
}

Bytes OperationReader::named_size(const std::string& what, const Origin& at, const std::string& where) const {
  const std::size_t dot = what.rfind('.');
  const WeightShape shape = weight(std::string_view(what).substr(0, dot), at, where);
  const std::string_view part = std::string_view(what).substr(dot);
  const auto bytes = [this](std::int64_t rows, std::int64_t columns) {
    return element_size(layer_->dtype) * (static_cast<double>(rows) * static_cast<double>(columns));
  };
  if (part == kSizes[0]) return bytes(shape.outputs, shape.inputs);
  return bytes(layer_->tokens, part == kSizes[1] ? shape.inputs : shape.outputs);
}

void OperationReader::read_size(Section& section, std::string_view key, CollectiveCall& call) const {
  const std::string what = section.text(key, size_rule);
  const auto ends_so = [&](std::string_view part) { return what.ends_with(part); };
  if (std::ranges::any_of(kSizes, ends_so)) {
    call.bytes = named_size(what, section.node(key, size_rule).origin, section.dotted(key));
    call.dtype = layer_->dtype;
    return;
  }
  if (what.find_first_of("0123456789") != 0 && what.front() != '-') {
    section.fail(key,
                 fmt::format("'{}' is neither a size, as in '896 MiB', nor '<operation>.weight', '.input' or "
                             "'.output' with an operation of {}",
                             what, fmt::join(layer_operations(), ", ")));
  }
  call.bytes = section.bytes(key);
}

WeightShape OperationReader::weight(std::string_view operation, const Origin& at,
                                    const std::string& where) const {
  if (!layer_) {
    throw ConfigError(at, where,
                      fmt::format("'{}' is an operation of a model, and there is no [model]", operation));
  }
  const auto shape = weight_of(layer_->model, in_this_layer(operation));
  if (!shape) {
    throw ConfigError(at, where, unknown_name("operation", in_this_layer(operation), layer_operations()));
  }
  return *shape;
}

WeightShape OperationReader::own_weight(std::string_view operation, const Origin& at,
                                        const std::string& where) const {
  WeightShape shape = weight(operation, at, where);
  std::int64_t& cut = by_outputs(in_this_layer(operation)) ? shape.outputs : shape.inputs;
  if (cut % layer_->tensor_parallel != 0) {
    throw ConfigError(
        at, where,
        fmt::format("model.tensor_parallel = {} does not divide the {} {} of '{}'", layer_->tensor_parallel,
                    cut, &cut == &shape.outputs ? "outputs" : "inputs", operation));
  }
  cut /= layer_->tensor_parallel;
  return shape;
}

GemmShape OperationReader::layer_gemm(std::string_view name, const Origin& at, const std::string& where) const {
  const WeightShape shape = own_weight(name, at, where);
  return {.m = layer_->tokens, .n = shape.outputs, .k = shape.inputs, .dtype = layer_->dtype};
}

}}  // namespace c3::configs
