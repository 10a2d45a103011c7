#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "studies/figure_line.hpp"
#include "studies/selection/fifths.hpp"
#include "studies/selection/tile_table.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::size_t kFirst = 3;  ///< choices that are looked at
constexpr std::size_t kBeams = 8;  ///< beginnings that the search keeps

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

class TileChoice : public StudyPart {
 public:
  explicit TileChoice(const TileTable& table)
      : table_(table),
        learned_(table.problems.size()),
        shipped_(table.problems.size()),
        majority_(table.problems.size()),
        neighbours_(table.problems.size()) {}

  void plan(Jobs& jobs) override {
    std::vector<std::uint64_t> sizes;
    for (const TileProblem& problem : table_.problems)
      sizes.push_back(problem.sizes);
    was_chosen_ = plan_fifths(sizes, jobs, [this](const Rows& fitted, const Rows& held_out) {
      choose(fitted, held_out, kManyTiles, learned_);
      choose(fitted, held_out, kShippedTiles, shipped_);
      vote(fitted, held_out);
    });
  }

  StudyReport sections(const PublishedFigures& published) const override {
    StudySection section{
        .heading = fmt::format("{}: kernels of rocBLAS, tile to instruction", table_.name),
        .notes = {"tile right: rows and columns of the first choice, whatever its depth, split and "
                  "instruction."},
        .value = "right"};
    add_lines(published, "learned", "learned, sizes left out", learned_, section);
    add_lines(published, "shipped", "learned, as shipped", shipped_, section);
    add_lines(published, "majority", "most frequent", majority_, section);
    add_lines(published, "neighbours", "vote of the 8 nearest", neighbours_, section);
    section.lines.push_back(model(published));
    return {section};
  }

 private:
  /// The first three sequences that each way would choose, best first.
  using Choices = std::vector<std::vector<TokenSequence>>;

  void choose(const Rows& fitted, const Rows& held_out, const TrainingOptions& options,
              Choices& choices) const {
    const KernelSelector selector = tile_selector(table_, fitted, options);
    for (const std::size_t row : held_out) {
      const TakenSequence& asked = table_.problems[row].sequence;
      if (!selector.valid.contains(asked.kind)) continue;
      for (const RankedSequence& ranked : selector.rank(asked.features, asked.kind, kBeams))
        choices[row].push_back(ranked.tokens);
      if (choices[row].size() > kFirst) choices[row].resize(kFirst);
    }
  }

  void vote(const Rows& fitted, const Rows& held_out) {
    const auto taken = [&](std::size_t row) { return table_.problems[row].sequence.tokens; };
    std::map<std::string, Rows> groups;
    std::map<std::string, Votes> all;
    for (const std::size_t row : fitted) {
      const std::string group = group_of(table_.problems[row]);
      groups[group].push_back(row);
      all[group][taken(row)] += 1.0;
    }
    for (const std::size_t row : held_out) {
      const TileProblem& asked = table_.problems[row];
      const auto away = [&](std::size_t other) { return distance(asked.shape, table_.problems[other].shape); };
      majority_[row] = first_of(all[group_of(asked)]);
      neighbours_[row] = first_of(votes_of_nearest(groups[group_of(asked)], away, taken));
    }
  }

  /// Share in percent of all problems; absent where nothing was chosen.
  template <class IsRight>
  std::optional<double> share(IsRight is_right) const {
    if (!was_chosen_) return std::nullopt;
    double right = 0.0;
    for (std::size_t i = 0; i < table_.problems.size(); ++i)
      right += is_right(i) ? 1.0 : 0.0;
    return 100.0 / static_cast<double>(table_.problems.size()) * right;
  }

  StudyLine line(const PublishedFigures& published, const std::string& what, FigureKind kind, std::string label,
                 std::optional<double> value) const {
    StudyLine line =
        figure_line(published, fmt::format("tiles.{}.{}", table_.words, what), std::move(label), value);
    line.figure.kind = kind;
    line.rows = was_chosen_ ? table_.problems.size() : 0;
    return line;
  }

  void add_lines(const PublishedFigures& published, const std::string& way, const std::string& label,
                 const Choices& choices, StudySection& section) const {
    const auto taken = [&](std::size_t i) { return table_.problems[i].sequence.tokens; };
    const auto is_tile = [&](std::size_t i) {
      return !choices[i].empty() && choices[i].front()[0] == taken(i)[0] &&
             choices[i].front()[1] == taken(i)[1];
    };
    section.lines.push_back(
        line(published, way + ".first", FigureKind::fitted, label + ": first choice right",
             share([&](std::size_t i) { return !choices[i].empty() && choices[i].front() == taken(i); })));
    if (was_chosen_) section.lines.back().beside = {{"tile right [%]", *share(is_tile)}};
    section.lines.push_back(line(
        published, way + ".three", FigureKind::fitted, label + ": among the first three",
        share([&](std::size_t i) { return std::ranges::find(choices[i], taken(i)) != choices[i].end(); })));
  }

  StudyLine model(const PublishedFigures& published) const {
    return line(
        published, "model", FigureKind::predicted, "our cost model: tile right", share([&](std::size_t i) {
          const TileProblem& problem = table_.problems[i];
          const GemmTile tile = fastest_plan(problem.shape, table_.gpus[problem.gpu]).tile;
          return std::to_string(tile.m) == problem.taken[0] && std::to_string(tile.n) == problem.taken[1];
        }));
  }

  const TileTable& table_;
  bool was_chosen_ = false;
  Choices learned_, shipped_, majority_, neighbours_;  ///< by problem
};

}  // namespace

std::unique_ptr<StudyPart> tile_choice(const TileTable& table) { return std::make_unique<TileChoice>(table); }

}}  // namespace c3::studies
