#include "studies/conccl/characterisation_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/errors.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/conccl/gemm_alone.hpp"
#include "studies/conccl/statistics.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;
constexpr double kMicro = 1e6;
constexpr Bytes kMasked{896.0 * kMebi};
constexpr double kAsFast = 1.05;  // of a mask that costs nothing

CollectiveCall call_of(CollectiveKind kind, Bytes bytes) {
  return {.kind = kind, .bytes = bytes, .dtype = DType::bf16};
}

void write(const CopyTimes& times, std::vector<double>& values) {
  for (const Seconds time : {times.library, times.ring, times.engines})
    values.push_back(time.value);
}

CopyTimes read_times(const double* values) {
  return {.library = Seconds{values[0]}, .ring = Seconds{values[1]}, .engines = Seconds{values[2]}};
}

/// What a job has found. \throws InfeasibleError when the system cannot run it
const std::vector<double>& values_of(const SimulatedTime& simulated, std::size_t count) {
  if (simulated.values.size() != count) throw InfeasibleError(simulated.said);
  return simulated.values;
}

/// By how many percent engines are faster than a ring.
double gain_over_ring(const CopyTimes& times) { return kPercent * (times.ring / times.engines - 1.0); }

/// \p line of a mean over \p gemms, and beside it the least and the greatest of them.
StudyLine with_extremes(StudyLine line, const std::vector<GemmShape>& gemms, const GpuSpec& gpu, int removed) {
  const Slowdown over = slowdown(gemms, gpu, removed);
  line.beside.emplace_back("least", over.least);
  line.beside.emplace_back("greatest", over.greatest);
  line.rows = gemms.size();
  return line;
}

}  // namespace

CharacterisationPart::CharacterisationPart(const DrawnExperiment& make, int draws,
                                           std::vector<GemmShape> memory_bound)
    : memory_bound_(std::move(memory_bound)) {
  cases_.push_back({make(std::nullopt), {}});
  for (int draw = 0; draw < draws; ++draw)
    cases_.push_back({make(static_cast<std::uint64_t>(draw)), {}});
  masks_ = {{.kind = CollectiveKind::all_gather, .algorithm = Algorithm::ring, .figure = "knee.all_gather"},
            {.kind = CollectiveKind::all_to_all, .algorithm = Algorithm::direct, .figure = "knee.all_to_all"}};
  for (Bytes bytes = kSmall; bytes <= kLarge; bytes = bytes * 2.0)
    sizes_.push_back({.bytes = bytes});
}

void CharacterisationPart::plan(SimulationJobs& jobs) {
  for (Drawn& drawn : cases_)
    plan_draw(jobs, drawn);
  for (MaskCurve& curve : masks_)
    plan_masks(jobs, curve);
  for (SizePoint& point : sizes_)
    plan_size(jobs, point);
}

void CharacterisationPart::plan_draw(SimulationJobs& jobs, Drawn& drawn) {
  constexpr std::size_t kValues = 13;
  jobs.push_back(
      {.run =
           [&drawn] {
             const Found found = find(drawn.experiment);
             SimulatedTime simulated{
                 .values = {found.gemms_minus_32, found.gemms_minus_64, found.up_minus_32, found.up_minus_64}};
             for (const CopyTimes& times : {found.small_gather, found.small_all_to_all, found.large_gather})
               write(times, simulated.values);
             return simulated;
           },
       .take =
           [&drawn](const SimulatedTime& simulated) {
             const std::vector<double>& values = values_of(simulated, kValues);
             drawn.found = {.gemms_minus_32 = values[0],
                            .gemms_minus_64 = values[1],
                            .up_minus_32 = values[2],
                            .up_minus_64 = values[3],
                            .small_gather = read_times(&values[4]),
                            .small_all_to_all = read_times(&values[7]),
                            .large_gather = read_times(&values[10])};
           }});
}

