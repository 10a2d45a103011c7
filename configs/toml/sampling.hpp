#pragma once
/// How a number given as a range becomes one value: its nominal one, or a reproducible draw.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace c3 { inline namespace configs {

/// A number as written. A plain number has low == nominal == high.
struct Range {
  double low = 0;
  double nominal = 0;
  double high = 0;

  bool operator==(const Range&) const = default;
};

/// A range that was read, and the key it was read for.
struct NamedRange {
  std::string key;  ///< dotted, such as "gpu.hbm_copy"
  Range range;
  bool whole = false;  ///< only integers are drawn

  bool operator==(const NamedRange&) const = default;
};

/// One end of one range.
struct RangeEnd {
  std::string key;
  bool high = false;
};

/// Without a draw every range takes its nominal value. With one, a range is drawn uniformly from [low, high] by
/// a counter-based generator (Philox 4x32-10, Salmon et al., SC 2011) keyed by the seed and counted by (draw,
/// key): a value depends on nothing else, neither on the order of reading nor on which other ranges there are.
class Sampling {
 public:
  Sampling() = default;
  Sampling(std::optional<std::uint64_t> draw, std::uint64_t seed) : draw_(draw), seed_(seed) {}

  /// The range of \p end takes that end, all others their nominal values. \p end must outlive it.
  static Sampling at(const RangeEnd& end);
  /// Nominal values, and every range with more than one value goes to \p ranges, which must outlive it.
  static Sampling listing(std::vector<NamedRange>& ranges);

  /// \param key dotted, such as "gpu.hbm_copy".
  double sample(const Range& range, std::string_view key) const;

  /// The same for whole numbers: every integer of the range is equally likely.
  std::int64_t sample_integer(const Range& range, std::string_view key) const;

 private:
  double uniform(std::string_view key) const;  ///< lies in [0, 1); call only with a draw
  double without_draw(const Range& range, std::string_view key, bool whole) const;

  std::optional<std::uint64_t> draw_;
  std::uint64_t seed_ = 0;
  const RangeEnd* end_ = nullptr;              ///< nullptr: all are nominal
  std::vector<NamedRange>* ranges_ = nullptr;  ///< nullptr: nobody wants them
};

/// What draw \p draw of \p seed gives for \p range.
double drawn(const NamedRange& range, std::uint64_t draw, std::uint64_t seed);

}}  // namespace c3::configs
