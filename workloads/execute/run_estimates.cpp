#include "workloads/execute/run_estimates.hpp"

#include <fmt/format.h>

#include <string>

namespace c3 { inline namespace workloads {
namespace {

constexpr double kPercent = 100.0;
/// Share of the time by which steps that were folded by the mean differed from exact ones (0.3 % in
/// tests/contract), rounded up: at the edge of a class the latency of a step shows more or less.
constexpr double kOfEdges = 0.005;

std::string classes_note(const RunResult& result, int ranks) {
  const std::size_t classes = result.classes.size();
  const std::string which = classes == 1 ? fmt::format("{} alike", ranks)
                                         : fmt::format("each of {} classes of the {} ranks", classes, ranks);
  std::string note = fmt::format("one rank is simulated for {}, with {} flows", which, result.flows);
  if (result.inequity > 0.0)
    note += fmt::format(
        "; loads that differ by up to {:.0f} % within them are averaged, so that times are estimates",
        kPercent * result.inequity);
  return note;
}

}  // namespace

void add_averaged_loads(RunResult& result, double spread, const AveragedLoads& averaged, int ranks) {
  constexpr double kRounding = 1e-9;
  if (spread > kRounding) {
    result.inequity = spread;
    const Seconds of_edges = kOfEdges * result.time;
    result.averaged = {averaged.longer + of_edges, averaged.shorter + of_edges};
    result.estimate = Estimate{.low = result.time - result.averaged.shorter,
                               .high = result.time + result.averaged.longer,
                               .method = "mean loads of classes of ranks",
                               .simulated = static_cast<double>(result.classes.size()) / ranks};
  }
  result.notes.push_back(classes_note(result, ranks));
}

void add_replays(RunResult& result, const KernelReplay::Summary& replays, double error, std::size_t ranks) {
  if (replays.replayed == 0) return;
  const Seconds whole = result.time * static_cast<double>(ranks);
  const double bound = error + replays.disturbed_time / whole;
  const double simulated = 1.0 - replays.replayed_time / replays.time;
  const std::optional<Estimate> of_loads = result.estimate;
  result.estimate = Estimate{.low = (result.time - result.averaged.shorter) / (1.0 + bound),
                             .high = (result.time + result.averaged.longer) / (1.0 - bound),
                             .method = "stem" + (of_loads ? ", " + of_loads->method : std::string()),
                             .simulated = simulated * (of_loads ? of_loads->simulated : 1.0)};
  if (!of_loads) result.estimate->bound = bound;
  std::string note = fmt::format(
      "stem: {} of {} kernels were simulated, {:.3g} % of their time, and the rest replayed; expected error "
      "{:.2g} %",
      replays.simulated, replays.simulated + replays.replayed, kPercent * simulated,
      kPercent * (replays.expected_error / whole));
  if (replays.disturbed > 0)
    note += fmt::format("; what ran beside {} replayed kernels changed, {:.2g} % of the time",
                        replays.disturbed, kPercent * (replays.disturbed_time / whole));
  result.notes.push_back(std::move(note));
}

}}  // namespace c3::workloads
