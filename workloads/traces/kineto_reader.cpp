#include "workloads/traces/kineto_reader.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/json.hpp"
#include "workloads/traces/event_categories.hpp"
#include "workloads/traces/event_parser.hpp"
#include "workloads/traces/impossible_durations.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3 { inline namespace traces {
namespace {

/// 4294967295 is -1 that was written as an unsigned number.
std::int64_t number_or_unknown(std::string_view text) {
  std::int64_t number = kUnknown;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr std::int64_t kUnsignedUnknown = 0xFFFFFFFF;
  const bool is_known = error == std::errc{} && end == text.data() + text.size() && number != kUnsignedUnknown;
  return is_known ? number : kUnknown;
}

std::optional<std::int64_t> number_or_nothing(std::string_view text) {
  const std::int64_t number = number_or_unknown(text);
  if (number < 0) return std::nullopt;
  return number;
}

class KinetoReader final : public JsonPieces {
 public:
  explicit KinetoReader(const std::string& file) { trace_.file = file; }

  void element(std::uint64_t index, std::string_view text) override {
    ++trace_.events_read;
    position_ = index;
    try {
      add(parser_.parse(text));
    } catch (const JsonSyntaxError& error) {
      fail(fmt::format("it is not a JSON object: {}", error.what()));
    }
  }

  MemberUse use_of(std::string_view key) override {
    if (key == "traceEvents") return MemberUse::split;
    const bool is_kept = key == "deviceProperties" || key == "distributedInfo" ||
                         key == "baseTimeNanoseconds" || key == "record_shapes" || key == "otherData";
    return is_kept ? MemberUse::keep : MemberUse::skip;
  }

  void member(std::string_view key, std::string_view text) override {
    try {
      const Json value = Json::parse(text);
      if (key == "deviceProperties") read_gpus(value);
      if (key == "distributedInfo") read_job(value);
      if (key == "baseTimeNanoseconds") base_ = WidePicoseconds{value.integer()} * 1000;
      if (key == "otherData" && value.is_object() && value.contains("starts"))
        trace_.has_releases = value["starts"].is_text() && value["starts"].text() == "release";
      if (key == "record_shapes") trace_.has_shapes = value.is_integer() && value.integer() != 0;
    } catch (const JsonError& error) {
      throw TraceError({.file = trace_.file, .rank = {}, .event = {}},
                       fmt::format("{}: {}", key, error.what()));
    }
  }

