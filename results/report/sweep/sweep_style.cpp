#include "results/report/sweep/sweep_sections.hpp"

namespace c3 { inline namespace results {

const char* const kSweepStyle = R"(.command { margin: 8px 0 0; }
code { font-size: 12px; color: var(--muted); overflow-wrap: anywhere; }
td.words { text-align: left; white-space: normal; min-width: 16ch; max-width: 60ch; overflow-wrap: anywhere; }
td.command { text-align: left; font-size: 12px; color: var(--muted); margin: 0; vertical-align: top; }
td.command details[open] { white-space: normal; width: min(46ch, 70vw); }
table.keys td.words { min-width: 11ch; }
table.keys th { white-space: normal; overflow-wrap: anywhere; min-width: 10ch; }
table.points td, table.points th, table.keys td { vertical-align: top; }
table.keys thead th, table.by-number thead th:nth-child(2) { text-align: left; }
header .command { margin-top: 12px; }
#lines g.curve-1 path { stroke-dasharray: 9 4; }
#lines g.curve-2 path { stroke-dasharray: 3 3; }
.series { display: flex; flex-wrap: wrap; gap: 0 18px; margin-bottom: 8px; font-size: 13px; }
.series .legend { margin: 0; }
#pareto .curve-0 { --fill: var(--interaction); }
#pareto g.curve-0 { opacity: .55; }
#pareto .curve-1 { --fill: var(--cus); }
.heat-maps { display: flex; flex-wrap: wrap; gap: 4px 36px; }
.heat-map { max-width: 100%; margin-bottom: 10px; }
.heat-map h3 { margin-top: 8px; }
table.heat { width: auto; }
table.heat th, table.heat td { padding: 3px 7px; font-size: 12px; text-align: right; }
table.heat tbody th { text-align: right; font-weight: normal; color: var(--muted); position: sticky; left: 0;
  background: var(--back); padding-left: 0; }
table.heat thead th { border-bottom: 0; }
table.heat td.best { outline: 2px solid currentColor; outline-offset: -3px; font-weight: 700; }
.hatched { background: repeating-linear-gradient(45deg, var(--grid) 0 4px, transparent 4px 8px); color: var(--muted);
  font-size: 12px; }
div.hatched { padding: 0 6px; }
table.heat td.hatched { white-space: normal; text-align: center; }
table.bars.sweep td.bar { width: 62%; }
table.bars.sweep th { width: 16%; white-space: normal; overflow-wrap: anywhere; }
table.bars.sweep i { display: inline-block; }
table.bars.sweep tr.first > * { border-top: 1px solid var(--grid); }
table.bars.sweep rect { fill: var(--fill); }
.whisker { fill: none; stroke: var(--text); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
#points summary { font-size: 16px; font-weight: 600; }
)";

}}  // namespace c3::results
