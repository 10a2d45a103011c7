#include "workloads/traces/host_chain.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "workloads/traces/wait_lags.hpp"

namespace c3 { inline namespace traces {
namespace {

// Idle times and reactions of autograd's threads in public traces of 2022 to 2025.
constexpr Picoseconds kIdle = 60_us;
constexpr Picoseconds kReaction = 400_us;

/// Time without a pause longer than kIdle.
struct Span {
  Picoseconds start;
  Picoseconds end;
};

enum class MarkKind : std::uint8_t { resume, plain, call_end, pause };

struct Mark {
  Picoseconds date;
  MarkKind kind = MarkKind::plain;
  PointId point = 0;
  std::uint32_t call = kNoIndex;  ///< of a call_end
  PointId cause = 0;              ///< of a resume
};

class ChainBuilder {
 public:
  ChainBuilder(const Rank& rank, Picoseconds shift, DependencyGraph& graph)
      : rank_(rank), shift_(shift), graph_(graph), marks_(rank.trace.threads.size()) {
    for (const HostWait& wait : rank.waits)
      waiting_.insert(wait.call);
  }

  HostChain build() {
    find_threads();
    add_calls();
    add_steps();
    add_resumes();
    for (std::vector<Mark>& marks : marks_) {
      link(marks);
      std::vector<PointId>& points = chain_.threads.emplace_back();
      for (const Mark& mark : marks)
        points.push_back(mark.point);
    }
    return std::move(chain_);
  }

 private:
  const TraceEvent& call(std::uint32_t index) const { return rank_.trace.calls[index]; }

  Mark& add_mark(std::uint32_t thread, Picoseconds date, MarkKind kind) {
    Mark& mark = marks_[thread].emplace_back();
    mark.date = date;
    mark.kind = kind;
    mark.point = graph_.add_point(date + shift_);
    return mark;
  }

  void find_threads() {
    for (const std::uint32_t launch : rank_.join.launch_of) {
      if (launch == kNoIndex) continue;
      relevant_.insert(rank_.join.outer_call[launch]);
    }
    relevant_.insert(waiting_.begin(), waiting_.end());
    for (const std::uint32_t index : relevant_)
      threads_.insert(call(index).track);
    for (const RecordedStep& step : rank_.steps)
      threads_.insert(step.thread);
  }

  Picoseconds end_in_step(const TraceEvent& event) const {
    for (const RecordedStep& step : rank_.steps) {
      if (step.thread == event.track && step.start <= event.start && event.start < step.end)
        return std::min(event.end(), step.end);
    }
    return event.end();
  }

  void add_calls() {
    for (const std::uint32_t index : relevant_) {
      const TraceEvent& event = call(index);
      CallPoints points;
      points.begin = add_mark(event.track, event.start, MarkKind::plain).point;
      Mark& end = add_mark(event.track, end_in_step(event), MarkKind::call_end);
      end.call = index;
      points.end = end.point;
      chain_.calls.emplace(index, points);
    }
  }

  void add_steps() {
    for (const RecordedStep& step : rank_.steps) {
      StepPoints points;
      points.begin = add_mark(step.thread, step.start, MarkKind::plain).point;
      points.end = add_mark(step.thread, step.end, MarkKind::plain).point;
      chain_.steps.push_back(points);
    }
  }

  /// Operators and calls of a thread, without pauses.
  std::vector<Span> spans_of(std::uint32_t thread) const {
    std::vector<Span> all;
    const auto add = [&](const TraceEvent& event) {
      if (event.track == thread) all.push_back({.start = event.start, .end = event.end()});
    };
    std::ranges::for_each(rank_.trace.ops, add);
    std::ranges::for_each(rank_.trace.calls, add);
    std::ranges::sort(all, {}, &Span::start);
    std::vector<Span> spans;
    for (const Span& span : all) {
      if (!spans.empty() && span.start <= spans.back().end + kIdle) {
        spans.back().end = std::max(spans.back().end, span.end);
      } else {
        spans.push_back(span);
      }
    }
    return spans;
  }

