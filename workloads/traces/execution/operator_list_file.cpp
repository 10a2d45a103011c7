#include "workloads/traces/execution/operator_list_file.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.hpp"
#include "workloads/traces/json_tree.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3 { inline namespace traces {
namespace {

constexpr std::string_view kFormat = "c3sim operators";
constexpr std::int64_t kMostKernels = 1'000'000;  // of one operator

/// "key": value, of what has a value.
class Members {
 public:
  void text(std::string_view key, const std::string& value) {
    if (!value.empty()) json(key, json_quoted(value));
  }
  void json(std::string_view key, const std::string& value) {
    if (!value.empty()) members_.push_back(fmt::format("\"{}\": {}", key, value));
  }
  void number(std::string_view key, const std::optional<std::int64_t>& value) {
    if (value) json(key, fmt::format("{}", *value));
  }
  std::string object() const { return fmt::format("{{{}}}", fmt::join(members_, ", ")); }

 private:
  std::vector<std::string> members_;
};

/// All six decimals of a picosecond that are needed.
std::string microseconds(Picoseconds time) {
  std::string text = fmt::format("{}.{:06}", time.count / 1'000'000, time.count % 1'000'000);
  while (text.back() == '0')
    text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

void add(const ListedCollective& collective, Members& members) {
  members.json("wait", collective.is_wait ? "true" : "false");
  members.text("kind", collective.kind);
  members.text("dtype", collective.dtype);
  members.text(collective.has_group_name ? "group" : "group_address", collective.group);
  members.text("splits", collective.splits);
  members.number("bytes", collective.bytes);
  members.number("group_size", collective.group_size);
  members.number("sequence", collective.sequence);
}

std::string text_of(int rank, const ListedOperator& found) {
  Members members;
  members.number("rank", rank);
  members.number("thread", found.thread);
  members.text("class", std::string(name_of(found.work)));
  members.text("name", found.name);
  members.json("dims", found.dims);
  members.json("types", found.types);
  members.json("concrete", found.concrete);
  if (found.collective) add(*found.collective, members);
  if (found.with_host) members.json("with_host", "true");
  if (found.gpu_time) members.json("gpu_time_us", microseconds(*found.gpu_time));
  members.number("kernels", found.kernels);
  if (found.host_time) members.json("host_us", microseconds(*found.host_time));
  if (found.after_wait) members.json("after_wait", "true");
  return members.object();
}

/// A count, from 0 on.
std::optional<std::int64_t> count_in(JsonView value) {
  const std::optional<std::int64_t> number = value.integer();
  return number && *number >= 0 ? number : std::nullopt;
}

class ListReader final : public JsonPieces {
 public:
  explicit ListReader(const std::string& file) { place_.file = file; }

  MemberUse use_of(std::string_view key) override {
    if (key == "format" || key == "version") return MemberUse::keep;
    if (key != "operators") return MemberUse::skip;
    if (!is_format_ || !is_version_) fail("\"format\" and \"version\" do not stand before \"operators\"");
    has_operators_ = true;
    return MemberUse::split;
  }

  void member(std::string_view key, std::string_view text) override {
    if (key == "format") {
      if (text != fmt::format("\"{}\"", kFormat)) fail("its format is not \"c3sim operators\"");
      is_format_ = true;
      return;
    }
    if (text != "1" && text != fmt::format("{}", kOperatorListVersion))
      fail(fmt::format("version {} is not read, only versions 1 and {}", text.substr(0, 20),
                       kOperatorListVersion));
    is_version_ = true;
  }

  void element(std::uint64_t index, std::string_view text) override {
    place_.event = index;
    try {
      add(tree_.parse(text));
    } catch (const JsonSyntaxError& error) {
      fail(fmt::format("it is not a JSON object: {}", error.what()));
    }
  }

  OperatorList take() {
    place_.event.reset();
    if (!has_operators_) fail("it has no \"operators\"");
    OperatorList list;
    for (auto& [rank, operators] : ranks_)
      list.ranks.push_back({.rank = rank, .operators = std::move(operators)});
    return list;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw TraceError(place_, what); }

  std::int64_t needed(JsonView json, std::string_view key) const {
    const std::optional<std::int64_t> number = count_in(json[key]);
    if (!number) fail(fmt::format("{}: \"{}\" is not an integer from 0", key, json[key].text().substr(0, 100)));
    return *number;
  }

  void add(JsonView json) {
    constexpr std::int64_t kMostRanks = 10'000'000;
    const std::int64_t rank = needed(json, "rank");
    if (rank > kMostRanks) fail(fmt::format("rank: {} is out of range", rank));
    ListedOperator& found = ranks_[static_cast<int>(rank)].emplace_back();
    found.thread = needed(json, "thread");
    found.name = json["name"].text();
    found.dims = array_in(json, "dims");
    found.types = array_in(json, "types");
    found.concrete = array_in(json, "concrete");
    const auto* const work = std::ranges::find(kWorkClassNames, json["class"].text());
    if (work == kWorkClassNames.end())
      fail(fmt::format("class: \"{}\" is not one of {}", json["class"].text().substr(0, 100),
                       fmt::join(kWorkClassNames, ", ")));
    found.work = static_cast<WorkClass>(work - kWorkClassNames.begin());
    if (json["wait"].is(JsonKind::flag)) found.collective = collective_in(json);
    found.gpu_time = time_in(json, "gpu_time_us");
    found.host_time = time_in(json, "host_us");
    if (!json["kernels"].is(JsonKind::null)) found.kernels = needed(json, "kernels");
    if (found.kernels.value_or(0) > kMostKernels)
      fail(fmt::format("kernels: {} is out of range", *found.kernels));
    found.with_host = json["with_host"].text() == "true";
    found.after_wait = json["after_wait"].text() == "true";
  }

  /// The array's text as it stands in the file.
  std::string array_in(JsonView json, std::string_view key) const {
    const JsonView value = json[key];
    if (value.is(JsonKind::null)) return "";
    if (!value.is(JsonKind::array)) fail(fmt::format("{}: it is not an array", key));
    return std::string(value.text());
  }

  std::optional<Picoseconds> time_in(JsonView json, std::string_view key) const {
    const JsonView value = json[key];
    if (value.is(JsonKind::null)) return std::nullopt;
    const std::optional<WidePicoseconds> time = parse_microseconds(value.text());
    const std::optional<Picoseconds> narrow = time && *time >= 0 ? narrowed(*time) : std::nullopt;
    if (!narrow)
      fail(fmt::format("{}: \"{}\" is not a number of microseconds from 0", key, value.text().substr(0, 100)));
    return narrow;
  }

  static ListedCollective collective_in(JsonView json) {
    const JsonView name = json["group"];
    return {.is_wait = json["wait"].text() == "true",
            .kind = std::string(json["kind"].text()),
            .dtype = std::string(json["dtype"].text()),
            .group = std::string(name.text().empty() ? json["group_address"].text() : name.text()),
            .has_group_name = !name.text().empty(),
            .splits = std::string(json["splits"].text()),
            .bytes = count_in(json["bytes"]),
            .group_size = count_in(json["group_size"]),
            .sequence = count_in(json["sequence"])};
  }

  TracePlace place_;
  JsonTree tree_{1};  // an operator; its lists stay JSON
  std::map<int, std::vector<ListedOperator>> ranks_;
  bool is_format_ = false;
  bool is_version_ = false;
  bool has_operators_ = false;
};

}  // namespace

std::string operator_list_text(const OperatorList& list) {
  std::string text =
      fmt::format("{{\"format\": \"{}\", \"version\": {}, \"operators\": [", kFormat, kOperatorListVersion);
  bool is_first = true;
  for (const RankOperators& rank : list.ranks) {
    for (const ListedOperator& found : rank.operators) {
      text += is_first ? "\n" : ",\n";
      text += text_of(rank.rank, found);
      is_first = false;
    }
  }
  return text + "\n]}\n";
}

OperatorList read_operator_list(const std::string& file, const ByteSource& source) {
  ListReader reader(file);
  split_trace(file, source, reader);
  return reader.take();
}

}}  // namespace c3::traces
