#include "studies/kernels/clock_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "base/enum_names.hpp"
#include "gpu/kernels/stream_times.hpp"
#include "studies/checked_row.hpp"
#include "studies/comparison.hpp"
#include "studies/kernels/levels.hpp"
#include "studies/kernels/protocol.hpp"
#include "studies/kernels/taken_rows.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kWhat = "for a product as it was measured";
constexpr std::int64_t kLargest = std::int64_t{1} << 40U;
constexpr std::size_t kFewestInBin = 20;
// What SimuMax's repository says of this node's products after 25 to 50 ms: 0.45 to 0.51 of 2,250 TFLOP/s
// (MooreThreads/SimuMax commit 4dcaae51, configs/system/b200_bf16_ceperm.json).
constexpr double kNodeLevel = 0.48;
constexpr double kNodeRepeats = 25;  // untimed calls of each product; 75 timed ones follow
constexpr double kNodeTimed = 75;

bool is_bf16(const TakenRow& row) { return row.shape.dtype == DType::bf16; }

/// Big enough for its rate to be the GPU's level: tiles and launches hardly count.
bool shows_level(const GemmShape& shape) {
  return shape.m >= 1024 && shape.m % 256 == 0 && shape.n >= 2048 && shape.k >= 2048;
}

struct Bin {
  double low, high;
};
constexpr std::array kBusyBins = {Bin{2, 5},     Bin{5, 10},    Bin{10, 20},   Bin{20, 50},  Bin{50, 100},
                                  Bin{100, 200}, Bin{200, 400}, Bin{400, 800}, Bin{800, 1e9}};  // ms
constexpr std::array kBurstBins = {Bin{0, 20},    Bin{20, 50},    Bin{50, 100},    Bin{100, 200},
                                   Bin{200, 500}, Bin{500, 1000}, Bin{1000, 2000}, Bin{2000, 5000}};  // us
bool holds(const Bin& bin, double value) { return bin.low <= value && value < bin.high; }
std::string name_of(const Bin& bin) {
  return bin.high >= 1e9 ? fmt::format("from {:g}", bin.low) : fmt::format("{:g} to {:g}", bin.low, bin.high);
}

}  // namespace

ClockPart::ClockPart(const std::filesystem::path& kernels)
    : a100_{"a100", in_burst("a100-sxm-80gb"), {}},
      h100_{"h100", in_burst("h100-sxm"), {}},
      b200_{"b200", in_burst("b200-sxm"), {}},
      node_{"node", in_burst("b200-sxm"), {}} {
  read(a100_, read_taken(kernels / "gemm_a100_sxm.csv"));
  read(h100_, read_taken(kernels / "gemm_h100_sxm.csv"));
  read(b200_, read_taken_pairs(kernels / "gemm_b200_burst_and_sustained.csv"));
  read_node(kernels / "simumax_b200_gemm.csv");
}

void ClockPart::read(Table& table, const std::vector<TakenRow>& rows) {
  for (const TakenRow& row : rows)
    table.rows.push_back({row});
}

void ClockPart::read_node(const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 3> kLayouts = {"TN", "NN", "NT"};
  node_.gpu.governor.level = kNodeLevel * matrix_rate(node_.gpu, DType::bf16).peak;
  const HeadedTable rows(file);
  for (const HeadedTable::Row& each : rows.rows()) {
    const CheckedRow row(rows, each, kWhat);
    node_.rows.push_back({{.shape = {.m = row.whole("m", kLargest),
                                     .n = row.whole("n", kLargest),
                                     .k = row.whole("k", kLargest),
                                     .dtype = DType::bf16,
                                     .batch = row.whole("b", kLargest),
                                     .layout = static_cast<GemmLayout>(row.one_of("layout", kLayouts))},
                           .measured = row.above_0("ms") * 1.0_ms}});
  }
}

