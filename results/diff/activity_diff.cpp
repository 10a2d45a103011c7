#include "results/diff/activity_diff.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "files/io_error.hpp"

namespace c3 { inline namespace results {
namespace {

/// What a user names in an experiment, and the copies made for it.
constexpr std::array<std::string_view, 4> kShownKinds{"kernel", "collective", "transfer", "range"};

struct Span {
  std::int64_t start = 0, duration = 0;  ///< ps
};

/// Activities that nothing was matched with yet, in order of end. All are of one file.
class Waiting {
 public:
  bool empty() const { return head_ == spans_.size(); }
  bool is_of(std::size_t side) const { return side_ == side; }
  void push(std::size_t side, Span span) {
    side_ = side;
    spans_.push_back(span);
  }
  Span pop() {
    const Span span = spans_[head_++];
    if (head_ == spans_.size()) {
      spans_.clear();
      head_ = 0;
    }
    return span;
  }

 private:
  std::size_t side_ = 0;  ///< 0: the first file
  std::size_t head_ = 0;
  std::vector<Span> spans_;
};

class Matcher {
 public:
  Matcher(double tolerance, bool all_kinds) : tolerance_(tolerance), all_kinds_(all_kinds) {}

  /// Adds activities of file \p side, 0 or 1; its names are \p numbers in ours.
  void add(std::size_t side, const ResultTable& block, const std::vector<std::size_t>& numbers) {
    const auto& name = block.values<std::int64_t>("name");
    const auto& kind = block.values<std::string>("kind");
    const auto& gpu = block.values<std::int64_t>("gpu");
    const auto& start = block.values<std::int64_t>("start");
    const auto& end = block.values<std::int64_t>("end");
    for (std::size_t row = 0; row < block.rows(); ++row) {
      const auto index = static_cast<std::size_t>(name[row]);  // a negative one is beyond, too
      if (index >= numbers.size()) throw IoError(block.path, "read", "column 'name' points beyond /names");
      const std::size_t kind_number = number_of_kind(kind[row]);
      if (!all_kinds_ && kind_number >= kShownKinds.size()) continue;
      Group& group = groups_[Key{numbers[index], kind_number, gpu[row]}];
      add(group, side, {start[row], end[row] - start[row]});
    }
  }

  /// \p names by their numbers.
  ActivityDiff finish(const std::vector<std::string>& names) && {
    for (auto& [key, group] : groups_) {
      auto& change = group.change;
      diff_.only_a += change.count_a - change.matched();
      diff_.only_b += change.count_b - change.matched();
      if (group.is_equal && change.count_a == change.count_b) continue;
      change.name = names[key.name];
      change.kind = kinds_[key.kind];
      change.gpu = static_cast<int>(key.gpu);
      diff_.changes.push_back(std::move(change));
    }
    const auto order = [](const ActivityChange& change) {
      return std::tuple(-std::abs(change.change()), -std::abs(change.start_shift),
                        std::string_view(change.kind), std::string_view(change.name), change.gpu);
    };
    std::ranges::sort(diff_.changes, {}, order);
    return std::move(diff_);
  }

 private:
  struct Key {
    std::size_t name, kind;
    std::int64_t gpu;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      constexpr std::size_t kSpread = 0x9e3779b97f4a7c15;  // the golden ratio's bits
      return ((key.name * kSpread) ^ static_cast<std::size_t>(key.gpu) * kKinds) + key.kind;
    }
    static constexpr std::size_t kKinds = 256;  // an enum of one byte
  };
  struct Group {
    ActivityChange change;
    Waiting waiting;
    bool is_equal = true;
  };

  std::size_t number_of_kind(const std::string& kind) {
    const auto number = static_cast<std::size_t>(std::ranges::find(kinds_, kind) - kinds_.begin());
    if (number == kinds_.size()) kinds_.push_back(kind);
    return number;
  }

  void add(Group& group, std::size_t side, Span span) {
    ++(side == 0 ? group.change.count_a : group.change.count_b);
    (side == 0 ? group.change.total_a : group.change.total_b) += span.duration;
    if (group.waiting.empty() || group.waiting.is_of(side)) {
      group.waiting.push(side, span);
      return;
    }
    const Span other = group.waiting.pop();
    side == 0 ? match(group, span, other) : match(group, other, span);
  }

  bool is_equal(std::int64_t a, std::int64_t b) const {
    return a == b || within(tolerance_, static_cast<double>(a), static_cast<double>(b));
  }

  void match(Group& group, Span a, Span b) {
    group.change.start_shift += b.start - a.start;
    const bool same_start = is_equal(a.start, b.start), same_duration = is_equal(a.duration, b.duration);
    ++(!same_duration ? diff_.changed : same_start ? diff_.unchanged : diff_.moved);
    group.is_equal = group.is_equal && same_start && same_duration;
  }

  double tolerance_;
  bool all_kinds_;
  std::vector<std::string> kinds_{kShownKinds.begin(), kShownKinds.end()};
  std::unordered_map<Key, Group, KeyHash> groups_;
  ActivityDiff diff_;
};

/// The names of both files once, and which of them each name of a file is.
struct CommonNames {
  std::vector<std::string> names;
  std::array<std::vector<std::size_t>, 2> numbers;

  CommonNames(const ResultReader& a, const ResultReader& b) {
    std::unordered_map<std::string, std::size_t> known;
    for (const std::size_t side : {0U, 1U}) {
      for (const std::string& name : (side == 0 ? a : b).names()) {
        const auto [entry, is_new] = known.try_emplace(name, names.size());
        if (is_new) names.push_back(name);
        numbers.at(side).push_back(entry->second);
      }
    }
  }
};

}  // namespace

std::optional<std::int64_t> ActivityChange::mean_start_shift() const {
  if (matched() == 0) return std::nullopt;
  return start_shift / static_cast<std::int64_t>(matched());
}

ActivityDiff diff_activities(const StrategyIn& a, const StrategyIn& b, double tolerance, bool all_kinds) {
  const CommonNames names(a.file, b.file);
  const TablePart part{.columns = {"name", "kind", "gpu", "start", "end"}, .as_texts = false};
  std::array<TableBlocks, 2> blocks{TableBlocks(a.file, a.name, "activities", part),
                                    TableBlocks(b.file, b.name, "activities", part)};
  Matcher matcher(tolerance, all_kinds);
  for (bool more = true; more;) {
    more = false;
    for (const std::size_t side : {0U, 1U}) {
      const auto block = blocks.at(side).next();
      if (!block) continue;
      matcher.add(side, *block, names.numbers.at(side));
      more = true;
    }
  }
  return std::move(matcher).finish(names.names);
}

}}  // namespace c3::results
