#include "results/run_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "results/ranking.hpp"
#include "workloads/analysis/average_breakdown.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr double kLeastShare = 0.0005;  ///< shares below are "<0.1%", and have no words of their own
constexpr double kWorthwhile = 0.1;  ///< share of the time from which a part without kernels is what to look at
constexpr std::size_t kMostNamed = 3;               ///< classes and kinds
constexpr std::string_view kPipeline = "pipeline";  ///< communication_kind() of messages between stages

std::string words_share(double share) {
  return share > 0.0 && share < kLeastShare ? "<0.1%" : fmt::format("{:.1f}%", 100 * std::max(0.0, share));
}

Seconds average_length(const StepBreakdown& times) { return times.kernels + times.exposed + times.idle; }

bool is_kernel_class(const ClassTime& class_time) {
  return !is_collective_class(class_time.name) && class_time.name != kHostCopies &&
         class_time.name != kHostWork;
}

std::vector<ClassTime> kernel_classes(const StepBreakdown& times) {
  std::vector<ClassTime> classes;
  std::ranges::copy_if(times.classes, std::back_inserter(classes), is_kernel_class);
  return ranked(std::move(classes), &ClassTime::time);
}

std::vector<ExposedTime> largest_kinds(const StepBreakdown& times) {
  std::vector<ExposedTime> kinds;
  std::ranges::copy_if(times.exposed_by, std::back_inserter(kinds), [&](const ExposedTime& exposed_time) {
    return exposed_time.time > kLeastShare * average_length(times);
  });
  return ranked(std::move(kinds), &ExposedTime::time);
}

/// The largest classes as text: " (of them gemm 54%, attention 17%)".
std::string classes_text(const StepBreakdown& times) {
  const std::vector<ClassTime> classes = kernel_classes(times);
  Seconds all;
  for (const ClassTime& class_time : classes)
    all += class_time.time;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(kMostNamed, classes.size()); ++i)
    if (classes[i].time >= 0.005 * all)
      texts.push_back(fmt::format("{} {:.0f}%", classes[i].name, 100 * (classes[i].time / all)));
  return texts.empty() ? "" : fmt::format(" (of them {})", fmt::join(texts, ", "));
}

std::string time_line(const StrategyResult& strategy, const StepBreakdown& times) {
  const Seconds length = average_length(times);
  std::string text = fmt::format("time: {} spends {} in kernels{}, {} in exposed communication, {} idle",
                                 strategy.name, words_share(times.kernels / length), classes_text(times),
                                 words_share(times.exposed / length), words_share(times.idle / length));
  if (strategy.step)
    text += fmt::format("; at the peak of the GPU the model's flops would take {}",
                        words_share(strategy.step->mfu));
  return text;
}

std::string_view awaited(const ExposedTime& exposed_time) {
  return exposed_time.kind == kPipeline ? "other stages" : "members that have not come";
}

std::string exposed_line(const StepBreakdown& times) {
  if (times.communication <= Seconds{}) return "exposed: nothing communicates";
  const Seconds length = average_length(times);
  const std::vector<ExposedTime> kinds = largest_kinds(times);
  if (kinds.empty()) return "exposed: next to nothing; kernels run beside communication";
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(kMostNamed, kinds.size()); ++i) {
    const double waiting = kinds[i].waiting / kinds[i].time;
    texts.push_back(fmt::format("{} {} of the time", kinds[i].kind, words_share(kinds[i].time / length)) +
                    (waiting < kLeastShare ? std::string(", none of it waiting for others")
                                           : fmt::format(", of which {:.0f}% is waiting for {}", 100 * waiting,
                                                         awaited(kinds[i]))));
  }
  return fmt::format("exposed: {}", fmt::join(texts, "; "));
}

/// A part of the time, and what it is.
struct Part {
  Seconds time;
  std::string words;
};

/// \p largest of several of a sum
std::string_view most_of(Seconds largest, Seconds sum, std::string_view most, std::string_view largest_one) {
  return 2.0 * largest > sum ? most : largest_one;
}

/// The largest in which no kernel runs, or where none is worth much the largest class of kernels. \p is_step:
/// kinds of communication are those of a training step, else names of streams.
std::string largest_part(const StepBreakdown& times, bool is_step) {
  std::vector<Part> parts = {{times.idle, "idle time: hosts launch too slowly, or ranks wait for one another"}};
  for (const ExposedTime& exposed_time : times.exposed_by) {
    const std::string who =
        is_step ? exposed_time.kind + " communication" : fmt::format("stream '{}'", exposed_time.kind);
    parts.push_back({exposed_time.time - exposed_time.waiting, "data that " + who + " moves"});
    parts.push_back({exposed_time.waiting, exposed_time.kind == kPipeline
                                               ? "waiting for other stages, which more micro-batches "
                                                 "or virtual stages shorten"
                                               : "waiting for other members of " + who});
  }
  const Seconds length = average_length(times);
  const std::vector<ClassTime> classes = kernel_classes(times);
  if (const Part* most = first_of(parts, &Part::time, (classes.empty() ? 0.0 : kWorthwhile) * length))
    return fmt::format("{} of the time without kernels is {}",
                       most_of(most->time, times.idle + times.exposed, "most", "the largest part"),
                       most->words);
  if (classes.empty()) return "nothing that takes time";
  const ClassTime& largest = *std::ranges::max_element(classes, {}, &ClassTime::time);
  return fmt::format("{} kernels take {}", largest.name,
                     most_of(largest.time, length, "most of the time", "more time than any other class"));
}

std::string next_line(const StrategyResult& strategy, const StepBreakdown& times) {
  std::string text =
      fmt::format("next: {}; c3sim explain measures what causes each part and what would change it",
                  largest_part(times, strategy.step.has_value()));
  if (strategy.step) {
    const StepFacts& facts = strategy.step->facts;
    text += fmt::format("; {} of the memory limit is needed, c3sim memory --changes lists what changes that",
                        words_share(facts.memory.held / facts.memory_size));
  }
  return text;
}

}  // namespace

std::vector<std::string> run_words(const StudyResult& study) {
  if (study.strategies.empty()) return {};
  const StrategyResult& best = *std::ranges::min_element(study.strategies, {}, &StrategyResult::time);
  if (best.classes.empty()) return {};
  const StepBreakdown times = average_breakdown(best.classes);
  if (average_length(times) <= Seconds{}) return {};
  std::vector<std::string> lines = {time_line(best, times), exposed_line(times)};
  if (study.strategies.size() == 1) lines.push_back(next_line(best, times));
  return lines;
}

}}  // namespace c3::results
