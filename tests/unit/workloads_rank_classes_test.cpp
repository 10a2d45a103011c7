// Which ranks cannot be told apart.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/program/rank_classes.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3::workloads_rank_classes_test {

using namespace literals;

namespace {

const GemmShape kGemm{256, 256, 64, DType::bf16};

CollectiveCall sum_in(RankGroups groups) {
  return {.kind = CollectiveKind::all_reduce, .bytes = 64.0_MiB, .groups = groups};
}
CollectiveCall sum_over_all() { return {.kind = CollectiveKind::all_reduce, .bytes = 64.0_MiB}; }

/// A GEMM of all ranks and one of \p slow alone, then \p calls of all.
Program with_straggler(int ranks, const std::vector<int>& slow, const std::vector<CollectiveCall>& calls) {
  std::vector<WrittenOperation> operations{{"gemm", kGemm}};
  if (!slow.empty()) operations.push_back({"more", kGemm, slow});
  for (const CollectiveCall& call : calls)
    operations.push_back({"sum", call});
  return program_of({{"s", operations}}, ranks);
}

}  // namespace

TEST_CASE("ranks that do the same in alike groups are one class, whatever the number of nodes") {
  const Program program = with_straggler(64, {}, {sum_in({8, 1}), sum_in({8, 8}), sum_over_all()});
  CHECK(rank_classes(program, 64, 8) == RankPartition::together(64));
}

TEST_CASE("a straggler is told apart by those that share a group or a node with it, and by nobody else") {
  // 2 nodes of 8: tensor parallel within a node, data parallel between the two.
  const Program tensor = with_straggler(16, {3}, {sum_in({8, 1}), sum_in({2, 8})});
  CHECK(rank_classes(tensor, 16, 8).ranges() ==
        std::vector<RankRanges>{{{0, 3}, {4, 8}}, {{3, 4}}, {{8, 11}, {12, 16}}, {{11, 12}}});
  // Fully sharded over 4 nodes: itself, its node, the rest.
  const Program sharded = with_straggler(32, {0}, {sum_over_all()});
  CHECK(rank_classes(sharded, 32, 8).ranges() == std::vector<RankRanges>{{{0, 1}}, {{1, 8}}, {{8, 32}}});
}

TEST_CASE("a straggler in another group of another node is invisible where no call joins the two") {
  // Groups of a node alone: the other nodes' ranks are one class.
  const Program program = with_straggler(32, {0}, {sum_in({8, 1})});
  CHECK(rank_classes(program, 32, 8).ranges() == std::vector<RankRanges>{{{0, 1}}, {{1, 8}}, {{8, 32}}});
  // Without nodes to share, groups of one rank do not tell ranks apart.
  const Program alone = with_straggler(32, {0}, {});
  CHECK(rank_classes(alone, 32, 1).ranges() == std::vector<RankRanges>{{{0, 1}}, {{1, 32}}});
}

TEST_CASE("a root differs from the other members of its group") {
  CollectiveCall broadcast{.kind = CollectiveKind::broadcast, .bytes = 1.0_MiB, .root = 2};
  const Program program = with_straggler(8, {}, {broadcast});
  CHECK(rank_classes(program, 8, 8).ranges() == std::vector<RankRanges>{{{0, 2}, {3, 8}}, {{2, 3}}});
}

TEST_CASE("members of an all-to-all differ where the sizes differ that they send or receive") {
  CollectiveCall call{.kind = CollectiveKind::all_to_all_v, .groups = RankGroups{4, 1}};
  call.sends.assign(16, 1.0_MiB);
  CHECK(rank_classes(with_straggler(16, {}, {call}), 16, 8).classes() == 1);
  call.sends[1 * 4 + 2] = 2.0_MiB;  // 1 sends more, and 2 receives more
  CHECK(rank_classes(with_straggler(16, {}, {call}), 16, 8).ranges() ==
        std::vector<RankRanges>{{{0, 1}, {3, 5}, {7, 9}, {11, 13}, {15, 16}},
                                {{1, 2}, {5, 6}, {9, 10}, {13, 14}},
                                {{2, 3}, {6, 7}, {10, 11}, {14, 15}}});
  call.sends[2 * 4 + 1] = 2.0_MiB;  // and back: the two do the same
  CHECK(rank_classes(with_straggler(16, {}, {call}), 16, 8).classes() == 2);
}

TEST_CASE("groups of unlike contents split ranks that run one script") {
  // Pairs (0 1) (2 3) ..: of the ranks 0, 2, 3 that run more, 0 is with one that does not, 2 and 3 are
  // together.
  const Program program = with_straggler(8, {0, 2, 3}, {sum_in({2, 1})});
  CHECK(rank_classes(program, 8, 1).ranges() ==
        std::vector<RankRanges>{{{0, 1}}, {{1, 2}}, {{2, 4}}, {{4, 8}}});
}

TEST_CASE("groups that nobody joins tell nobody apart") {
  // Only ranks 0 to 7 sum in groups of 4 that are 2 apart; the others' blocks would split them otherwise.
  std::vector<int> first_node{0, 1, 2, 3, 4, 5, 6, 7};
  const Program program = program_of({{"s", {{"gemm", kGemm}, {"sum", sum_in({4, 2}), first_node}}}}, 16);
  CHECK(rank_classes(program, 16, 8).ranges() == std::vector<RankRanges>{{{0, 8}}, {{8, 16}}});
}

TEST_CASE("relabelling nodes permutes the classes") {
  // Stragglers on nodes 0 and 1, then on nodes 2 and 3: as many classes, as large.
  const auto sizes = [](const std::vector<int>& slow) {
    const auto classes = rank_classes(with_straggler(32, slow, {sum_in({8, 1}), sum_in({4, 8})}), 32, 8);
    std::vector<int> found;
    for (int number = 0; number < classes.classes(); ++number)
      found.push_back(classes.members(number));
    std::ranges::sort(found);
    return found;
  };
  CHECK(sizes({0, 8}) == sizes({17, 25}));
  CHECK(sizes({0, 9}) == sizes({18, 31}));
  CHECK(sizes({0, 8}) != sizes({0, 9}));  // the two are in one group, or not
}

TEST_CASE("100,000 ranks in stages, with tensor and data parallelism, are refined in two seconds") {
#ifdef __SANITIZE_ADDRESS__
  constexpr double kMost = 20.0;  // s; without optimisation and with checks
#else
  constexpr double kMost = 2.0;
#endif
  constexpr int kRanks = 102'400;  // TP 8 x DP 800 x PP 16, stage by stage
  constexpr int kStage = kRanks / 16;
  std::vector<WrittenOperation> operations;
  for (int stage = 0; stage < 16; ++stage) {
    std::vector<int> ranks;
    for (int rank = stage * kStage; rank < (stage + 1) * kStage; ++rank)
      ranks.push_back(rank);
    operations.push_back({"layer of stage " + std::to_string(stage), kGemm, ranks});
  }
  operations.push_back({"tensor", sum_in({8, 1})});
  operations.push_back({"data", sum_in({800, 8})});
  operations.push_back({"pipeline", sum_in({16, kStage})});
  operations.push_back({"all", sum_over_all()});
  const Program program = program_of({{"s", operations}}, kRanks);
  const auto begun = std::chrono::steady_clock::now();
  const RankPartition classes = rank_classes(program, kRanks, 8);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  MESSAGE("refined ", kRanks, " ranks to ", classes.classes(), " classes in ", took.count(), " s");
  CHECK(classes.classes() == 16);
  CHECK(took.count() < kMost);
}

}  // namespace c3::workloads_rank_classes_test
