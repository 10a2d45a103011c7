#include "studies/training/gpt_pieces.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "studies/comparison.hpp"

namespace c3 { inline namespace studies {
namespace {

struct Point {
  double x = 0.0, y = 0.0;
};

struct Line {
  double slope = 0.0, at_0 = 0.0;
};

/// Fits a line by least squares. Absent where all points have one x.
std::optional<Line> line_through(const std::vector<Point>& points) {
  const auto count = static_cast<double>(points.size());
  double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (const Point& point : points) {
    x += point.x / count;
    y += point.y / count;
  }
  for (const Point& point : points) {
    xx += (point.x - x) * (point.x - x);
    xy += (point.x - x) * (point.y - y);
  }
  if (xx <= 0.0) return std::nullopt;
  return Line{.slope = xy / xx, .at_0 = y - xy / xx * x};
}

/// Time over micro-batches, by layers.
using GroupTimes = std::map<std::int64_t, std::vector<Point>>;

/// Time of a micro-batch over layers.
std::vector<Point> micro_batches(const GroupTimes& times) {
  std::vector<Point> points;
  for (const auto& [layers, over_micro_batches] : times) {
    if (const auto line = line_through(over_micro_batches))
      points.push_back({static_cast<double>(layers), line->slope});
  }
  return points;
}

struct Group {
  std::string name;
  bool is_tensor_parallel = false;
  GroupTimes measured, here;
};

void add_pieces(const Group& group, std::vector<GptPiece>& pieces) {
  const std::vector<Point> measured = micro_batches(group.measured), here = micro_batches(group.here);
  const auto add = [&](GptPieceKind kind, const char* what, double is, double simulated) {
    if (is <= 0.0 || simulated <= 0.0) return;  // no piece takes less than nothing
    pieces.push_back({.kind = kind,
                      .name = fmt::format("{} {}", group.name, what),
                      .is_tensor_parallel = group.is_tensor_parallel,
                      .measured = Seconds{is},
                      .here = Seconds{simulated}});
  };
  const auto is = line_through(measured), simulated = line_through(here);
  if (is && simulated) {
    add(GptPieceKind::layer, "layer", is->slope, simulated->slope);
    add(GptPieceKind::rest, "rest", is->at_0, simulated->at_0);
  } else if (measured.size() == 1 && here.size() == 1) {
    add(GptPieceKind::whole, "whole", measured.front().y, here.front().y);
  }
}

}  // namespace

std::vector<GptPiece> gpt_pieces(const std::vector<SimulatedStep>& steps) {
  std::map<std::string, Group> groups;
  for (const SimulatedStep& step : steps) {
    if (!step.now) continue;
    const GptShape& shape = step.reference.gpt.value();
    const std::string name = fmt::format("{} GPUs h{} tp{} mb{}", shape.gpus, shape.hidden,
                                         shape.tensor_parallel, shape.micro_batch);
    Group& group = groups[name];
    group.name = name;
    group.is_tensor_parallel = shape.tensor_parallel > 1;
    const auto count = static_cast<double>(shape.micro_batches);
    group.measured[shape.layers].push_back({count, step.reference.measured.value});
    group.here[shape.layers].push_back({count, step.now->here.value});
  }
  std::vector<GptPiece> pieces;
  for (const auto& [name, group] : groups)
    add_pieces(group, pieces);
  return pieces;
}

StudySection pieces_section(const std::vector<GptPiece>& pieces, const FirstTable& first,
                            const PublishedFigures& published) {
  StudySection section{
      .heading = "GPTs on A100, pieces of a micro-batch: mean absolute error over groups of steps",
      .lines = {},
      .notes = {}};
  const auto add = [&](const std::string& id, const std::string& label,
                       const std::function<bool(const GptPiece&)>& is) {
    Comparison comparison;
    std::uint64_t rows = 0;
    for (const GptPiece& piece : pieces) {
      if (!is(piece)) continue;
      std::vector<Comparison::Beside> beside;
      if (const auto then = first.find("pieces", piece.name)) beside.emplace_back("first", then->here);
      comparison.add({piece.measured, piece.here, rows++}, beside);
    }
    StudyLine line = comparison.line(published.find(id), FigureKind::predicted, label);
    if (const auto mean = comparison.signed_mean()) line.beside.emplace_back("signed", *mean);
    section.lines.push_back(std::move(line));
  };
  const auto add_kind = [&](GptPieceKind kind, const std::string& id, const std::string& label) {
    add(id, label, [kind](const GptPiece& piece) { return piece.kind == kind; });
    for (const bool tensor : {false, true})
      add(id + (tensor ? ".tp" : ".dp"), tensor ? "  tensor parallel" : "  data parallel",
          [=](const GptPiece& piece) { return piece.kind == kind && piece.is_tensor_parallel == tensor; });
  };
  add_kind(GptPieceKind::layer, "pieces.layer", "a layer, 2 and 4 GPUs");
  add_kind(GptPieceKind::rest, "pieces.rest", "the rest, 2 and 4 GPUs");
  add_kind(GptPieceKind::whole, "pieces.whole", "12 layers and the rest, 8 GPUs");
  section.value = "now";
  section.notes = {
      "The tables are sums of profiled pieces: a group is all steps of the same GPUs, tensor parallelism, "
      "width and "
      "micro-batch. p5..p95: over groups."};
  return section;
}

}}  // namespace c3::studies
