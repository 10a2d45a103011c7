#include <doctest/doctest.h>

#include "base/json.hpp"
#include "results/run_words.hpp"
#include "results/study_json.hpp"
#include "results/table.hpp"
#include "tests/support/text_lines.hpp"

namespace c3::results_run_words_test { namespace {

using Lines = std::vector<std::string>;

/// Ranks \p first to \p last, each of which does \p times.
SimulatedClass ranks(int first, int last, StepBreakdown times) {
  return {.name = "", .ranks = {{first, last + 1}}, .times = std::move(times)};
}

StudyResult study_of(std::vector<StrategyResult> strategies) {
  StudyResult study;
  study.experiment = "hand";
  study.strategies = std::move(strategies);
  return study;
}

StrategyResult strategy(const std::string& name, Seconds time, std::vector<SimulatedClass> classes) {
  StrategyResult result;
  result.name = name;
  result.time = time;
  result.classes = std::move(classes);
  return result;
}

/// 100 ms of which \p exposed communicate alone, \p waiting of them waiting, the rest in kernels.
StepBreakdown pipelined(Seconds exposed, Seconds waiting) {
  const Seconds kernels = 100.0_ms - exposed;
  return {.kernels = kernels,
          .communication = exposed,
          .exposed = exposed,
          .idle = {},
          .classes = {{.name = "gemm", .time = 0.75 * kernels},
                      {.name = "norm", .time = 0.25 * kernels},
                      {.name = "send_receive", .time = 50.0_ms}},
          .exposed_by = {{.kind = "pipeline", .time = exposed, .waiting = waiting}}};
}

TEST_CASE("words of a run are about the average GPU: stages that wait count as often as they have ranks") {
  // 3 ranks expose 40 of 100 ms, 30 of them waiting, one exposes nothing: 30 % and of that 75 % waiting.
  const StudyResult study =
      study_of({strategy("default", 100.0_ms,
                         {ranks(0, 2, pipelined(40.0_ms, 30.0_ms)), ranks(3, 3, pipelined(0.0_ms, 0.0_ms))})});
  CHECK(run_words(study) ==
        Lines{"time: default spends 70.0% in kernels (of them gemm 75%, norm 25%), 30.0% in exposed "
              "communication, 0.0% idle",
              "exposed: pipeline 30.0% of the time, of which 75% is waiting for other stages",
              "next: most of the time without kernels is waiting for other stages, which more micro-batches or "
              "virtual stages shorten; c3sim explain measures what causes each part and what would change it"});
}

TEST_CASE(
    "words of a run with several strategies are about the fastest, and leave what is next to the choice") {
  const StudyResult study = study_of({strategy("slow", 120.0_ms, {ranks(0, 0, pipelined(40.0_ms, 0.0_ms))}),
                                      strategy("fast", 100.0_ms, {ranks(0, 0, pipelined(20.0_ms, 0.0_ms))})});
  const Lines words = run_words(study);
  REQUIRE(words.size() == 2);
  CHECK(words[0].starts_with("time: fast spends 80.0% in kernels"));
  CHECK(words[1] == "exposed: pipeline 20.0% of the time, none of it waiting for others");
  const Lines table = test::lines(format_study(study));
  CHECK(table[table.size() - 2] == words[1]);
  CHECK(table.back().starts_with("recommended: fast"));
  const Json json = Json::parse(study_json(study, "out/hand.h5"))["words"];
  CHECK(json.elements().size() == 2);
  CHECK(json.elements()[1] == words[1]);
}

TEST_CASE("words of a step without communication name its kernels and the memory that it needs") {
  StepBreakdown times{.kernels = 98.0_ms, .communication = {}, .exposed = {}, .idle = 2.0_ms};
  times.classes = {{.name = "norm", .time = 28.0_ms}, {.name = "gemm", .time = 70.0_ms}};
  StrategyResult step = strategy("default", 100.0_ms, {ranks(0, 7, times)});
  step.step = StepResult{};
  step.step->mfu = 0.42;
  step.step->facts.memory.held = 60.0_GB;
  step.step->facts.memory_size = 80.0_GB;
  CHECK(run_words(study_of({step})) ==
        Lines{"time: default spends 98.0% in kernels (of them gemm 71%, norm 29%), 0.0% in exposed "
              "communication, 2.0% idle; at the peak of the GPU the model's flops would take 42.0%",
              "exposed: nothing communicates",
              "next: gemm kernels take most of the time; c3sim explain measures what causes each part and what "
              "would change it; 75.0% of the memory limit is needed, c3sim memory --changes lists what "
              "changes that"});
}

TEST_CASE("words of what is next name the communication of a step, and streams of other experiments") {
  StepBreakdown times = pipelined(40.0_ms, 0.0_ms);
  times.exposed_by.front().kind = "job_a";
  StrategyResult result = strategy("default", 100.0_ms, {ranks(0, 0, times)});
  const std::string most = "next: most of the time without kernels is ";
  CHECK(run_words(study_of({result})).back().starts_with(most + "data that stream 'job_a' moves;"));
  result.classes.front().times.exposed_by.front().waiting = 30.0_ms;
  CHECK(
      run_words(study_of({result})).back().starts_with(most + "waiting for other members of stream 'job_a';"));
  result.step = StepResult{};
  result.step->facts.memory_size = 80.0_GB;
  result.classes.front().times.exposed_by.front() = {.kind = "data parallel", .time = 40.0_ms, .waiting = {}};
  CHECK(
      run_words(study_of({result})).back().starts_with(most + "data that data parallel communication moves;"));
}

TEST_CASE("words of a run are absent where nobody knows where its time goes") {
  CHECK(run_words({}).empty());
  CHECK(run_words(study_of({strategy("default", 100.0_ms, {})})).empty());
}

}}  // namespace c3::results_run_words_test
