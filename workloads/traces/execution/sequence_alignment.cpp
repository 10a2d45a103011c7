#include "workloads/traces/execution/sequence_alignment.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "workloads/traces/trace_event.hpp"

namespace c3 { inline namespace traces {
namespace {

using Elements = std::span<const std::uint32_t>;

constexpr std::size_t kWindow = 48;       // elements in which a common subsequence is looked for
constexpr std::size_t kStride = 8;        // elements from one search in vain to the next
constexpr std::size_t kAgreement = 4;     // elements in a row with which it has done its work
constexpr std::size_t kAnchor = 8;        // elements of a run from which to begin
constexpr std::size_t kLongestRun = 256;  // looked at, to choose among places
constexpr std::size_t kMostPlaces = 64;   // of one run

class Alignment {
 public:
  Alignment(Elements recorded, Elements pattern)
      : recorded_(recorded),
        pattern_(pattern),
        anchor_(std::min({kAnchor, pattern.size(), recorded.size()})),
        places_(recorded.size(), kNoIndex) {
    for (std::size_t at = 0; anchor_ > 0 && at + anchor_ <= pattern.size(); ++at) {
      std::vector<std::uint32_t>& runs = runs_[hash(pattern.subspan(at, anchor_))];
      if (runs.size() < kMostPlaces) runs.push_back(static_cast<std::uint32_t>(at));
    }
  }

  std::vector<std::uint32_t> find() {
    if (pattern_.empty()) return std::move(places_);
    bool has_begun = false;
    while (at_ < recorded_.size()) {
      if (recorded_[at_] == element(0)) {
        take();
      } else if (!(has_begun ? go_around() || begin_again() : begin_again() || go_around())) {
        ++at_;
      }
      has_begun = true;
    }
    return std::move(places_);
  }

 private:
  static std::uint64_t hash(Elements elements) {
    std::uint64_t value = 1469598103934665603U;
    for (const std::uint32_t element : elements)
      value = (value ^ element) * 1099511628211U;
    return value;
  }

  /// The pattern from the current place on; behind its end, it begins again.
  std::uint32_t element(std::size_t behind) const { return pattern_[(place_ + behind) % pattern_.size()]; }
  void pass_over_element() { place_ = (place_ + 1) % pattern_.size(); }
  void take() {
    places_[at_++] = static_cast<std::uint32_t>(place_);
    pass_over_element();
  }

  /// Follows the longest common subsequence of the next elements, up to where a few agree in a row.
  bool go_around() {
    if (at_ < next_search_) return false;
    next_search_ = at_ + kStride;
    const std::size_t size = std::min(kWindow, recorded_.size() - at_);
    // [i][j] of the recorded elements from i and the pattern's from j.
    std::array<std::array<std::uint8_t, kWindow + 1>, kWindow + 1> longest{};
    for (std::size_t i = size; i-- > 0;) {
      for (std::size_t j = kWindow; j-- > 0;) {
        const bool is_same = recorded_[at_ + i] == element(j);
        longest[i][j] = is_same ? static_cast<std::uint8_t>(longest[i + 1][j + 1] + 1)
                                : std::max(longest[i + 1][j], longest[i][j + 1]);
      }
    }
    if (2 * std::size_t{longest[0][0]} < size) return false;
    next_search_ = at_;
    std::size_t in_a_row = 0;
    for (std::size_t i = 0, j = 0; i < size && j < kWindow && in_a_row < kAgreement;) {
      if (recorded_[at_] == element(0)) {
        take();
        ++i;
        ++j;
        ++in_a_row;
      } else if (longest[i + 1][j] >= longest[i][j + 1]) {
        ++at_;
        ++i;
        in_a_row = 0;
      } else {
        pass_over_element();
        ++j;
        in_a_row = 0;
      }
    }
    return true;
  }

  /// Goes to the place where the longest run like the one at hand begins; among equals the next one, else the
  /// first.
  bool begin_again() {
    if (anchor_ == 0 || at_ + anchor_ > recorded_.size()) return false;
    const auto runs = runs_.find(hash(recorded_.subspan(at_, anchor_)));
    if (runs == runs_.end()) return false;
    std::optional<std::size_t> best;
    std::size_t longest = anchor_ - 1;
    for (const std::uint32_t run : runs->second) {
      const std::size_t length = agreement(recorded_.subspan(at_), pattern_.subspan(run));
      const bool is_next = best && run >= place_ && *best < place_;
      if (length > longest || (length == longest && is_next)) {
        longest = length;
        best = run;
      }
    }
    if (best) place_ = *best;
    return best.has_value();
  }

  static std::size_t agreement(Elements a, Elements b) {
    const auto size = static_cast<std::ptrdiff_t>(std::min({a.size(), b.size(), kLongestRun}));
    return static_cast<std::size_t>(std::mismatch(a.begin(), a.begin() + size, b.begin()).first - a.begin());
  }

  Elements recorded_;
  Elements pattern_;
  std::size_t anchor_;
  std::vector<std::uint32_t> places_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> runs_;
  std::size_t at_ = 0;
  std::size_t place_ = 0;
  std::size_t next_search_ = 0;
};

}  // namespace

std::vector<std::uint32_t> align(std::span<const std::uint32_t> recorded,
                                 std::span<const std::uint32_t> pattern) {
  return Alignment(recorded, pattern).find();
}

}}  // namespace c3::traces
