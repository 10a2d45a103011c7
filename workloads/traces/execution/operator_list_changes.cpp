#include "workloads/traces/execution/operator_list_changes.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/json.hpp"
#include "workloads/traces/retiming/derivation.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3 { inline namespace traces {
namespace {

[[noreturn]] void refuse(std::optional<int> rank, const std::string& what) {
  throw TraceSetError({.file = "operator list", .rank = rank, .event = {}}, what);
}

/// New names in the order of their first use, the same for the same text.
class Renaming {
 public:
  std::string name(const std::string& text, std::string_view work) {
    const auto [place, is_new] = names_.emplace(text, "");
    if (is_new) place->second = fmt::format("{}_{}", work, names_.size());
    return place->second;
  }

 private:
  std::map<std::string, std::string> names_;
};

/// Whether it is PyTorch's, or of a public library whose operators have rules of their own (flash-attn).
bool is_public(const std::string& name) {
  return name.starts_with("aten::") || name == "record_param_comms" || is_attention(plain_name(name));
}

/// ["1", "cuda:0", "[2, 4]"] without what is no number, flag or list of them.
std::string without_texts(const std::string& concrete, const std::string& types) {
  if (concrete.empty()) return concrete;
  try {
    const Json values = Json::parse(concrete);
    const Json kinds = Json::parse(types);
    std::string kept;
    std::size_t place = 0;
    for (const Json& value : values.elements()) {
      const bool is_scalar = place < kinds.size() && kinds.elements()[place].text().starts_with("Scalar");
      if (place++ > 0) kept += ", ";
      kept += json_quoted(is_scalar ? value.text() : "");
    }
    return "[" + kept + "]";
  } catch (const JsonError&) {
    return "";
  }
}

std::int64_t highest_sequence(const RankOperators& rank) {
  std::int64_t highest = 0;
  for (const ListedOperator& found : rank.operators) {
    if (found.collective) highest = std::max(highest, found.collective->sequence.value_or(0));
  }
  return highest;
}

bool is_alike(const ListedOperator& a, const ListedOperator& b) {
  ListedOperator left = a;
  ListedOperator right = b;
  for (ListedOperator* const side : {&left, &right}) {
    side->gpu_time.reset();
    side->kernels.reset();
    side->host_time.reset();
    side->after_wait = false;
    if (side->collective && !side->collective->has_group_name) side->collective->group.clear();
  }
  return left == right;
}

}  // namespace

OperatorList obfuscated(OperatorList list) {
  Renaming names;
  Renaming groups;
  for (RankOperators& rank : list.ranks) {
    for (ListedOperator& found : rank.operators) {
      if (is_public(found.name)) continue;
      const std::string_view word = telling_word(found.name);
      found.name = names.name(found.name, word.empty() ? name_of(found.work) : word);
    }
    for (ListedOperator& found : rank.operators) {
      found.concrete = without_texts(found.concrete, found.types);
      if (found.collective && !found.collective->group.empty())
        found.collective->group = groups.name(found.collective->group, "group");
    }
  }
  return list;
}

OperatorList concatenated(OperatorList first, const OperatorList& second) {
  if (!std::ranges::equal(first.ranks, second.ranks, {}, &RankOperators::rank, &RankOperators::rank))
    refuse({}, "only lists of the same ranks can be put behind each other");
  for (std::size_t i = 0; i < first.ranks.size(); ++i) {
    RankOperators& rank = first.ranks[i];
    const std::int64_t behind = highest_sequence(rank);
    for (ListedOperator found : second.ranks[i].operators) {
      if (found.collective && found.collective->sequence &&
          __builtin_add_overflow(*found.collective->sequence, behind, &*found.collective->sequence))
        refuse(rank.rank, "its sequence numbers are too large to go on behind them");
      rank.operators.push_back(std::move(found));
    }
  }
  return first;
}

OperatorList repeated(const OperatorList& list, int times) {
  if (times < 1) throw std::invalid_argument("an operator list is repeated at least once");
  OperatorList all = list;
  for (int i = 1; i < times; ++i)
    all = concatenated(std::move(all), list);
  return all;
}

double operators_of(const OperatorList& list, int ranks, int times) {
  double operators = 0.0;
  for (const RankOperators& rank : list.ranks)
    operators += static_cast<double>(rank.operators.size());
  if (ranks > 0 && !list.ranks.empty())
    operators *= static_cast<double>(ranks) / static_cast<double>(list.ranks.size());
  return operators * times;
}

OperatorList scaled(const OperatorList& list, int ranks) {
  if (ranks < 1) throw std::invalid_argument("an operator list has at least one rank");
  const auto present = static_cast<std::int64_t>(list.ranks.size());
  for (const RankOperators& rank : list.ranks) {
    const RankOperators& model = list.ranks.front();
    if (!std::ranges::equal(rank.operators, model.operators, is_alike))
      refuse(rank.rank,
             fmt::format("it runs something else than rank {}: only alike ranks can be scaled", model.rank));
    for (const ListedOperator& found : rank.operators) {
      const std::int64_t size = found.collective ? found.collective->group_size.value_or(0) : 1;
      if (found.collective && !found.collective->is_wait && size != 1 && size != present)
        refuse(rank.rank,
               fmt::format("a collective over {} of {} ranks: only those over all ranks can be scaled", size,
                           present));
    }
  }
  OperatorList result;
  for (int rank = 0; rank < ranks && present > 0; ++rank) {
    RankOperators copy = list.ranks[static_cast<std::size_t>(rank % present)];
    copy.rank = rank;
    for (ListedOperator& found : copy.operators) {
      if (found.collective && !found.collective->is_wait && found.collective->group_size != 1)
        found.collective->group_size = ranks;
    }
    result.ranks.push_back(std::move(copy));
  }
  return result;
}

OperatorList dropped(OperatorList list, WorkClass work) {
  for (RankOperators& rank : list.ranks)
    std::erase_if(rank.operators, [&](const ListedOperator& found) { return found.work == work; });
  return list;
}

}}  // namespace c3::traces
