#include <string>

#include <doctest/doctest.h>

#include "tests/support/trace_text.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3::traces_kineto_reader_test {

namespace {

Trace read_text(const std::string& text) { return read_kineto("t.json", source_of(text)); }

/// The message that \p text is refused with.
std::string refusal(const std::string& text) {
  return refusal_of([&] { read_text(text); });
}

}  // namespace

TEST_CASE("events of a trace keep their dates, threads, queues and arguments") {
  TraceText text;
  text.op("aten::mm", 100, 50, R"("External id":3,"Input Dims":[[4, 8],[8, 2]],"Input type":["float","float"])")
      .call("cudaLaunchKernel", 110.5, 5.25, 17)
      .kernel("gemm", 121.125, 30, 17, 20)
      .raw(R"({"ph":"M","name":"process_name","ts":0,"pid":1,"tid":0,"args":{"name":"python"}})");
  const Trace trace = text.read(R"("distributedInfo":{"rank":3,"world_size":8},"record_shapes":1,)");
  CHECK(trace.rank == 3);
  CHECK(trace.world_size == 8);
  CHECK(trace.has_shapes);
  CHECK(trace.events_read == 4);
  CHECK(trace.events_ignored == 1);
  REQUIRE(trace.activities.size() == 1);
  CHECK((trace.activities[0].start - trace.ops[0].start).count == 21'125'000);
  CHECK(trace.activities[0].duration == 30_us);
  CHECK(trace.activities[0].correlation == trace.calls[0].correlation);
  CHECK(trace.queues[trace.activities[0].track].stream == 20);
  CHECK(trace.texts.text(trace.op_details[trace.ops[0].details].dims) == "[[4, 8],[8, 2]]");
  CHECK(trace.name_of(trace.calls[0]) == "cudaLaunchKernel");
}

