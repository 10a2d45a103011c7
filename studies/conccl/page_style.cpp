#include "studies/conccl/page_sections.hpp"

namespace c3 { inline namespace studies {

const char* const kStudyPageStyle =
    R"(:root { --mark: #a3182c; }
@media (prefers-color-scheme: dark) {
  :root { --mark: #ff8a94; }
}
header p { max-width: 110ch; }
.share, .legend i.share { fill: var(--cus); --fill: var(--cus); }
.share.base { opacity: .6; }
.engines, .legend i.engines { fill: var(--links); --fill: var(--links); }
.low, .legend i.low { fill: var(--cache); --fill: var(--cache); }
.high, .legend i.high { fill: var(--dispatch); --fill: var(--dispatch); }
.published { color: var(--mark); fill: var(--mark); stroke: var(--back); stroke-width: 1; }
b.published { stroke: none; font-weight: normal; }
.mark { position: absolute; top: 2px; transform: translateX(-50%); font-size: 16px; line-height: 22px;
  text-shadow: 0 0 2px var(--back), 0 0 2px var(--back); }
table.ladder td, table.ladder th { vertical-align: middle; }
table.ladder td.bar { width: 52%; min-width: 300px; }
table.tornado td.bar, table.tornado th.bar { width: 24%; min-width: 170px; padding-left: 24px; }
table.tornado th.bar b { color: var(--text); }
table.ladder .ticks span:first-child, table.tornado .ticks span:first-child { transform: translateX(-50%); }
svg.curves .mark-text { fill: var(--mark); stroke: var(--back); stroke-width: 4px; paint-order: stroke; }
table.scenarios { width: 100%; }
table.scenarios th.strategy { white-space: normal; min-width: 64px; max-width: 84px; }
table.scenarios th, table.scenarios td { padding-left: 10px; font-size: 13px; }
table.scenarios td.heat { padding-right: 8px; }
table.scenarios th:first-child { padding-left: 0; }
)";

}}  // namespace c3::studies
