// Sentences below tables against the tables, for random numbers: what they name ranks first, and where
// something ranks first by enough it is named. Every name is "<x7>", which is no part of another one.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <ranges>
#include <string>
#include <vector>

#include "app/explain/explanation.hpp"
#include "app/import/import_tables.hpp"
#include "app/memory/memory_account.hpp"
#include "app/tune/tune_answer.hpp"
#include "results/recommendation.hpp"
#include "results/run_words.hpp"

namespace c3::closing_sentences_test {

using namespace literals;

namespace {

/// \p count numbers from \p least to 100, with ties.
std::vector<double> numbers(std::size_t count, int least = -100) {
  const auto drawn = *rc::gen::container<std::vector<int>>(count, rc::gen::inRange(least, 100));
  return {drawn.begin(), drawn.end()};
}

std::size_t some(std::size_t least) { return *rc::gen::inRange<std::size_t>(least, 7); }

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

std::string name_of_row(char table, std::size_t row) { return fmt::format("<{}{}>", table, row); }

/// Asserts for a table whose rows rank by \p values that \p text names none but the first, and that if it is
/// above \p least.
void assert_names_the_first(const std::string& text, char table, const std::vector<double>& values,
                            double least) {
  const double most = values.empty() ? least : std::ranges::max(values);
  bool is_named = false;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (!has(text, name_of_row(table, row))) continue;
    RC_ASSERT(values[row] == most);
    is_named = true;
  }
  RC_ASSERT(is_named == (most > least));
}

ClassTime kernels(std::size_t row, double ms) { return {.name = name_of_row('k', row), .time = ms * 1.0_ms}; }

/// A run with kernels of some classes and communication of some kinds, all of it one after another.
StepBreakdown drawn_breakdown() {
  StepBreakdown times{.kernels = {}, .communication = {}, .exposed = {}, .idle = numbers(1, 0)[0] * 1.0_ms};
  const std::vector<double> classes = numbers(some(1), 1);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    times.classes.push_back(kernels(i, classes[i]));
    times.kernels += times.classes.back().time;
  }
  for (const double time : numbers(some(0), 0)) {
    const double waiting = *rc::gen::inRange(0, 101) / 100.0;
    const std::string kind = name_of_row('c', times.exposed_by.size());
    times.exposed_by.push_back({.kind = kind, .time = time * 1.0_ms, .waiting = waiting * time * 1.0_ms});
    times.exposed += times.exposed_by.back().time;
  }
  times.communication = times.exposed;
  return times;
}

StudyResult study_of(std::vector<StrategyResult> strategies) {
  StudyResult study;
  study.strategies = std::move(strategies);
  return study;
}

StrategyResult strategy(std::string name, Seconds time) {
  StrategyResult result;
  result.name = std::move(name);
  result.time = time;
  return result;
}

}  // namespace

TEST_CASE(
    "property: run says of what is next only the largest part without kernels, or the largest class of "
    "kernels") {
  CHECK(rc::check([] {
    const StepBreakdown times = drawn_breakdown();
    const Seconds length = times.kernels + times.exposed + times.idle;
    StrategyResult result = strategy("default", length);
    result.classes.push_back({.name = "", .ranks = {{0, 1}}, .times = times});
    const std::string next = run_words(study_of({result})).back();
    std::vector<double> classes, kinds;
    for (const ClassTime& class_time : times.classes)
      classes.push_back(class_time.time.value);
    for (const ExposedTime& exposed : times.exposed_by)
      kinds.push_back(std::max(exposed.waiting, exposed.time - exposed.waiting).value);
    double without_kernels = times.idle.value;
    for (const double time : kinds)
      without_kernels = std::max(without_kernels, time);
    const bool is_worthwhile = without_kernels > 0.1 * length.value;
    assert_names_the_first(next, 'k', classes, is_worthwhile ? std::ranges::max(classes) : 0.0);
    // Idle time is as large as the largest kind or larger: then that is what is named.
    assert_names_the_first(next, 'c', kinds, is_worthwhile ? times.idle.value : 1e9);
    RC_ASSERT(has(next, "idle time") == (is_worthwhile && times.idle.value >= without_kernels));
    const double claimed = has(next, "kernels take") ? std::ranges::max(classes) / length.value
                                                     : without_kernels / (times.idle + times.exposed).value;
    RC_ASSERT(has(next, "most of the time") == (claimed > 0.5));
  }));
}

TEST_CASE("property: a recommended strategy is the fastest, and its cause the largest difference of losses") {
  CHECK(rc::check([] {
    std::vector<StrategyResult> strategies;
    for (const double time : numbers(some(2), 1))
      strategies.push_back(strategy(name_of_row('s', strategies.size()), time * 1.0_us));
    for (StrategyResult& drawn : strategies) {
      const std::vector<double> loss = numbers(6);
      drawn.loss = LossSplit{.dispatch = loss[0] * 1.0_us,
                             .cus = loss[1] * 1.0_us,
                             .cache = loss[2] * 1.0_us,
                             .hbm = loss[3] * 1.0_us,
                             .links = loss[4] * 1.0_us,
                             .interaction = loss[5] * 1.0_us};
    }
    const auto found = recommend(study_of(strategies));
    RC_ASSERT(found.has_value());
    if (!found->strategy) return;
    std::ranges::stable_sort(strategies, {}, &StrategyResult::time);
    RC_ASSERT(*found->strategy == strategies[0].name);
    RC_ASSERT(has(found->reason, strategies[1].name));
    const LossSplit &best = *strategies[0].loss, &next = *strategies[1].loss;
    const std::vector<std::pair<std::string, Seconds>> more{
        {"dispatch", next.dispatch - best.dispatch}, {"CUs", next.cus - best.cus},
        {"cache", next.cache - best.cache},          {"HBM", next.hbm - best.hbm},
        {"links", next.links - best.links},          {"interaction", next.interaction - best.interaction}};
    const Seconds most = std::ranges::max(more | std::views::values);
    for (const auto& [cause, lost] : more)
      if (has(found->reason, "us more to " + cause)) RC_ASSERT(lost == most);
    RC_ASSERT(has(found->reason, "us more to ") == (most > 0.05_us));
  }));
}

