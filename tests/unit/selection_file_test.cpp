// Tables of trained choices: what is written reads back the same, and what is wrong with one that is damaged.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "configs/presets/selector_file.hpp"
#include "studies/selection/growing/selector_training.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::selection_file_test {

namespace {

const std::string kHeader = "selector,entry,of,content\n";
const std::string kSteps =
    kHeader + "a,features,,2\na,step,tile,16 32\na,step,split,1 2\na,valid,fp16,0.1 1.0\n";

std::string error_in(const std::string& text) {
  const ScratchFolder folder;
  const std::string file = folder.write("t.csv", text);
  std::string error = error_of([&] { load_selectors(file); });
  return error.substr(error.find("t.csv"));
}

}  // namespace

TEST_CASE("a trained selector that is written and read ranks as before") {
  KernelSelector selector{
      .features = 1, .steps = {{"tile", {"16", "32"}, {}}, {"split", {"1", "2"}, {}}}, .valid = {}};
  selector.valid.emplace("fp16", ValidSequences({{0, 0}, {0, 1}, {1, 1}}));
  std::vector<TakenSequence> taken;
  for (int i = 0; i < 120; ++i) {
    const float x = 0.01F * static_cast<float>(i);
    taken.push_back(
        {.features = {x}, .kind = "fp16", .tokens = x < 0.4F ? TokenSequence{0, i % 2} : TokenSequence{1, 1}});
  }
  train_steps(selector, taken, {.trees = 12});
  const ScratchFolder folder;
  const SelectorTable table =
      load_selectors(folder.write("t.csv", selectors_text({{"cdna9", selector}}, "of a test")));
  const KernelSelector& read = table.at("cdna9");
  CHECK(read.features == 1);
  CHECK(read.steps[1].tokens == std::vector<std::string>{"1", "2"});
  for (const float x : {0.0F, 0.395F, 0.7F}) {
    const auto before = selector.rank(std::vector{x}, "fp16", 3);
    const auto after = read.rank(std::vector{x}, "fp16", 3);
    REQUIRE(after.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(after[i].tokens == before[i].tokens);
      CHECK(after[i].log_probability == before[i].log_probability);
    }
  }
}

TEST_CASE("a tree is written root first, left before right") {
  const ScratchFolder folder;
  const std::string text = kSteps + "a,tree,split,2<0.5 @2 1.5 -1 0.25\n";
  const KernelSelector read = load_selectors(folder.write("t.csv", text)).at("a");
  const BoostedTrees& trees = read.steps[1].trees;
  // Feature 2 of the second step is the token of the first.
  CHECK(trees.score(std::vector{9.0F, 9.0F, 0.0F}, 1) == 1.5);
  CHECK(trees.score(std::vector{9.0F, 9.0F, 0.0F}, 0) == -1.0);
  CHECK(trees.score(std::vector{9.0F, 9.0F, 1.0F}, 1) == 0.25);
  CHECK(selectors_text({{"a", read}}, "x") == "# x\n" + text);
}

TEST_CASE("damaged tables are refused with the place of what is wrong") {
  CHECK(error_in("a,b\n1,2\n") == Part{"t.csv:1:1: header: must be selector,entry,of,content"});
  CHECK(error_in(kSteps + "a,tre,split,1\n") ==
        Part{"t.csv:6:3: entry: unknown entry 'tre'; did you mean 'tree'"});
  CHECK(error_in(kSteps + "a,tree,depth,1\n") == Part{"t.csv:6:8: of: is no step"});
  CHECK(error_in(kSteps + "a,tree,tile,0<1 2\n") == Part{"content: the tree does not end"});
  CHECK(error_in(kSteps + "a,tree,tile,1 2\n") == Part{"t.csv:6:15: content: the tree has ended"});
  CHECK(error_in(kSteps + "a,tree,tile,2<1 1 2\n") == Part{"'2' is not a whole number from 0 to 1"});
  CHECK(error_in(kSteps + "a,tree,tile,0<x 1 2\n") == Part{"'x' is not a number"});
  CHECK(error_in(kSteps + "a,tree,tile,nan\n") == Part{"'nan' is not a number"});
  CHECK(error_in(kSteps + "a,tree,tile,@xyz 1 2\n") == Part{"is no set of tokens"});
  CHECK(error_in(kSteps + "a,valid,fp32,0.2\n") == Part{"'2' is not a whole number from 0 to 1"});
  CHECK(error_in(kSteps + "a,valid,fp32,0\n") == Part{"shorter than the steps"});
  CHECK(error_in(kSteps + "a,valid,fp32,0.1.1\n") == Part{"longer than the steps"});
  CHECK(error_in(kSteps + "a,step,more,\n") == Part{"must name 1 to 64 tokens"});
}

}  // namespace c3::selection_file_test