void ClockPart::plan(Jobs& jobs) {
  for (Table* table : {&h100_, &a100_, &b200_}) {
    jobs.emplace_back([table] {
      for (Scored& row : table->rows)
        row.predicted = taken_time(row.taken, table->gpu);
    });
  }
  // One buffer of each operand, 25 untimed and 75 timed calls; the products of the table follow one another.
  jobs.emplace_back([this] {
    for (Scored& row : node_.rows) {
      GemmShape shape = row.taken.shape;
      shape.warm = WarmOperands::all;
      const std::array<Operator, 1> kernels = {shape};
      const GovernedTimes times = stream_times(kernels, node_.gpu);
      row.predicted = measured_time(times.burst, times.sustained, times.to_limit,
                                    {.before = kNodeRepeats, .timed = kNodeTimed});
    }
  });
}

namespace {

using Select = std::function<bool(const TakenRow&)>;

/// The mean absolute error of the rows that \p select takes.
template <class Rows>
StudyLine mean_error(const Rows& rows, PublishedFigure of, FigureKind kind, std::string label,
                     const Select& select) {
  Comparison comparison;
  for (const auto& row : rows) {
    if (select(row.taken)) comparison.add({row.taken.measured, row.predicted, block_of(row.taken.shape)}, {});
  }
  return comparison.line(std::move(of), kind, std::move(label));
}

template <class Rows>
TimePairs times_of(const Rows& rows, const Select& select) {
  TimePairs pairs;
  for (const auto& row : rows) {
    if (select(row.taken)) pairs.add(row.taken.measured, row.predicted);
  }
  return pairs;
}

}  // namespace

StudySection ClockPart::pairs(const PublishedFigures& published) const {
  StudySection section;
  section.heading = "B200, TensorRT-LLM's BF16 products, burst and sustained";
  const auto taken_as = [](Repetition repetition, bool large) {
    return [repetition, large](const TakenRow& row) {
      return is_bf16(row) && row.collector == Collector::tensorrt_llm && row.repetition == repetition &&
             (!large || is_large(row.shape));
    };
  };
  for (const bool large : {true, false}) {
    const std::string which = large ? "" : ".all";
    const std::string words = large ? ", m, n and k at least 512" : ", all shapes";
    section.lines.push_back(mean_error(b200_.rows, published.find("clock.b200.burst" + which),
                                       FigureKind::fitted, "burst" + words, taken_as(Repetition::six, large)));
    section.lines.push_back(mean_error(b200_.rows, published.find("clock.b200.sustained" + which),
                                       FigureKind::fitted, "one second" + words,
                                       taken_as(Repetition::one_second, large)));
  }
  for (const Bin& bin : kBurstBins) {
    Medians ratios;
    for (std::size_t row = 0; row + 1 < b200_.rows.size(); row += 2) {
      const Scored& burst = b200_.rows[row];
      const Scored& sustained = b200_.rows[row + 1];
      const bool wanted = taken_as(Repetition::six, true)(burst.taken);
      if (!wanted || !holds(bin, burst.taken.measured.value * 1e6)) continue;
      ratios.here.push_back(sustained.predicted / burst.predicted);
      ratios.measured.push_back(sustained.taken.measured / burst.taken.measured);
    }
    if (ratios.here.size() < kFewestInBin) continue;
    section.lines.push_back(
        median_against(published.find(fmt::format("clock.b200.ratio.{:g}us", bin.low)), FigureKind::fitted,
                       fmt::format("sustained / burst, {} us, points", name_of(bin)), ratios, false));
  }
  section.notes = {
      "A row is scored by the same repeats of the model: 12 calls from idle, or a second of them. Ratios: the "
      "median "
      "here less the measured one."};
  return section;
}

