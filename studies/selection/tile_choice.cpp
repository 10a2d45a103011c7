#include "studies/selection/tile_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "gpu/calibration/cross_validation.hpp"
#include "gpu/kernels/gemm/gemm_choice.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::size_t kFolds = 5;
constexpr std::size_t kFewestSizes = 20;
constexpr std::uint64_t kSeed = 1;
constexpr double kPercent = 100.0;
constexpr std::size_t kFirst = 3;  ///< choices that are looked at
constexpr std::size_t kBeams = 8;  ///< beginnings that the search keeps
constexpr std::size_t kNeighbours = 8;

/// Problems that are compared by rules.
std::string group_of(const TileProblem& problem) {
  return fmt::format("{} {}", name_of(problem.shape.dtype), name_of(problem.shape.layout));
}

using Votes = std::map<TokenSequence, double>;

std::vector<TokenSequence> first_of(const Votes& votes) {
  std::vector<std::pair<double, TokenSequence>> ranked;
  for (const auto& [sequence, count] : votes)
    ranked.emplace_back(-count, sequence);
  std::ranges::sort(ranked);
  std::vector<TokenSequence> first;
  for (std::size_t i = 0; i < std::min(kFirst, ranked.size()); ++i)
    first.push_back(ranked[i].second);
  return first;
}

double distance(const GemmShape& a, const GemmShape& b) {
  const auto apart = [](std::int64_t x, std::int64_t y) {
    return std::abs(std::log2(static_cast<double>(x)) - std::log2(static_cast<double>(y)));
  };
  return apart(a.m, b.m) + apart(a.n, b.n) + apart(a.k, b.k) + apart(a.batch, b.batch);
}

}  // namespace

TileChoice::TileChoice(const TileTable& of)
    : of_(of),
      learned_(of.problems.size()),
      shipped_(of.problems.size()),
      majority_(of.problems.size()),
      neighbours_(of.problems.size()) {}

void TileChoice::plan(Jobs& jobs) {
  std::vector<std::uint64_t> sizes;
  for (const TileProblem& problem : of_.problems)
    sizes.push_back(problem.sizes);
  if (std::set<std::uint64_t>(sizes.begin(), sizes.end()).size() < kFewestSizes) return;
  was_chosen_ = true;
  for (const Split& split : folds_by_key(sizes, kFolds, kSeed)) {
    jobs.emplace_back([this, split] { choose(split.fitted, split.held_out); });
    jobs.emplace_back([this, split] { vote(split.fitted, split.held_out); });
  }
}

void TileChoice::choose(const Rows& fitted, const Rows& held_out) {
  const auto by = [&](const TrainingOptions& options, Choices& choices) {
    const KernelSelector selector = tile_selector(of_, fitted, options);
    for (const std::size_t row : held_out) {
      const TakenSequence& asked = of_.problems[row].sequence;
      if (!selector.valid.contains(asked.kind)) continue;
      for (const RankedSequence& each : selector.rank(asked.features, asked.kind, kBeams))
        choices[row].push_back(each.tokens);
      if (choices[row].size() > kFirst) choices[row].resize(kFirst);
    }
  };
  by(kManyTiles, learned_);
  by(kShippedTiles, shipped_);
}

void TileChoice::vote(const Rows& fitted, const Rows& held_out) {
  constexpr double kTie = 1e-3;
  std::map<std::string, Rows> groups;
  std::map<std::string, Votes> all;
  for (const std::size_t row : fitted) {
    const std::string group = group_of(of_.problems[row]);
    groups[group].push_back(row);
    all[group][of_.problems[row].sequence.tokens] += 1.0;
  }
  for (const std::size_t row : held_out) {
    const TileProblem& asked = of_.problems[row];
    const std::string group = group_of(asked);
    majority_[row] = first_of(all[group]);
    std::vector<std::pair<double, std::size_t>> near;
    for (const std::size_t other : groups[group])
      near.emplace_back(distance(asked.shape, of_.problems[other].shape), other);
    const std::size_t count = std::min(kNeighbours, near.size());
    std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(count));
    Votes votes;
    for (std::size_t i = 0; i < count; ++i)
      votes[of_.problems[near[i].second].sequence.tokens] += 1.0 - kTie * static_cast<double>(i);
    neighbours_[row] = first_of(votes);
  }
}

std::vector<StudyLine> TileChoice::lines(const PublishedFigures& published, const std::string& way,
                                         const std::string& label, const Choices& choices) const {
  double right = 0.0, among_first = 0.0, tile = 0.0;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const TokenSequence& taken = of_.problems[i].sequence.tokens;
    if (choices[i].empty()) continue;
    const TokenSequence& first = choices[i].front();
    right += first == taken ? 1.0 : 0.0;
    tile += first[0] == taken[0] && first[1] == taken[1] ? 1.0 : 0.0;
    among_first += std::ranges::find(choices[i], taken) != choices[i].end() ? 1.0 : 0.0;
  }
  const std::size_t rows = was_chosen_ ? choices.size() : 0;
  const double percent = kPercent / static_cast<double>(std::max<std::size_t>(rows, 1));
  StudyLine one{.figure = {.of = published.find(fmt::format("tiles.{}.{}.first", of_.words, way)),
                           .kind = FigureKind::fitted},
                .label = label + ": first choice right",
                .rows = rows};
  StudyLine three{.figure = {.of = published.find(fmt::format("tiles.{}.{}.three", of_.words, way)),
                             .kind = FigureKind::fitted},
                  .label = label + ": among the first three",
                  .rows = rows};
  if (rows == 0) return {std::move(one), std::move(three)};
  one.figure.simulated = percent * right;
  one.beside = {{"tile right [%]", percent * tile}};
  three.figure.simulated = percent * among_first;
  return {std::move(one), std::move(three)};
}

StudyLine TileChoice::model(const PublishedFigures& published) const {
  StudyLine line{
      .figure = {.of = published.find(fmt::format("tiles.{}.model", of_.words)), .kind = FigureKind::predicted},
      .label = "our cost model: tile right",
      .rows = was_chosen_ ? of_.problems.size() : 0};
  if (!was_chosen_) return line;
  double right = 0.0;
  for (const TileProblem& problem : of_.problems) {
    const GemmTile tile = fastest_plan(problem.shape, of_.gpus[problem.gpu]).tile;
    right +=
        std::to_string(tile.m) == problem.taken[0] && std::to_string(tile.n) == problem.taken[1] ? 1.0 : 0.0;
  }
  line.figure.simulated = kPercent * right / static_cast<double>(of_.problems.size());
  return line;
}

StudySection TileChoice::section(const PublishedFigures& published) const {
  StudySection section{
      .heading = fmt::format("{}: kernels of rocBLAS, tile to instruction", of_.name),
      .lines = {},
      .notes = {"tile right: rows and columns of the first choice, whatever its depth, split and "
                "instruction."},
      .value = "right"};
  const auto add = [&](const std::string& way, const std::string& label, const Choices& choices) {
    for (StudyLine& line : lines(published, way, label, choices))
      section.lines.push_back(std::move(line));
  };
  add("learned", "learned, sizes left out", learned_);
  add("shipped", "learned, as shipped", shipped_);
  add("majority", "most frequent", majority_);
  add("neighbours", "vote of the 8 nearest", neighbours_);
  section.lines.push_back(model(published));
  return section;
}

}}  // namespace c3::studies
