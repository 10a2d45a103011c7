#include "configs/toml/rank_list.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <variant>

#include "configs/toml/rule.hpp"
#include "configs/toml/section.hpp"

namespace c3 { inline namespace configs {
namespace {

int parse_rank(std::string_view text) {
  int rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error == std::errc() && end == text.data() + text.size() && rank >= 0 && rank < kMostRanks) return rank;
  throw std::invalid_argument(fmt::format("'{}' is no rank; expected ranks and ranges, as in 0-3,6", text));
}

constexpr std::int64_t kLargestRank = kMostRanks - 1;

/// A list of ranks, or ranges of them.
Rule ranks_rule() {
  return {AnyOfRule{{{ListRule{std::make_shared<Rule>(Rule{IntegerRule{0, kLargestRank}})}},
                     {PatternRule{"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*", "0-1"}}}}};
}

int rank_in(const Node& node, const std::string& where) {
  const auto* rank = std::get_if<std::int64_t>(&node.value);
  if (rank == nullptr || *rank < 0 || *rank > kLargestRank) {
    throw ConfigError(node.origin, where, fmt::format("must be a rank, from 0 to {}", kLargestRank));
  }
  return static_cast<int>(*rank);
}

}  // namespace

std::vector<int> parse_ranks(std::string_view text) {
  std::vector<int> ranks;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    const int first = parse_rank(part.substr(0, dash));
    const int last = dash == std::string_view::npos ? first : parse_rank(part.substr(dash + 1));
    if (last < first) throw std::invalid_argument(fmt::format("no range '{}'", part));
    for (int rank = first; rank <= last; ++rank)
      ranks.push_back(rank);
    if (ranks.size() > kMostRanks) throw std::invalid_argument("more ranks than there can be");
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return ranks;
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
      ++last;
    if (last < first + 2) last = first;
    if (!text.empty()) text += ',';
    text += last == first ? fmt::format("{}", ranks[first]) : fmt::format("{}-{}", ranks[first], ranks[last]);
    first = last + 1;
  }
  return text;
}

std::vector<int> read_ranks(Section& section, std::string_view key) {
  const Node& value = section.node(key, ranks_rule);
  if (const std::string* text = value.text()) {
    try {
      return parse_ranks(*text);
    } catch (const std::invalid_argument& error) {
      section.fail(key, error.what());
    }
  }
  const Array* list = value.array();
  if (list == nullptr || list->empty())
    section.fail(key, R"(must be a list of ranks, as in [0, 1], or ranges of them, as in "0-3,6")");
  std::vector<int> ranks;
  for (const Node& element : *list)
    ranks.push_back(rank_in(element, section.dotted(key)));
  return ranks;
}

std::vector<int> optional_ranks(Section& section, std::string_view key) {
  return section.has(key) ? read_ranks(section, key) : std::vector<int>{};
}

}}  // namespace c3::configs
