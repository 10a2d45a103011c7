#include "configs/stream_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "configs/spec_readers.hpp"

namespace c3 {
namespace {

constexpr std::size_t kMostStreams = 64;
constexpr std::int64_t kLargestExtent = 16'777'216;  // of a GEMM
constexpr std::string_view kWeight = ".weight";
constexpr std::string_view kNext = "next.";

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

class RunReader {
 public:
  explicit RunReader(const std::optional<LayerInput>& layer) : layer_(layer) {}

  /// \param where dotted name of the entry, as in "stream.compute.run[0]".
  Operation operation(const Node& entry, const std::string& where) const {
    if (const std::string* name = entry.text()) return {*name, kernel(*name, entry.origin, where)};
    if (entry.table() == nullptr || entry.table()->members().size() != 1) {
      throw ConfigError(entry.origin, where,
                        fmt::format("must be the name of an operation or a table with one key of {}",
                                    fmt::join(kKeys, ", ")));
    }
    Section section(entry, where);
    return operation(section);
  }

  /// What `run` may hold.
  static const Rule& rule() {
    static const Rule kRule = [] {
      const RunReader reader(std::nullopt);
      const TableRule table =
          describe("", Provenance::optional, [&](Section& entry) { reader.operation(entry); });
      return Rule{ListRule{std::make_shared<Rule>(Rule{AnyOfRule{{{table}, {operation_rule("")}}}})}};
    }();
    return kRule;
  }

 private:
  Operation operation(Section& section) const {
    static const std::vector<std::string> kKnown(kKeys.begin(), kKeys.end());
    const std::string key = section.only_key("operation", kKnown);
    if (key == "all_gather") return collective(section, CollectiveKind::all_gather, key);
    if (key == "all_to_all") return collective(section, CollectiveKind::all_to_all, key);
    if (key == "gemm") return gemm(section);
    if (key == "record") return {"record " + section.text(key), RecordEvent{section.text(key)}};
    return {"wait " + section.text(key), WaitEvent{section.text(key)}};
  }

  static constexpr std::array<std::string_view, 5> kKeys = {"all_gather", "all_to_all", "gemm", "record",
                                                            "wait"};

  WeightShape weight(std::string_view operation, const Origin& at, const std::string& where) const {
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

  GemmShape kernel(std::string_view name, const Origin& at, const std::string& where) const {
    const WeightShape shape = weight(name, at, where);
    return {.m = layer_->tokens, .n = shape.outputs, .k = shape.inputs, .dtype = layer_->dtype};
  }

  /// A size such as "896 MiB", or "<operation>.weight".
  Operation collective(Section& section, CollectiveKind kind, const std::string& key) const {
    static const Rule kRule = {
        AnyOfRule{{{QuantityRule{Dimension::bytes, Sign::positive}}, {operation_rule(kWeight)}}}};
    const std::string what = section.text(key, kRule);
    const std::string name = fmt::format("{} {}", key, what);
    if (!what.ends_with(kWeight)) return {name, CollectiveCall{kind, size(section, key, what)}};
    const std::string_view operation = std::string_view(what).substr(0, what.size() - kWeight.size());
    const WeightShape shape = weight(operation, section.node(key, kRule).origin, section.dotted(key));
    const double elements = static_cast<double>(shape.outputs) * static_cast<double>(shape.inputs);
    return {name, CollectiveCall{kind, element_size(layer_->dtype) * elements, layer_->dtype}};
  }

  static Bytes size(Section& section, const std::string& key, const std::string& what) {
    if (what.find_first_of("0123456789") != 0 && what.front() != '-') {
      section.fail(key, fmt::format("'{}' is neither a size, as in '896 MiB', nor '<operation>.weight' with an "
                                    "operation of {}",
                                    what, fmt::join(layer_operations(), ", ")));
    }
    return section.bytes(key);
  }

  static Operation gemm(Section& entry) {
    Section section = entry.table("gemm");
    const GemmShape shape{.m = section.integer("m", 1, kLargestExtent),
                          .n = section.integer("n", 1, kLargestExtent),
                          .k = section.integer("k", 1, kLargestExtent),
                          .dtype = read_dtype(section, "dtype")};
    section.finish();
    return {fmt::format("gemm {}x{}x{} {}", shape.m, shape.n, shape.k, name_of(shape.dtype)), shape};
  }

  const std::optional<LayerInput>& layer_;
};

/// A stream and where each of its operations is written.
struct PlacedStream {
  StreamSpec stream;
  std::vector<Origin> origins;
};

PlacedStream read_stream(Section& section, const RunReader& reader, const std::vector<StreamSpec>& earlier) {
  StreamSpec stream{.name = section.slug("name"), .operations = {}};
  if (std::ranges::find(earlier, stream.name, &StreamSpec::name) != earlier.end()) {
    section.fail("name", fmt::format("there are two streams '{}'", stream.name));
  }
  if (stream.name == "serial" || stream.name == "order") {
    section.fail("name", "'serial' and 'order' are keys of a strategy, choose another name");
  }
  const Node& run = section.node("run", RunReader::rule());
  if (run.array() == nullptr) section.fail("run", "must be a list of operations");
  if (run.array()->empty()) section.fail("run", "is empty: a stream runs at least one operation");
  std::vector<Origin> origins;
  for (const Node& entry : *run.array()) {
    const std::string where = fmt::format("stream.{}.run[{}]", stream.name, stream.operations.size());
    stream.operations.push_back(reader.operation(entry, where));
    origins.push_back(entry.origin);
  }
  section.finish();
  return {std::move(stream), std::move(origins)};
}

/// An event that nobody records would hang its stream; one recorded twice would be ambiguous.
void check_events(const std::vector<StreamSpec>& streams, const std::vector<std::vector<Origin>>& origins) {
  std::vector<std::string> recorded;
  const auto each = [&](auto visit) {
    for (std::size_t s = 0; s < streams.size(); ++s) {
      for (std::size_t i = 0; i < streams[s].operations.size(); ++i) {
        const std::string where = fmt::format("stream.{}.run[{}]", streams[s].name, i);
        visit(streams[s].operations[i], origins[s][i], where);
      }
    }
  };
  each([&](const Operation& operation, const Origin& at, const std::string& where) {
    const auto* record = std::get_if<RecordEvent>(&operation.work);
    if (record == nullptr) return;
    if (std::ranges::find(recorded, record->event) != recorded.end()) {
      throw ConfigError(at, where, fmt::format("event '{}' is recorded twice", record->event));
    }
    recorded.push_back(record->event);
  });
  each([&](const Operation& operation, const Origin& at, const std::string& where) {
    const auto* wait = std::get_if<WaitEvent>(&operation.work);
    if (wait == nullptr || std::ranges::find(recorded, wait->event) != recorded.end()) return;
    throw ConfigError(at, where, unknown_name("event", wait->event, recorded));
  });
}

}  // namespace

std::vector<StreamSpec> read_streams(Section& root, const std::optional<LayerInput>& layer) {
  const RunReader reader(layer);
  std::vector<StreamSpec> streams;
  std::vector<std::vector<Origin>> origins;
  for (Section& section : root.tables("stream", kMostStreams)) {
    PlacedStream placed = read_stream(section, reader, streams);
    streams.push_back(std::move(placed.stream));
    origins.push_back(std::move(placed.origins));
  }
  check_events(streams, origins);
  return streams;
}

}  // namespace c3