  /// The thread that ended its activity last before \p date, if that is a short time ago and after \p since.
  std::optional<std::pair<std::uint32_t, Picoseconds>> cause_of(std::uint32_t thread, Picoseconds since,
                                                                Picoseconds date) const {
    std::optional<std::pair<std::uint32_t, Picoseconds>> cause;
    for (const auto& [other, spans] : spans_) {
      if (other == thread) continue;
      const auto after = std::ranges::upper_bound(spans, date, {}, &Span::start);
      if (after == spans.begin()) continue;
      const Picoseconds end = std::prev(after)->end;
      if (end > date || end < since || end + kReaction < date) continue;
      if (!cause || cause->second < end) cause = std::pair(other, end);
    }
    return cause;
  }

  void add_resumes() {
    for (const std::uint32_t thread : threads_)
      spans_.emplace(thread, spans_of(thread));
    for (const auto& [thread, spans] : spans_) {
      for (std::size_t i = 0; i < spans.size(); ++i) {
        const Picoseconds since = i == 0 ? Picoseconds{spans.front().start - kReaction} : spans[i - 1].end;
        const auto cause = cause_of(thread, since, spans[i].start);
        if (!cause) continue;
        if (i > 0) add_mark(thread, spans[i - 1].end, MarkKind::pause);
        const PointId ended = add_mark(cause->first, cause->second, MarkKind::pause).point;
        add_mark(thread, spans[i].start, MarkKind::resume).cause = ended;
        ++chain_.resumes;
      }
    }
  }

  void link(std::vector<Mark>& marks) {
    std::ranges::stable_sort(marks, {}, &Mark::date);
    // At one date: a thread goes on before its call begins, and pauses after its call has ended.
    std::ranges::stable_sort(marks, [](const Mark& a, const Mark& b) {
      if (a.date != b.date) return a.date < b.date;
      const auto order = [](const Mark& mark) {
        return mark.kind == MarkKind::resume ? 0 : mark.kind == MarkKind::pause ? 2 : 1;
      };
      return order(a) < order(b);
    });
    const OwnCosts own_costs(rank_);
    PointId before = DependencyGraph::kOrigin;
    for (std::size_t i = 0; i < marks.size(); ++i) {
      const Mark& mark = marks[i];
      const bool is_first = i == 0;
      const Picoseconds gap = graph_.recorded(mark.point) - graph_.recorded(before);
      if (mark.kind == MarkKind::resume) {
        graph_.add_edge(mark.cause, mark.point, graph_.recorded(mark.point) - graph_.recorded(mark.cause),
                        LagKind::host);
        if (!is_first) graph_.add_edge(before, mark.point, {}, LagKind::host);
      } else if (mark.kind == MarkKind::call_end && waiting_.contains(mark.call)) {
        const Picoseconds since_begin = mark.date - call(mark.call).start;
        const Picoseconds waited = since_begin - std::min(since_begin, own_costs.of(mark.call));
        graph_.add_edge(before, mark.point, std::max(gap - waited, Picoseconds{}), LagKind::host);
      } else {
        graph_.add_edge(before, mark.point, gap, LagKind::host);
      }
      before = mark.point;
    }
  }

  const Rank& rank_;
  Picoseconds shift_;
  DependencyGraph& graph_;
  std::set<std::uint32_t> waiting_;   ///< calls
  std::set<std::uint32_t> relevant_;  ///< calls
  std::set<std::uint32_t> threads_;
  std::map<std::uint32_t, std::vector<Span>> spans_;  ///< by thread
  std::vector<std::vector<Mark>> marks_;              ///< [threads]
  HostChain chain_;
};

}  // namespace

HostChain add_host_chain(const Rank& rank, Picoseconds shift, DependencyGraph& graph) {
  return ChainBuilder(rank, shift, graph).build();
}

}}  // namespace c3::traces