  Trace take() {
    if (trace_.events_read == 0) refuse_empty();
    trace_.origin += base_;
    for (auto* events : {&trace_.ops, &trace_.annotations, &trace_.calls, &trace_.activities, &trace_.syncs}) {
      std::ranges::sort(*events, {}, [](const TraceEvent& event) {
        return std::tuple(event.start, Picoseconds{-event.duration.count}, event.position);
      });
      events->shrink_to_fit();
    }
    cut_impossible_durations(trace_);
    return std::move(trace_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw TraceError({.file = trace_.file, .rank = trace_.rank, .event = position_}, what);
  }

  [[noreturn]] void refuse_empty() const {
    throw TraceError({.file = trace_.file, .rank = trace_.rank, .event = std::nullopt},
                     "it has no traceEvents: it is not a Kineto trace");
  }

  void add(const EventTexts& texts) {
    const std::optional<EventKind> kind = kind_of_category(texts.category);
    if (texts.phase != "X" || !kind) {
      ++trace_.events_ignored;
      if (texts.phase == "X") ++trace_.unread_categories[std::string(texts.category)];
      return;
    }
    TraceEvent event;
    event.kind = *kind;
    event.position = position_;
    event.name = trace_.texts.id_of(texts.name);
    event.start = start_of(texts.start);
    event.duration = duration_of(event, texts.duration);
    event.correlation = number_or_unknown(texts.correlation);
    event.external_id = number_or_unknown(texts.external_id);
    event.record_id = number_or_unknown(texts.record_id);
    add_details(event, texts);
    events_of(event.kind).push_back(event);
  }

  std::vector<TraceEvent>& events_of(EventKind kind) {
    switch (kind) {
      case EventKind::op:
        return trace_.ops;
      case EventKind::annotation:
        return trace_.annotations;
      case EventKind::call:
        return trace_.calls;
      case EventKind::sync_record:
        return trace_.syncs;
      case EventKind::kernel:
      case EventKind::copy:
      case EventKind::memset:
        break;
    }
    return trace_.activities;
  }

  Picoseconds start_of(std::string_view text) {
    const std::optional<WidePicoseconds> date = parse_microseconds(text);
    if (!date) fail(fmt::format("ts: \"{}\" is not a number of microseconds", text.substr(0, 100)));
    if (!has_origin_) trace_.origin = *date;
    has_origin_ = true;
    const std::optional<Picoseconds> start = narrowed(*date - trace_.origin);
    if (!start || start->count > kFarthest || start->count < -kFarthest)
      fail(fmt::format("ts: {} is more than 50 days from the first event", text.substr(0, 100)));
    return *start;
  }

  Picoseconds duration_of(const TraceEvent& event, std::string_view text) {
    const std::optional<WidePicoseconds> date = parse_microseconds(text);
    if (!date || *date < -kFarthest || *date > kFarthest)
      fail(fmt::format("dur: \"{}\" is not a number of microseconds of at most 50 days", text.substr(0, 100)));
    const Picoseconds duration = *narrowed(*date);
    if (duration >= Picoseconds{}) return duration;
    trace_.changed_durations.push_back(
        {.event = event.position, .name = event.name, .recorded = duration, .taken = {}});
    return {};
  }

  void add_details(TraceEvent& event, const EventTexts& texts) {
    if (is_gpu_work(event.kind)) {
      const bool has_stream = !texts.stream.empty();
      event.track = queue({.device = number_or_unknown(texts.device.empty() ? texts.process : texts.device),
                           .stream = number_or_unknown(has_stream ? texts.stream : texts.thread)});
    } else if (event.kind == EventKind::sync_record) {
      event.details = static_cast<std::uint32_t>(trace_.sync_details.size());
      const bool has_stream = !texts.stream.empty();  // of which the event has its track
      trace_.sync_details.push_back({.stream = number_or_unknown(has_stream ? texts.stream : texts.thread),
                                     .waited_stream = number_or_unknown(texts.waited_stream),
                                     .record_correlation = number_or_unknown(texts.record_correlation)});
    } else {
      event.track = thread({.process = std::string(texts.process), .thread = std::string(texts.thread)});
    }
    if (event.kind == EventKind::op || event.kind == EventKind::annotation) add_inputs(event, texts);
    if (!texts.collective.empty()) add_collective(event, texts);
  }

  void add_inputs(TraceEvent& event, const EventTexts& texts) {
    if (texts.dims.empty() && texts.concrete.empty()) return;
    event.details = static_cast<std::uint32_t>(trace_.op_details.size());
    trace_.op_details.push_back({.dims = trace_.texts.id_of(texts.dims),
                                 .types = trace_.texts.id_of(texts.types),
                                 .concrete = trace_.texts.id_of(texts.concrete)});
  }

  void add_collective(TraceEvent& event, const EventTexts& texts) {
    event.collective = static_cast<std::uint32_t>(trace_.collective_arguments.size());
    TextPool& pool = trace_.texts;
    trace_.collective_arguments.push_back({.name = pool.id_of(texts.collective),
                                           .dtype = pool.id_of(texts.dtype),
                                           .group = pool.id_of(texts.group),
                                           .group_description = pool.id_of(texts.group_description),
                                           .ranks = pool.id_of(texts.ranks),
                                           .in_split = pool.id_of(texts.in_split),
                                           .out_split = pool.id_of(texts.out_split),
                                           .in_elements = number_or_nothing(texts.in_elements),
                                           .out_elements = number_or_nothing(texts.out_elements),
                                           .group_size = number_or_nothing(texts.group_size),
                                           .sequence = number_or_nothing(texts.sequence)});
  }

  std::uint32_t thread(TraceThread found) {
    const auto key = std::pair(found.process, found.thread);
    const auto [place, is_new] = threads_.emplace(key, static_cast<std::uint32_t>(trace_.threads.size()));
    if (is_new) trace_.threads.push_back(std::move(found));
    if (threads_.size() > kMostTracks) fail(fmt::format("more than {} host threads in one trace", kMostTracks));
    return place->second;
  }

  std::uint32_t queue(GpuQueue found) {
    const auto key = std::pair(found.device, found.stream);
    const auto [place, is_new] = queues_.emplace(key, static_cast<std::uint32_t>(trace_.queues.size()));
    if (is_new) trace_.queues.push_back(found);
    if (queues_.size() > kMostTracks) fail(fmt::format("more than {} streams in one trace", kMostTracks));
    return place->second;
  }

  void read_gpus(const Json& list) {
    for (const Json& gpu : list.elements()) {
      const auto integer = [&](std::string_view key) { return gpu.contains(key) ? gpu[key].integer() : 0; };
      trace_.gpus.push_back({.device = integer("id"),
                             .name = gpu.contains("name") ? gpu["name"].text() : "",
                             .units = integer("numSms"),
                             .memory_bytes = integer("totalGlobalMem")});
    }
  }

  void read_job(const Json& job) {
    const auto small = [&](std::string_view key) -> std::optional<int> {
      if (!job.contains(key)) return std::nullopt;
      const std::int64_t number = job[key].integer();
      if (number < 0 || number > 10'000'000) throw JsonError(fmt::format("{} {} is out of range", key, number));
      return static_cast<int>(number);
    };
    trace_.rank = small("rank");
    trace_.world_size = small("world_size");
    if (job.contains("represented_rank_ranges")) read_represented(job);
  }

  void read_represented(const Json& job) {
    const int ranks = trace_.world_size.value_or(0);
    const auto rank_in = [&](const Json& number) {
      if (number.integer() < 0 || number.integer() >= ranks)
        throw JsonError(fmt::format("rank {} is not one of the world_size {}", number.integer(), ranks));
      return static_cast<int>(number.integer());
    };
    for (const Json& range : job["represented_rank_ranges"].elements()) {
      const Json::Elements& ends = range.elements();
      if (ends.size() != 2 || rank_in(ends[0]) > rank_in(ends[1]))
        throw JsonError("represented_rank_ranges must be pairs of a first and a last rank");
      trace_.represented.emplace_back(rank_in(ends[0]), rank_in(ends[1]));
    }
    for (const Json& group : job["pg_config"].elements()) {
      ProcessGroup& process_group = trace_.groups.emplace_back();
      process_group.name = group["pg_name"].text();
      process_group.description = group["pg_desc"].text();
      for (const Json& rank : group["ranks"].elements())
        process_group.ranks.push_back(rank_in(rank));
    }
  }

  static constexpr std::int64_t kFarthest = std::int64_t{50} * 86'400 * 1'000'000'000'000;  // 50 days [ps]

  /// Only a file that is meant to take long has more. Real traces have some dozens of threads and of streams.
  static constexpr std::size_t kMostTracks = 4096;

  Trace trace_;
  EventParser parser_;
  WidePicoseconds base_ = 0;
  bool has_origin_ = false;
  std::uint64_t position_ = 0;
  std::map<std::pair<std::string, std::string>, std::uint32_t> threads_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> queues_;
};

}  // namespace

Trace read_kineto(const std::string& file, const ByteSource& source) {
  KinetoReader reader(file);
  split_trace(file, source, reader);
  return reader.take();
}

}}  // namespace c3::traces
