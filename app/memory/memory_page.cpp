/// `c3sim memory --page`: what each class of ranks holds over a step, the largest tensors and the changes as
/// one HTML page.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "app/memory/memory_account.hpp"
#include "results/cells.hpp"
#include "results/report/bar_axis.hpp"
#include "results/report/html.hpp"
#include "results/report/plot.hpp"
#include "results/report/style.hpp"
#include "results/step_cells.hpp"

namespace c3 { inline namespace app {
namespace {

using namespace literals;

constexpr std::size_t kMostClasses = 8;  // classes of ranks that have a chart
constexpr std::size_t kMostTensors = 16;
// Columns of a chart.
constexpr std::size_t kColumns = kPlotWidth / 2;
constexpr double kChartHeight = 150, kHeadroom = 1.06, kLineHeight = 2, kTensorBarMargin = 5;  // pixels
// CSS classes, in the order of kMemoryClasses.
constexpr std::array<const char*, kMemoryClasses.size()> kFills = {"compute", "part-dispatch", "part-cache",
                                                                   "part-hbm", "comm"};

std::string limit_share(double share) { return fmt::format("{:.1f}%", 100.0 * share); }

const char* fill_of(MemoryClass memory_class) { return kFills.at(static_cast<std::size_t>(memory_class)); }

/// "stage 0 (ranks 0-15), 16 GPUs"
std::string ranks_text(const std::string& name, const RankRanges& ranks) {
  const std::string numbers = text_of(ranks);
  std::string who = name.empty() ? "all ranks" : "ranks " + numbers;
  if (!name.empty() && name != numbers) who = fmt::format("{} ({})", name, who);
  return fmt::format("{}, {} {}", who, count_of(ranks), count_of(ranks) == 1 ? "GPU" : "GPUs");
}

std::string memory_legend() {
  std::string legend = "<p class=\"legend\">";
  for (const MemoryClass memory_class : kMemoryClasses)
    legend += fmt::format("<span><i class=\"{}\"></i>{}</span> ", fill_of(memory_class), name_of(memory_class));
  return legend + "<span><i class=\"limit\"></i>limit of a GPU</span></p>\n";
}

/// One moment for each column of the chart: the one at which most is held.
std::vector<const MemoryMoment*> column_moments(const std::vector<MemoryMoment>& moments) {
  const std::size_t columns = std::min(kColumns, moments.size());
  std::vector<const MemoryMoment*> highest(columns, nullptr);
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const MemoryMoment*& highest_moment = highest[i * columns / moments.size()];
    if (highest_moment == nullptr || moments[i].bytes > highest_moment->bytes) highest_moment = &moments[i];
  }
  return highest;
}

/// Kinds of tensors upon one another: each area reaches from the ground to the sum of its kind and those below
/// it, the highest drawn first.
std::string moments_chart(const SteppedMemory& step_memory, Bytes limit) {
  const Bytes top = kHeadroom * std::max(limit, step_memory.memory.peak.bytes);
  const std::vector<const MemoryMoment*> columns = column_moments(step_memory.memory.moments);
  std::vector<double> sums(columns.size(), 0.0);
  std::vector<std::string> areas;
  for (const MemoryClass memory_class : kMemoryClasses) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      sums[i] += columns[i]->of(memory_class) / top;
    areas.push_back(step_area(fill_of(memory_class), sums, kChartHeight, kChartHeight,
                              fmt::format("{}: {} GB at the peak", name_of(memory_class),
                                          gigabytes(step_memory.memory.peak.of(memory_class)))));
  }
  std::string svg = plot_begin(kChartHeight, "bytes held from the start to the end of a step");
  for (auto area = areas.rbegin(); area != areas.rend(); ++area)
    svg += *area;
  return svg +
         rectangle("limit", 0, kChartHeight * (1.0 - limit / top) - kLineHeight / 2, kPlotWidth, kLineHeight,
                   fmt::format("limit: {} GB", gigabytes(limit))) +
         kPlotEnd;
}

std::string class_chart(const SteppedMemory& step_memory, Bytes limit) {
  const MemoryPeak& peak = step_memory.memory.peak;
  return fmt::format(
      "<div class=\"class\">\n<h3>{}</h3>\n<p class=\"reading\">{} GB at \"{}\"; {} GB needed, {} of the "
      "limit</p>\n{}</div>\n",
      escaped(ranks_text(step_memory.name, step_memory.ranks)), gigabytes(peak.bytes), escaped(peak.moment),
      gigabytes(peak.held), limit_share(peak.held / limit), moments_chart(step_memory, limit));
}

/// The classes that need most, in the order of the step's classes.
std::vector<std::size_t> shown_classes(const MemoryAccount& account) {
  std::vector<std::size_t> rows(account.steps.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [&](std::size_t row) { return account.steps[row].memory.peak.held; });
  rows.resize(std::min(rows.size(), kMostClasses));
  std::ranges::sort(rows);
  return rows;
}

std::string moments_section(const MemoryAccount& account) {
  std::string section = "<section id=\"moments\">\n<h2>What a GPU holds during a step</h2>\n" + memory_legend();
  const std::vector<std::size_t> rows = shown_classes(account);
  for (const std::size_t row : rows)
    section += class_chart(account.steps[row], account.limit);
  section +=
      "<p class=\"note\">From left to right operations of the step, in the order in which the host launches "
      "them, not by time. Needed: pages with a tensor on them, which the allocator cannot free.";
  if (const std::int64_t left_out = account.steps[rows.front()].memory.left_out; left_out > 0)
    section += fmt::format(
        " {} micro-batches are left out: each holds what that of the period before it holds.", left_out);
  if (rows.size() < account.steps.size())
    section += fmt::format(" Of {} classes of ranks the {} that need most.", account.steps.size(), rows.size());
  return section + "</p>\n</section>\n";
}

std::string tensors_section(const MemoryAccount& account) {
  const SteppedMemory& fullest = account.steps[account.fullest()];
  const std::vector<MemoryTenant>& tenants = fullest.memory.peak.tenants;
  if (tenants.empty()) return "";
  BarAxis axis{.low = 0.0, .high = tenants.front().bytes / 1.0_GB};
  std::string rows;
  for (std::size_t i = 0; i < std::min(kMostTensors, tenants.size()); ++i) {
    const MemoryTenant& tenant = tenants[i];
    rows += fmt::format(
        R"(<tr><th scope="row">{}</th><td class="bar">{}{}{}{}</td><td class="time">{}<span class="unit"> GB</span></td>)"
        R"(<td data-label="kind">{}</td><td data-label="share">{}</td></tr>)"
        "\n",
        escaped(tenant.name), plot_begin(kBarHeight, tenant.name), bar_grid(axis),
        value_bar(fill_of(tenant.memory_class), 0.0, tenant.bytes / 1.0_GB, kTensorBarMargin,
                  kBarHeight - 2 * kTensorBarMargin, axis,
                  fmt::format("{}: {} GB", tenant.name, gigabytes(tenant.bytes))),
        kPlotEnd, gigabytes(tenant.bytes), name_of(tenant.memory_class),
        limit_share(tenant.bytes / fullest.memory.peak.bytes));
  }
  return fmt::format(
      "<section id=\"tensors\">\n<h2>Largest tensors</h2>\n<p class=\"reading\">Of {}, at \"{}\"</p>\n"
      "<div class=\"scroll\"><table class=\"bars tensors\">\n<thead><tr><th></th><th class=\"bar\">{}</th>"
      "<th>GB</th><th>kind</th><th>share</th></tr></thead>\n<tbody>\n{}</tbody></table></div>\n</section>\n",
      escaped(ranks_text(fullest.name, fullest.ranks)), escaped(fullest.memory.peak.moment), bar_ticks(axis),
      rows);
}

std::string changes_section(const MemoryAccount& account) {
  if (account.changes.empty()) return "";
  std::vector<std::vector<std::string>> rows = change_cells(account);
  for (std::vector<std::string>& row : rows)
    row.front() = escaped(row.front());
  return "<section id=\"changes\">\n<h2>What would change it</h2>\n" +
         table_html("times", {"change", "needed [GB]", "of the limit", "fits", "closed form [s]", "cost"},
                    rows) +
         "<p class=\"note\">Closed form: kernels and collectives that take as long as alone, with the "
         "pipeline's "
         "bubble. Cost: against the step as it is. Every row trains on as many tokens. Not "
         "simulated.</p>\n</section>\n";
}

std::string plans_section(const MemoryAccount& account) {
  std::vector<std::vector<std::string>> rows;
  for (const PlannedMemory& plan : account.plans)
    for (const LargestOperation& largest : plan.largest)
      rows.push_back({escaped(largest.operation), escaped(largest.stream),
                      escaped(ranks_text(plan.name, plan.ranks)), gigabytes(largest.bytes),
                      limit_share(largest.bytes / account.limit)});
  return "<section id=\"operations\">\n<h2>The largest operation of each stream</h2>\n" +
         table_html("times", {"operation", "stream", "ranks", "GB", "of the limit"}, rows) +
         "<p class=\"note\">Operations of several streams may all run at once.</p>\n</section>\n";
}

constexpr const char* kMemoryStyle =
    R"(.limit { fill: var(--bound); }
.legend i.limit { height: 2px; vertical-align: 4px; background: var(--bound); }
.class { margin: 10px 0 16px; }
.class svg { border-bottom: 1px solid var(--line); }
.legend i.part-dispatch, .legend i.part-cache, .legend i.part-hbm { background: var(--fill); }
table.tensors td, table.tensors th { vertical-align: middle; }
table.tensors tbody th { text-align: left; font-weight: normal; white-space: normal; max-width: 34ch; }
)";

}  // namespace

std::string memory_page(const MemoryAccount& account) {
  std::string page =
      page_begin("Memory of " + account.experiment, std::string(kReportStyle) + kBarStyle + kMemoryStyle) +
      fmt::format(
          "<header>\n<h1>Memory of {}</h1>\n<p>It {} {} GB of each GPU.</p>\n<p class=\"muted\">{}; computed "
          "without a simulation</p>\n</header>\n",
          escaped(account.experiment), account.fits() ? "fits in the" : "does not fit in the",
          gigabytes(account.limit), escaped(account.system));
  if (account.steps.empty()) return page + plans_section(account) + kPageEnd;
  return page + moments_section(account) + tensors_section(account) + changes_section(account) + kPageEnd;
}

}}  // namespace c3::app