TEST_CASE(
    "property: explain names the largest part, the lever of which 1 % saves most and the choice that saves "
    "most") {
  CHECK(rc::check([] {
    Explanation explanation;
    explanation.strategy = "default";
    explanation.waterfall.time = 100.0_ms;
    const std::vector<double> parts = numbers(some(0)), savings = numbers(some(0)), times = numbers(some(0), 1);
    for (const double time : parts) {
      const std::string name = name_of_row('p', explanation.waterfall.parts.size());
      explanation.waterfall.parts.push_back({name, PartMethod::interval_union, time * 1.0_ms});
    }
    for (const double saving : savings) {
      const LeverKind kind = *rc::gen::element(LeverKind::rate, LeverKind::latency);
      explanation.levers.push_back({.name = name_of_row('l', explanation.levers.size()),
                                    .kind = kind,
                                    .elasticity = (kind == LeverKind::rate ? -0.01 : 0.01) * saving,
                                    .at_low = 101.0_ms,
                                    .at_high = 99.0_ms,
                                    .improved = 90.0_ms});
    }
    std::vector<double> saved;
    for (const double time : times) {
      ChoiceResult choice{.choice = {.key = {name_of_row('h', saved.size()), {}}, .part = "communication"}};
      choice.time = time * 1.5_ms;
      if (*rc::gen::inRange(0, 4) == 0) choice.problem = "breaks a rule";
      saved.push_back(choice.problem.empty() ? 1.0 - choice.time / 100.0_ms : -1e9);
      explanation.choices.push_back(std::move(choice));
    }
    const std::string words = explanation.words();
    assert_names_the_first(words, 'p', parts, 0.0);
    assert_names_the_first(words, 'l', savings, 0.0);
    assert_names_the_first(words, 'h', saved, 0.005);
    const std::string text = levers_text(explanation);
    RC_ASSERT(text.ends_with(words + "\n"));
  }));
}

TEST_CASE("property: tune says by which part of the time the best wins most") {
  CHECK(rc::check([] {
    std::vector<ComparedNumber> rows;
    std::vector<double> saved;
    for (const double difference : numbers(some(0))) {
      const bool is_part = *rc::gen::inRange(0, 3) > 0;
      rows.push_back({name_of_row('t', rows.size()), "ms", 200.0, 200.0 + difference, is_part});
      saved.push_back(is_part ? difference : -1e9);
    }
    assert_names_the_first(why_it_wins(rows), 't', saved, 0.05);
  }));
}

TEST_CASE("property: import says who binds a step only where the other's change does not shorten it") {
  CHECK(rc::check([] {
    const std::vector<int> steps = *rc::gen::container<std::vector<int>>(3, rc::gen::inRange(900, 1001));
    ImportReport report;
    for (const int step : steps)
      report.bounds.push_back({.change = "a change", .step = {step}, .gpu = {step}});
    const auto shortens = [&](std::size_t row) { return std::abs(steps[0] - steps[row]) / double(steps[0]); };
    const double by_gpus = shortens(1), by_hosts = shortens(2);
    const std::string text = import_text(report);
    RC_ASSERT(has(text, "the hosts bind") == (by_gpus < 0.01 && by_hosts > 0.01));
    RC_ASSERT(has(text, "the GPUs bind") == (by_hosts < 0.01 && by_gpus > 0.01));
  }));
}

TEST_CASE("property: memory names the change that makes the step fit at least cost") {
  CHECK(rc::check([] {
    MemoryAccount account;
    account.limit = 80.0_GB;
    StepFacts facts;
    facts.memory_size = account.limit;
    facts.memory.held = 90.0_GB;
    account.facts = facts;
    account.time.time = 1.0_s;
    account.steps.emplace_back();
    std::vector<double> speeds;
    for (const double time : numbers(some(1), 1)) {
      MemoryChange change{.key = {name_of_row('m', speeds.size()), {}}};
      facts.memory.held = *rc::gen::inRange(0, 2) == 0 ? 70.0_GB : 85.0_GB;
      change.facts = facts;
      change.time.time = time * 1.0_s;
      speeds.push_back(facts.fits() ? 1.0 / time : 0.0);
      account.changes.push_back(std::move(change));
    }
    const std::string text = memory_text(account, 3);
    assert_names_the_first(text.substr(text.rfind('\n', text.size() - 2)), 'm', speeds, 0.0);
  }));
}

}  // namespace c3::closing_sentences_test
