#include "configs/presets/selector_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "base/nearest_name.hpp"
#include "configs/presets/preset_folders.hpp"
#include "configs/tables/csv_scanner.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::array<std::string_view, 4> kColumns = {"selector", "entry", "of", "content"};
const std::array<std::string, 4> kEntries = {"features", "step", "valid", "tree"};
constexpr int kMostFeatures = 1000;

/// The words of \p text, with \p separator between.
std::vector<std::string_view> words_of(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

class SelectorReader final : public CsvTable {
 public:
  explicit SelectorReader(const std::filesystem::path& file) : CsvTable(file) { read(); }

  SelectorTable take() { return std::move(table_); }

 private:
  void read_header() override {
    for (std::size_t i = 0; i < kColumns.size(); ++i)
      if (i >= cells().size() || cells()[i] != kColumns[i])
        fail(cells()[std::min(i, cells().size() - 1)], "header",
             "must be selector,entry,of,content: this is no table of selectors");
  }

  void read_row() override {
    KernelSelector& selector = table_[std::string(cells()[0])];
    const std::string_view entry = cells()[1];
    if (entry == "features") {
      selector.features = static_cast<std::size_t>(whole(cells()[3], kMostFeatures));
    } else if (entry == "step") {
      read_step(selector);
    } else if (entry == "valid") {
      read_valid(selector);
    } else if (entry == "tree") {
      read_tree(selector);
    } else {
      fail(entry, "entry", unknown_name("entry", entry, kEntries));
    }
  }

  void read_step(KernelSelector& selector) {
    SelectorStep step{.what = std::string(cells()[2]), .tokens = {}, .trees = {}};
    for (const std::string_view name : words_of(cells()[3], ' '))
      step.tokens.emplace_back(name);
    if (step.tokens.empty() || step.tokens.size() > kMostTokensOfChoice)
      fail(cells()[3], "content", fmt::format("must name 1 to {} tokens", kMostTokensOfChoice));
    selector.steps.push_back(std::move(step));
  }

  void read_valid(KernelSelector& selector) {
    std::vector<TokenSequence> sequences;
    for (const std::string_view word : words_of(cells()[3], ' ')) {
      TokenSequence sequence;
      for (const std::string_view token : words_of(word, '.')) {
        if (sequence.size() == selector.steps.size())
          fail(word, "content", "a sequence is longer than the steps");
        const auto most = static_cast<int>(selector.steps[sequence.size()].tokens.size()) - 1;
        sequence.push_back(whole(token, most));
      }
      if (sequence.size() != selector.steps.size())
        fail(word, "content", "a sequence is shorter than the steps");
      sequences.push_back(std::move(sequence));
    }
    if (sequences.empty()) fail(cells()[3], "content", "must have a sequence");
    selector.valid.emplace(std::string(cells()[2]), ValidSequences(std::move(sequences)));
  }

  void read_tree(KernelSelector& selector) {
    const auto step = std::ranges::find(selector.steps, cells()[2], &SelectorStep::what);
    if (step == selector.steps.end()) fail(cells()[2], "of", "is no step of this selector");
    const std::size_t features = selector.features + static_cast<std::size_t>(step - selector.steps.begin());
    DecisionTree tree(1);
    std::vector<std::size_t> open = {0};  // nodes that are not read yet, the next one last
    for (const std::string_view word : words_of(cells()[3], ' ')) {
      if (open.empty()) fail(word, "content", "the tree has ended before");
      const std::size_t place = open.back();
      open.pop_back();
      tree[place] = node(word, features);
      if (tree[place].feature == kLeaf) continue;
      tree[place].left = static_cast<int>(tree.size());
      open.push_back(tree.size() + 1);
      open.push_back(tree.size());
      tree.resize(tree.size() + 2);
    }
    if (!open.empty()) fail(cells()[3], "content", "the tree does not end");
    std::vector<DecisionTree> trees = step->trees.trees();
    trees.push_back(std::move(tree));
    step->trees = BoostedTrees(std::move(trees));
  }

  TreeNode node(std::string_view word, std::size_t features) const {
    if (word.starts_with('@')) {
      std::uint64_t tokens = 0;
      const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), tokens, 16);
      if (error != std::errc() || end != word.data() + word.size())
        fail(word, "content", "is no set of tokens");
      return {.feature = kToken, .tokens = tokens};
    }
    const std::size_t sign = word.find('<');
    if (sign == std::string_view::npos) return {.value = number(word, word)};
    const int feature = whole(word.substr(0, sign), static_cast<int>(features) - 1);
    return {.feature = feature, .threshold = static_cast<float>(number(word.substr(sign + 1), word))};
  }

  double number(std::string_view text, std::string_view word) const {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
      fail(word, "content", fmt::format("'{}' is not a number", text));
    return value;
  }

  int whole(std::string_view text, int most) const {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > most)
      fail(text, "content", fmt::format("'{}' is not a whole number from 0 to {}", text, most));
    return value;
  }

  SelectorTable table_;
};

std::string tree_text(const DecisionTree& tree) {
  std::string text;
  std::vector<std::size_t> open = {0};
  while (!open.empty()) {
    const TreeNode& node = tree[open.back()];
    open.pop_back();
    if (!text.empty()) text += ' ';
    if (node.feature == kLeaf) {
      text += fmt::format("{}", node.value);
      continue;
    }
    text += node.feature == kToken ? fmt::format("@{:x}", node.tokens)
                                   : fmt::format("{}<{}", node.feature, node.threshold);
    open.push_back(static_cast<std::size_t>(node.left) + 1);
    open.push_back(static_cast<std::size_t>(node.left));
  }
  return text;
}

std::string selector_text(const std::string& name, const KernelSelector& selector) {
  std::string text = fmt::format("{},features,,{}\n", name, selector.features);
  for (const SelectorStep& step : selector.steps)
    text += fmt::format("{},step,{},{}\n", name, step.what, fmt::join(step.tokens, " "));
  for (const auto& [kind, valid] : selector.valid) {
    std::vector<std::string> sequences;
    for (const TokenSequence& sequence : valid.all())
      sequences.push_back(fmt::format("{}", fmt::join(sequence, ".")));
    text += fmt::format("{},valid,{},{}\n", name, kind, fmt::join(sequences, " "));
  }
  for (const SelectorStep& step : selector.steps)
    for (const DecisionTree& tree : step.trees.trees())
      text += fmt::format("{},tree,{},{}\n", name, step.what, tree_text(tree));
  return text;
}

}  // namespace

SelectorTable load_selectors(const std::filesystem::path& file) { return SelectorReader(file).take(); }

std::optional<std::filesystem::path> find_selectors(std::string_view library) {
  for (const std::filesystem::path& folder : preset_folders()) {
    std::filesystem::path file = folder / "selection" / fmt::format("{}.csv.gz", library);
    if (std::filesystem::exists(file)) return file;
  }
  return std::nullopt;
}

std::filesystem::path shipped_selectors(std::string_view library) {
  if (const auto file = find_selectors(library)) return *file;
  const Origin nowhere{std::make_shared<const std::string>("selection"), 1, 1};
  throw ConfigError(nowhere, std::string(library), "no folder of presets has weights of its choices");
}

std::string selectors_text(const SelectorTable& table, std::string_view comment) {
  std::string text = fmt::format("# {}\nselector,entry,of,content\n", comment);
  for (const auto& [name, selector] : table)
    text += selector_text(name, selector);
  return text;
}

}}  // namespace c3::configs