CharacterisationPart::Found CharacterisationPart::find(const Experiment& experiment) {
  const ClusterSpec& cluster = experiment.cluster;
  const DmaOptions dma = dma_options(experiment);
  const std::vector<GemmShape> gemms = compute_bound_gemms();
  const auto times = [&](CollectiveKind kind, Bytes bytes) {
    return copy_times(cluster, call_of(kind, bytes), dma);
  };
  return {.gemms_minus_32 = slowdown(gemms, cluster.gpu, kMostRemoved / 2).mean,
          .gemms_minus_64 = slowdown(gemms, cluster.gpu, kMostRemoved).mean,
          .up_minus_32 = slowdown(llama_405b_up(), cluster.gpu, kMostRemoved / 2),
          .up_minus_64 = slowdown(llama_405b_up(), cluster.gpu, kMostRemoved),
          .small_gather = times(CollectiveKind::all_gather, kSmall),
          .small_all_to_all = times(CollectiveKind::all_to_all, kSmall),
          .large_gather = times(CollectiveKind::all_gather, kLarge)};
}

void CharacterisationPart::plan_masks(SimulationJobs& jobs, MaskCurve& curve) {
  jobs.push_back({.run =
                      [this, &curve] {
                        const CollectiveCall call = call_of(curve.kind, kMasked);
                        SimulatedTime simulated;
                        for (const int cus : kMasks)
                          simulated.values.push_back(time_on_cus(nominal(), call, curve.algorithm, cus).value);
                        simulated.values.push_back(time_on_cus(nominal(), call, curve.algorithm, 0).value);
                        return simulated;
                      },
                  .take =
                      [&curve](const SimulatedTime& simulated) {
                        const std::vector<double>& values = values_of(simulated, kMasks.size() + 1);
                        for (std::size_t i = 0; i < kMasks.size(); ++i)
                          curve.on_cus.push_back(Seconds{values[i]});
                        curve.on_all = Seconds{values.back()};
                      }});
}

void CharacterisationPart::plan_size(SimulationJobs& jobs, SizePoint& point) {
  constexpr std::size_t kValues = 6;
  jobs.push_back(
      {.run =
           [this, &point] {
             SimulatedTime simulated;
             for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_to_all})
               write(copy_times(nominal().cluster, call_of(kind, point.bytes), dma_options(nominal())),
                     simulated.values);
             return simulated;
           },
       .take =
           [&point](const SimulatedTime& simulated) {
             const std::vector<double>& values = values_of(simulated, kValues);
             point.gather = read_times(&values[0]);
             point.all_to_all = read_times(&values[3]);
           }});
}

LadderValue CharacterisationPart::value(const std::function<double(const Drawn& drawn)>& of) const {
  LadderValue value{.nominal = of(cases_.front()), .by_draw = {}};
  for (std::size_t i = 1; i < cases_.size(); ++i)
    value.by_draw.push_back(of(cases_[i]));
  return value;
}

StudyLine CharacterisationPart::line(const PublishedFigures& published, std::string_view id,
                                     std::string_view label, OfDraw of) const {
  return line(published.find(id), label, value([of](const Drawn& drawn) { return of(drawn.found); }));
}

StudyLine CharacterisationPart::line(const PublishedFigure& of, std::string_view label,
                                     const LadderValue& found) {
  StudyLine line{.figure = {.of = of, .simulated = found.judged()}, .label = std::string(label)};
  if (const std::optional<DrawnValue> drawn = over_draws(found.by_draw)) {
    line.figure.p5 = drawn->p5;
    line.figure.p95 = drawn->p95;
    line.beside = {{"nominal", found.nominal}};
  }
  return line;
}

StudySection CharacterisationPart::gemms(const PublishedFigures& published) const {
  StudySection section{
      .heading = "GEMMs alone with CUs removed: how much longer they take",
      .lines = {},
      .notes = {"LLaMA-70B and 405B, five projections, 4,096 to 16,384 tokens, bf16; in closed "
                "form, launched from a full queue."},
      .value = "longer"};
  const std::vector<GemmShape> shapes = compute_bound_gemms();
  const auto mean = [&](std::string_view id, int removed, OfDraw of) {
    StudyLine next =
        line(published, id, fmt::format("mean of {} shapes, {} CUs removed", shapes.size(), removed), of);
    section.lines.push_back(with_extremes(std::move(next), shapes, nominal().cluster.gpu, removed));
  };
  mean("gemm.minus32.mean", kMostRemoved / 2, [](const Found& found) { return found.gemms_minus_32; });
  mean("gemm.minus64.mean", kMostRemoved, [](const Found& found) { return found.gemms_minus_64; });
  section.lines.push_back(line(published, "gemm.405b_up_4096.minus32", "405B up, 4,096 tokens, 32 CUs removed",
                               [](const Found& found) { return found.up_minus_32; }));
  section.lines.push_back(line(published, "gemm.405b_up_4096.minus64", "405B up, 4,096 tokens, 64 CUs removed",
                               [](const Found& found) { return found.up_minus_64; }));
  return section;
}

