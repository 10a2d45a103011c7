#include "importers/recipes/megatron/stage_layout.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::int64_t kMostCounted = 1'000'000;
constexpr int kDeepestLayout = 64;

/// What a part of a layout adds.
struct Counted {
  std::int64_t bars = 0, layers = 0;
};

class LayoutCounter {
 public:
  explicit LayoutCounter(std::string_view text) : text_(text) {}

  std::optional<Counted> whole() {
    const auto counted = sequence(0);
    return at_ == text_.size() ? counted : std::nullopt;
  }

 private:
  bool is_at_end() const { return at_ >= text_.size() || text_[at_] == ')'; }

  std::optional<Counted> sequence(int depth) {
    if (depth > kDeepestLayout) return std::nullopt;
    Counted all;
    while (!is_at_end()) {
      const auto one = item(depth);
      const auto times = one ? repetition() : std::nullopt;
      if (!times) return std::nullopt;
      all.bars += one->bars * *times;
      all.layers += one->layers * *times;
      if (all.bars > kMostCounted || all.layers > kMostCounted) return std::nullopt;
    }
    return all;
  }

  std::optional<Counted> item(int depth) {
    switch (text_[at_++]) {
      case 'E':
      case 'L':
      case ',':
      case ' ':
        return Counted{};
      case 't':
        return Counted{.layers = 1};
      case '|':
        return Counted{.bars = 1};
      case '(': {
        const auto inner = sequence(depth + 1);
        if (at_ >= text_.size()) return std::nullopt;
        ++at_;  // the bracket, at which the sequence ended
        return inner;
      }
      default:
        return std::nullopt;
    }
  }

  /// 1 without one.
  std::optional<std::int64_t> repetition() {
    if (at_ >= text_.size() || text_[at_] != '*') return 1;
    std::int64_t times = 0;
    const std::size_t first = ++at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && times <= kMostCounted; ++at_)
      times = times * 10 + (text_[at_] - '0');
    return at_ > first && times <= kMostCounted ? std::optional(times) : std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<StageLayout> stage_layout(std::string_view text) {
  const auto counted = LayoutCounter(text).whole();
  if (!counted) return std::nullopt;
  return StageLayout{.chunks = counted->bars + 1, .layers = counted->layers};
}

}}  // namespace c3::importers