StudySection ClockPart::levels(const PublishedFigures& published) const {
  StudySection section;
  section.heading = "Rate of large products by busy time: median against the measured";
  for (const Table* table : {&h100_, &a100_, &b200_}) {
    for (const Bin& bin : kBusyBins) {
      Medians rates;
      for (const Scored& row : table->rows) {
        const TakenRow& of = row.taken;
        const bool wanted = is_bf16(of) && of.repetition == Repetition::six &&
                            of.collector != Collector::vllm && shows_level(of.shape);
        if (!wanted || !holds(bin, busy_time(of, table->gpu, of.measured).value * 1e3)) continue;
        rates.here.push_back(flops_of(of.shape) / row.predicted.value);
        rates.measured.push_back(flops_of(of.shape) / of.measured.value);
      }
      if (rates.here.size() < kFewestInBin) continue;
      section.lines.push_back(median_against(
          published.find(fmt::format("clock.level.{}.{:g}ms", table->id, bin.low)), FigureKind::fitted,
          fmt::format("{}, busy {} ms", table->id, name_of(bin)), rates, true));
    }
  }
  section.notes = {"m at least 1,024 and a multiple of 256, n and k at least 2,048."};
  return section;
}

StudySection ClockPart::small(const PublishedFigures& published) const {
  StudySection section;
  section.heading = "Small products in BF16, below 10 GFLOP, m, n and k at least 512: error";
  const Select select = [](const TakenRow& row) {
    return is_bf16(row) && row.repetition == Repetition::six && row.collector != Collector::vllm &&
           is_large(row.shape) && flops_of(row.shape) < 10e9;
  };
  for (const Table* table : {&h100_, &b200_, &a100_}) {
    section.lines.push_back(mean_error(table->rows, published.find("small." + table->id), FigureKind::fitted,
                                       table->id + ", mean absolute", select));
    section.lines.push_back(signed_error(published.find("small.signed." + table->id), FigureKind::fitted,
                                         table->id + ", signed", times_of(table->rows, select)));
  }
  return section;
}

StudySection ClockPart::node(const PublishedFigures& published) const {
  StudySection section;
  section.heading =
      "Products of a training run on one B200 node, isolated, with the node's level as input: error";
  const auto of_layout = [](std::optional<GemmLayout> layout) -> Select {
    return [layout](const TakenRow& row) { return !layout || row.shape.layout == *layout; };
  };
  section.lines.push_back(mean_error(node_.rows, published.find("node.b200"), FigureKind::fitted,
                                     "all products, mean absolute", of_layout({})));
  section.lines.push_back(signed_error(published.find("node.signed.b200"), FigureKind::fitted,
                                       "all products, signed", times_of(node_.rows, of_layout({}))));
  constexpr double kLong = 300e9;  // flops: the layout's part is not hidden by anything else
  for (const GemmLayout layout : enum_values<GemmLayout>()) {
    const Select select = [layout](const TakenRow& row) {
      return row.shape.layout == layout && flops_of(row.shape) >= kLong;
    };
    section.lines.push_back(
        signed_error(published.find(fmt::format("node.signed.{}", name_of(layout))), FigureKind::fitted,
                     fmt::format("{}, from 300 GFLOP, signed", name_of(layout)), times_of(node_.rows, select)));
  }
  section.notes = {
      "Input: that large products settle at 0.48 of the peak on this node. What gradients of weights (nt) take "
      "longer is from the same rows."};
  return section;
}

StudySection ClockPart::quantised(const PublishedFigures& published) const {
  StudySection section;
  section.heading = "Products in FP8 with the two kernels that quantise the activations: mean absolute error";
  const Select fp8 = [](const TakenRow& row) {
    return row.shape.dtype == DType::fp8 && row.repetition == Repetition::six;
  };
  const Select large = [fp8](const TakenRow& row) { return fp8(row) && is_large(row.shape); };
  for (const Table* table : {&h100_, &b200_}) {
    section.lines.push_back(mean_error(table->rows, published.find("fp8.quantised." + table->id),
                                       FigureKind::fitted, table->id + ", all shapes", fp8));
    section.lines.push_back(mean_error(table->rows, published.find("fp8.quantised.large." + table->id),
                                       FigureKind::fitted, table->id + ", m, n and k at least 512", large));
  }
  return section;
}

StudyReport ClockPart::sections(const PublishedFigures& published) const {
  StudyReport report = {pairs(published), levels(published), small(published), node(published),
                        quantised(published)};
  std::erase_if(report,
                [](const StudySection& section) { return section.lines.empty(); });  // bins of too few rows
  return report;
}

}}  // namespace c3::studies