StudySection CharacterisationPart::memory_bound_gemms(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Memory-bound GEMMs of the scenarios alone with CUs removed",
      .lines = {},
      .notes = {"Told as streamed. What CUs removed relieve is an input, gpu.streamed_relief: half of "
                "what was published, up to 10 % faster. Slower: the arithmetic left for fewer CUs."},
      .value = "longer"};
  for (const int removed : {8, 32, 64}) {
    const auto mean = [&](const Drawn& drawn) {
      return slowdown(memory_bound_, drawn.experiment.cluster.gpu, removed).mean;
    };
    StudyLine next =
        line(published.find(fmt::format("gemm.streamed.minus{}", removed)),
             fmt::format("mean of {} shapes, {} CUs removed", memory_bound_.size(), removed), value(mean));
    next.figure.kind = FigureKind::input;
    section.lines.push_back(with_extremes(std::move(next), memory_bound_, nominal().cluster.gpu, removed));
  }
  return section;
}

StudySection CharacterisationPart::masks(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Collectives alone on few CUs: the fewest that are as good as all",
      .lines = {},
      .notes = {fmt::format("896 MiB, within {:.0f} % of the time on all CUs; beside: time over that. The "
                            "published knees are inputs (library.cu_rate, library.pair_cu_rate), no test.",
                            kPercent * (kAsFast - 1.0))},
      .value = "fewest",
      .decimals = 2};
  for (const MaskCurve& curve : masks_) {
    StudyLine next{.figure = {.of = published.find(curve.figure), .kind = FigureKind::input},
                   .label = fmt::format("{}, {}", name_of(curve.kind), name_of(curve.algorithm))};
    for (std::size_t i = 0; i < kMasks.size(); ++i) {
      const double slower = curve.on_cus[i] / curve.on_all;
      if (slower <= kAsFast && !next.figure.simulated) next.figure.simulated = kMasks.at(i);
      const bool is_power = (kMasks.at(i) & (kMasks.at(i) - 1)) == 0;
      if (is_power) next.beside.emplace_back(fmt::format("{} CUs [x]", kMasks.at(i)), slower);
    }
    section.lines.push_back(std::move(next));
  }
  return section;
}

StudySection CharacterisationPart::copies(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Copy engines beside RCCL at 1 KiB: time over RCCL's",
      .lines = {},
      .notes =
          {"RCCL by the method that its tuner chooses here, replayed from a graph: direct in LL. Engines: a "
           "copy for each peer, one host thread for the node."},
      .value = "engines",
      .decimals = 2};
  const auto add = [&](std::string_view id, std::string_view label, OfDraw of, const CopyTimes& nominal) {
    StudyLine next = line(published, id, label, of);
    next.beside.emplace_back("RCCL [us]", nominal.library.value * kMicro);
    next.beside.emplace_back("engines [us]", nominal.engines.value * kMicro);
    section.lines.push_back(std::move(next));
  };
  const Found& found = cases_.front().found;
  add(
      "dma.small.all_gather", "all-gather", [](const Found& of) { return of.small_gather.over_library(); },
      found.small_gather);
  add(
      "dma.small.all_to_all", "all-to-all", [](const Found& of) { return of.small_all_to_all.over_library(); },
      found.small_all_to_all);
  add("dma.small.all_gather.ring", "all-gather, of RCCL's ring",
      [](const Found& of) { return of.small_gather.over_ring(); },
      {.library = found.small_gather.ring, .ring = {}, .engines = found.small_gather.engines});
  return section;
}

StudyReport CharacterisationPart::sections(const PublishedFigures& published) const {
  StudySection large{.heading = "Copy engines beside RCCL at 1 GiB: how much faster",
                     .lines = {line(published, "dma.large", "all-gather, against RCCL's ring",
                                    [](const Found& found) { return gain_over_ring(found.large_gather); })},
                     .notes = {"Engines reach what links carry; RCCL reaches link_payload, a range."},
                     .value = "faster"};
  StudyReport report = {gemms(published), masks(published), copies(published), std::move(large)};
  if (!memory_bound_.empty()) report.insert(report.begin() + 1, memory_bound_gemms(published));
  return report;
}

}}  // namespace c3::studies
