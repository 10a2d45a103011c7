#pragma once
/// How often the rows of an embedding table are looked up again, and what a cache makes of it.

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/enum_names.hpp"
#include "engine/units.hpp"

namespace c3 { inline namespace gpu {

/// Which rows of a table a batch looks up.
enum class ReuseProfile : std::uint8_t {
  uniform,    ///< every row is as likely
  dlrm_2021,  ///< as in facebookresearch/dlrm_datasets, embedding_bag/2021: the mean of 856 tables
  custom,     ///< as a histogram of the user's says
};
constexpr auto enum_names(ReuseProfile) {
  return std::to_array<EnumName<ReuseProfile>>({{"uniform", ReuseProfile::uniform},
                                                {"dlrm_2021", ReuseProfile::dlrm_2021},
                                                {"custom", ReuseProfile::custom}});
}

/// Of a recorded batch: share of all lookups that go to rows which are looked up once, twice, 3 to 4 times, 5
/// to 8 times, .., more than 32,768 times.
struct ReuseHistogram {
  static constexpr std::size_t kBins = 17;
  std::array<double, kBins> lookups = {};  ///< of each bin; they add up to 1
  double recorded = 0;                     ///< lookups of one table in that batch

  bool operator==(const ReuseHistogram&) const = default;
};

/// Of the 16 recorded batches of 65,536 (facebookresearch/dlrm_datasets commit 6f46ba79,
/// embedding_bag/2021/locality_stats.txt): 468.2 M lookups of 856 tables.
const ReuseHistogram& histogram_of_2021();

/// Lookups of one table, one after another.
///
/// Uniform: n lookups touch E (1 - (1 - 1/E)^n) of E rows. By a histogram: n of the recorded lookups are a
/// random part s = n / recorded of them, and a row that was looked up c times is among them with 1 - (1 - s)^c;
/// c is the middle of its bin. A table with fewer rows than the histogram has touched has all of them so much
/// more often. Wrong when: lookups come in an order (sorted samples, sessions); n exceeds what was recorded (no
/// new rows then).
class RowReuse {
 public:
  explicit RowReuse(std::int64_t rows);  ///< uniform
  RowReuse(const ReuseHistogram& histogram, std::int64_t rows);

  /// Rows that \p lookups of the table touch, on average.
  double distinct(double lookups) const;
  /// Of those, the rows that are not among the \p hottest ones, which are looked up most often.
  double distinct_beyond(double hottest, double lookups) const;
  /// How fast distinct grows: the share of lookups that touch a row for the first time.
  double growth(double lookups) const;
  /// Of \p lookups, those that miss a cache of \p capacity which is empty at first, and in which every lookup
  /// inserts its row of \p row bytes and \p streamed bytes of other data.
  /// The cache holds what the last T lookups touched, distinct(T) row + T streamed = capacity; once it is full,
  /// a lookup misses when its row is not among them, with growth(T). Source: Denning and Schwartz, "Properties
  /// of the working-set model", Communications of the ACM 15(3), 1972. With equally likely rows it is Lin et
  /// al.'s formula (arXiv 2201.07821), but for lookups that fill the cache. Wrong when: replacement is not LRU.
  double misses(double lookups, Bytes capacity, Bytes row, Bytes streamed) const;

 private:
  struct Bin {
    double rows = 0;
    double uses = 0;  ///< of each row in the recorded batch
  };
  double rows_;          ///< of the table
  double recorded_ = 0;  ///< 0: uniform
  std::array<Bin, ReuseHistogram::kBins> bins_ = {};
};

}}  // namespace c3::gpu
