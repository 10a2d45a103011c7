#pragma once
/// Keys of [straggler.NAME] in an experiment, beside `ranks`.

#include "collectives/straggler.hpp"
#include "configs/fields/field.hpp"

namespace c3 { inline namespace configs {

inline constexpr double kMostSlower = 1000.0;
inline constexpr double kLeastShare = 0.001;  // without any link a rank could not take part

inline constexpr auto kStragglerFields = std::to_array<Field<RankCondition>>({
    number<&RankCondition::factor>("factor", {1, kMostSlower},
                                   "their arithmetic takes so many times as long: a lower clock")
        .optional(),
    number<&RankCondition::links>("links", {kLeastShare, 1},
                                  "share of bandwidth that their links in the node have, both ways")
        .optional(),
    number<&RankCondition::nics>("nics", {kLeastShare, 1},
                                 "share of the bandwidth that their NICs have, both ways")
        .optional(),
    quantity<&RankCondition::late>("late", "by how much later they begin, once").optional(),
});
static_assert(member_count<RankCondition>() == kStragglerFields.size());

}}  // namespace c3::configs