TEST_CASE("the base time is added to dates that are relative to it") {
  TraceText text;
  text.kernel("k", 4458677009853.422, 1, 1);
  const Trace trace = text.read(R"("baseTimeNanoseconds":1711964646000000000,)");
  // 4458677009853.422 us is written by fmt as it is; + 1711964646 s.
  CHECK(trace.origin + trace.activities[0].start.count ==
        (WidePicoseconds{4'458'677'009'853'422} + WidePicoseconds{1'711'964'646'000'000'000}) * 1000);
}

TEST_CASE("events are sorted, whatever their order in the file") {
  TraceText text;
  text.kernel("late", 300, 1, 2).kernel("early", 100, 1, 1).kernel("long", 300, 9, 3);
  const Trace trace = text.read();
  CHECK(trace.name_of(trace.activities[0]) == "early");
  CHECK(trace.name_of(trace.activities[1]) == "long");
  CHECK(trace.activities[2].position == 0);
}

TEST_CASE("old spellings of categories are understood") {
  TraceText text;
  text.event("Kernel", "k", 1, 1, R"("pid":0,"tid":7)", R"("device":0,"stream":7,"correlation":5)")
      .event("Runtime", "cudaLaunchKernel", 0, 1, R"("pid":1,"tid":1)", R"("correlation":5)")
      .event("Operator", "aten::add", 0, 2, R"("pid":1,"tid":1)", R"("Input dims":[[2]])");
  const Trace trace = text.read();
  CHECK(trace.activities.size() == 1);
  CHECK(trace.calls.size() == 1);
  CHECK(trace.ops.size() == 1);
}

TEST_CASE("names with control characters, bytes that are not UTF-8 and broken escapes are read") {
  TraceText text;
  text.kernel(std::string("a\x01") + "b", 1, 1, 1).kernel("c\xFF\xFE", 2, 1, 2).kernel(R"(d\ud800)", 3, 1, 3);
  text.kernel(R"(say \"x\" \\)", 4, 1, 4);
  const Trace trace = text.read();
  REQUIRE(trace.activities.size() == 4);
  CHECK(trace.name_of(trace.activities[0]) == "a b");
  CHECK(trace.name_of(trace.activities[1]) == "c??");
  CHECK(trace.name_of(trace.activities[3]) == R"(say "x" \)");
}

TEST_CASE("a bare array of events is a trace") {
  CHECK(read_text(R"([{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1,"pid":0,"tid":7,"args":{}}])")
            .activities.size() == 1);
}

TEST_CASE("unsigned -1 means unknown") {
  TraceText text;
  text.event("cuda_sync", "Stream Wait Event", 1, 1, R"("pid":0,"tid":7)",
             R"("stream":4294967295,"wait_on_stream":20,"wait_on_cuda_event_record_corr_id":-1)");
  const Trace trace = text.read();
  REQUIRE(trace.sync_details.size() == 1);
  CHECK(trace.sync_details[0].stream == kUnknown);
  CHECK(trace.sync_details[0].waited_stream == 20);
  CHECK(trace.sync_details[0].record_correlation == kUnknown);
}

TEST_CASE("what is no trace is refused with the file and the event") {
  const std::string good = R"({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1,"pid":0,"tid":7,"args":{}})";
  CHECK(refusal("") == "t.json: the file ends before its JSON does: it is truncated");
  CHECK(refusal("hello") == "t.json: it does not begin with { or [: not a JSON trace");
  CHECK(refusal(R"({"a":1})") == "t.json: it has no traceEvents: it is not a Kineto trace");
  CHECK(refusal(R"({"schema":"1.0.1","nodes":[]})") ==
        "t.json: it has no traceEvents: it is not a Kineto trace");
  CHECK(refusal("{\"traceEvents\":[" + good + "," + good.substr(0, 40)) ==
        "t.json: event 1: the file ends before its JSON does: it is truncated");
  CHECK(refusal("{\"traceEvents\":[" + good + ",7]}").starts_with("t.json: event 1: it is not a JSON object"));
  CHECK(refusal("{\"traceEvents\":[" + good + "]} trailing") ==
        "t.json: there is text after the end of the JSON value");
  CHECK(refusal(R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","ts":"soon","dur":1}]})") ==
        "t.json: event 0: ts: \"soon\" is not a number of microseconds");
  CHECK(refusal(R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":-1e14}]})") ==
        "t.json: event 0: dur: \"-1e14\" is not a number of microseconds of at most 50 days");
  CHECK(
      refusal(R"({"traceEvents":[)" + good + R"(,{"ph":"X","cat":"kernel","name":"k","ts":1e14,"dur":1}]})") ==
      "t.json: event 1: ts: 1e14 is more than 50 days from the first event");
}

TEST_CASE("a negative duration is taken as 0 and named") {
  TraceText text;
  text.kernel("good", 1, 2, 1).kernel("bad", 5, -3, 2);
  const Trace trace = text.read();
  REQUIRE(trace.changed_durations.size() == 1);
  const ChangedDuration& change = trace.changed_durations.front();
  CHECK(change.event == 1);
  CHECK(trace.texts.text(change.name) == "bad");
  CHECK(change.recorded == Picoseconds{-3'000'000});
  CHECK(trace.activities[1].duration == Picoseconds{});
}

TEST_CASE("work that ends after later work of its stream has ended is cut where that begins, and named") {
  // Five products of 200 us each 210 us, the third recorded as 1.6 s: the fourth begins 210 us after it.
  TraceText text;
  for (int i = 0; i < 5; ++i)
    text.launch("gemm", 10 * i, 100 + 210 * i, i == 2 ? 1.6e6 : 200, i + 1);
  const Trace trace = text.read();
  REQUIRE(trace.changed_durations.size() == 1);
  CHECK(trace.changed_durations.front().recorded == 1'600'000_us);
  CHECK(trace.changed_durations.front().taken == 210_us);
  CHECK(trace.activities[2].duration == 210_us);
  CHECK(trace.activities[1].duration == 200_us);
}

TEST_CASE("kernels of one graph, those that begin early, and those of two streams may overlap") {
  TraceText text;
  text.call("cudaGraphLaunch", 0, 10, 1).kernel("branch", 20, 100, 1).kernel("other", 30, 40, 1);
  text.launch("before", 200, 210, 100, 2).launch("early", 205, 300, 50, 3);  // ends after the one before it
  text.launch("long", 400, 410, 500, 4, 7).launch("beside", 405, 420, 50, 5, 20);
  CHECK(text.read().changed_durations.empty());
}

TEST_CASE("a trace of thousands of threads or streams is refused") {
  TraceText threads;
  TraceText streams;
  for (int i = 0; i <= 4096; ++i) {
    threads.call("cudaLaunchKernel", i, 1, i, i);
    streams.kernel("k", i, 1, i, i);
  }
  CHECK(refusal(threads.text()) == "t.json: event 4096: more than 4096 host threads in one trace");
  CHECK(refusal(streams.text()) == "t.json: event 4096: more than 4096 streams in one trace");
}

TEST_CASE("hostile nesting is refused, not followed") {
  const std::string deep(1'000'000, '[');
  CHECK(refusal("{\"traceEvents\":[" + deep) == "t.json: event 0: it is nested deeper than 100 levels");
  CHECK(refusal("{\"other\":" + deep) == "t.json: it is nested deeper than 100 levels");
}

}  // namespace c3::traces_kineto_reader_test
