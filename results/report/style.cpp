#include "results/report/style.hpp"

namespace c3 { inline namespace results {

const char* const kReportStyle = R"(:root {
  color-scheme: light dark;
  --back: #ffffff; --text: #1c2126; --muted: #586069; --line: #d4d9df; --grid: #e8ebee; --on: #ffffff;
  --compute: #2c67a8; --comm: #b35a12; --wait: #7a828b; --used: #5b7f79; --bound: #1c2126;
  --dispatch: #74509c; --cus: #2c67a8; --cache: #12767a; --hbm: #4a772c; --links: #b35a12; --interaction: #676f78;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #15181b; --text: #e4e7ea; --muted: #9ba4ad; --line: #353b41; --grid: #262b30; --on: #101315;
    --compute: #74aae2; --comm: #e79c58; --wait: #8d959d; --used: #7fa8a1; --bound: #e4e7ea;
    --dispatch: #b494db; --cus: #74aae2; --cache: #5cbdc0; --hbm: #93c474; --links: #e79c58; --interaction: #a3abb3;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text);
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif;
  font-variant-numeric: tabular-nums; }
main { max-width: 1440px; margin: 0 auto; padding: 24px 28px 48px; }
h1 { font-size: 24px; line-height: 1.2; margin: 0 0 14px; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 0 0 8px; }
h3 { font-size: 15px; margin: 18px 0 6px; }
p { margin: 0 0 6px; }
section { margin-top: 34px; }
.muted, .note, .legend, .label, .ticks, .reading, dt { color: var(--muted); }
.note { font-size: 13px; max-width: 100ch; }
.systems { display: flex; flex-wrap: wrap; gap: 16px 48px; }
.systems h2 { font-size: 16px; margin: 0 0 2px; }
.facts { display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 6px 0 0; }
.facts div { display: flex; gap: 6px; }
dd { margin: 0; }
/* A shadow at the edge beyond which there is more: the first two layers move with the content and hide the third. */
.scroll { overflow-x: auto; background:
  linear-gradient(to right, var(--back) 40%, transparent) left / 48px 100% no-repeat local,
  linear-gradient(to left, var(--back) 40%, transparent) right / 48px 100% no-repeat local,
  linear-gradient(to left, rgb(128 128 128 / .5), transparent) right / 20px 100% no-repeat scroll var(--back); }
.warning { border-left: 4px solid var(--comm); padding-left: 10px; font-weight: 600; max-width: 100ch; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 3px 0 3px 16px; text-align: right; font-weight: normal; white-space: nowrap; }
thead th { color: var(--muted); font-size: 12px; border-bottom: 1px solid var(--line); vertical-align: bottom; }
th:first-child, td.system, th.system, th.bar { text-align: left; }
th:first-child { padding-left: 0; }
table.times, table.camping { width: auto; }
table.camping th:first-child { white-space: normal; overflow-wrap: anywhere; min-width: 22ch; max-width: 64ch; font-weight: normal; }
table.times tbody tr:hover, table.losses tbody tr:hover { background: var(--grid); }
table.losses tr.first > *, table.glance tr.first > * { border-top: 1px solid var(--grid); }
td.bar { width: 46%; min-width: 240px; }
table.losses td.bar { width: 38%; }
td.time { font-weight: 600; }
tbody th { font-weight: 600; vertical-align: top; }
td.system { color: var(--muted); font-size: 13px; }
td.bar .plot { position: relative; }
.unit { display: none; }
tbody td i { display: none; }
svg { display: block; width: 100%; overflow: visible; }
rect { shape-rendering: crispEdges; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; font-size: 13px; }
.legend i, table i { display: inline-block; width: 11px; height: 11px; margin-right: 5px; vertical-align: -1px;
  background: var(--fill, none); }
.legend i.compute { --fill: var(--compute); }
.legend i.comm { --fill: var(--comm); }
.legend i.used { --fill: var(--used); opacity: .55; }
.legend i.waiting { --fill: linear-gradient(90deg, var(--compute) 50%, var(--comm) 50%); opacity: .3; }
.legend i.span { --fill: var(--grid); }
.legend i.bound { width: 0; border-left: 2px dashed var(--bound); margin-left: 5px; }
.ramp { width: 180px; height: 12px; align-self: center; }
.heat-back { fill: #440154; }
.legend i.end { width: 0; border-left: 2px solid var(--muted); margin-left: 5px; }
.compute { fill: var(--compute); }
.comm { fill: var(--comm); }
.wait { fill: var(--wait); opacity: .5; }
.waiting { opacity: .3; }
.merged { opacity: .65; }
.span { fill: var(--grid); }
.used { fill: var(--used); fill-opacity: .55; }
.halo { stroke: var(--back); stroke-width: 4; opacity: .6; }
.edge { stroke: var(--back); stroke-width: 1.5; }
.edge, .grid, .halo, .bound, .end, .zero { fill: none; vector-effect: non-scaling-stroke; }
.grid { stroke: var(--grid); }
.bound { stroke: var(--bound); stroke-dasharray: 4 2; stroke-width: 2; }
.end { stroke: var(--muted); stroke-width: 1.5; }
.zero { stroke: var(--text); }
.part-dispatch { fill: var(--dispatch); --fill: var(--dispatch); }
.part-cus { fill: var(--cus); --fill: var(--cus); }
.part-cache { fill: var(--cache); --fill: var(--cache); }
.part-hbm { fill: var(--hbm); --fill: var(--hbm); }
.part-links { fill: var(--links); --fill: var(--links); }
.part-interaction { fill: var(--interaction); --fill: var(--interaction); }
.ticks { position: relative; height: 16px; font-size: 11px; line-height: 16px; }
.ticks span { position: absolute; transform: translateX(-50%); }
.ticks span:first-child { transform: none; }
article { margin-top: 14px; padding-top: 4px; border-top: 1px solid var(--line); }
article h3 { margin: 8px 0 2px; font-size: 16px; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(480px, 100%), 1fr)); column-gap: 32px; }
figure { margin: 0 0 10px; min-width: 0; display: grid; grid-template-rows: subgrid; grid-row: span 3; }
figcaption { display: flex; flex-wrap: wrap; gap: 0 12px; }
figcaption span { color: var(--muted); white-space: nowrap; }
.reading { font-size: 13px; min-height: 1.45em; max-width: 110ch; }
.rank { margin: 8px 0 2px; font-weight: 600; }
.lane { display: grid; grid-template-columns: 92px minmax(0, 1fr); column-gap: 10px; align-items: center; margin-bottom: 2px; }
.repeats .lane { grid-template-columns: 124px minmax(0, 1fr); }
.recorded { margin-bottom: 7px; }
.lane .label { font-size: 12px; line-height: 1.2; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  display: flex; justify-content: space-between; }
.lane .label b { font-weight: normal; color: var(--text); }
.lane .plot { position: relative; min-width: 0; }
.rate .label { flex-wrap: wrap; }
.use .plot { border-bottom: 1px solid var(--line); }
.name { position: absolute; top: 0; line-height: 20px; padding: 0 5px; font-size: 12px; color: var(--on); overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap; pointer-events: none; }
summary { cursor: pointer; }
#definitions summary, #provenance > details > summary { font-size: 16px; font-weight: 600; }
#definitions dl, dl.provenance { display: grid; grid-template-columns: minmax(110px, max-content) minmax(0, 90ch); gap: 4px 18px; }
dl.provenance dd { overflow-wrap: anywhere; }
pre { font-size: 12px; overflow-x: auto; border: 1px solid var(--line); padding: 10px; }
@media (max-width: 760px) {
  main { padding: 16px 14px 32px; }
  .lane, .repeats .lane { grid-template-columns: 70px minmax(0, 1fr); column-gap: 8px; }
  .repeats .stream .label { flex-wrap: wrap; font-size: 9px; line-height: 1.1; }
  .ticks .odd { display: none; }
  table.bars, table.bars tbody { display: block; }
  table.bars thead { display: none; }
  table.bars tr { display: flex; flex-wrap: wrap; column-gap: 12px; padding: 4px 0; }
  table.bars tr.first { border-top: 1px solid var(--line); }
  table.bars tr > *, table.bars tr.first > * { padding: 0; border: 0; }
  table.bars tbody th { flex: 1 0 100%; text-align: left; }
  table.bars td.system { order: 1; }
  table.bars td.time { order: 2; }
  table.bars td.bar { order: 3; flex: 1 0 100%; min-width: 0; }
  table.bars td[data-label] { order: 4; font-size: 12px; }
  table.bars td[data-label]:empty { display: none; }
  table.bars td[data-label]::before { content: attr(data-label) " "; color: var(--muted); }
  table.bars td[data-label] i { display: inline-block; width: 8px; height: 8px; float: left; margin: 5px 4px 0 0; }
  table.times th:first-child { position: sticky; left: 0; background: var(--back); }
  table.times th, table.times td { padding-left: 12px; font-size: 13px; }
  table.times th:first-child { padding-left: 0; }
  table.camping th, table.camping td { padding-left: 10px; font-size: 12px; }
  table.camping th:first-child { padding-left: 0; min-width: 16ch; }
  .unit { display: inline; }
  #definitions dl, dl.provenance { grid-template-columns: 1fr; gap: 0; }
  #definitions dd, dl.provenance dd { margin-bottom: 8px; }
}
@media print { details > * { display: revert; } }
)";

}}  // namespace c3::results
