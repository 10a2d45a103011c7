#include "studies/conccl/page.hpp"

#include <fmt/format.h>

#include <optional>

#include "results/report/bar_axis.hpp"
#include "results/report/curve_svg.hpp"
#include "results/report/html.hpp"
#include "results/report/style.hpp"
#include "studies/conccl/page_sections.hpp"
#include "studies/study_output.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr const char* kTitle = "Computation beside collectives on eight MI300X";

/// How many figures are held to something, and which of them miss it.
std::string verdict(const StudyReport& report) {
  std::size_t gated = 0;
  std::vector<std::string> missed;
  for (const StudySection& section : report) {
    for (const StudyLine& line : section.lines) {
      const std::optional<bool> passed = passes(line.figure);
      if (!passed) continue;
      ++gated;
      if (!*passed) missed.push_back(line.figure.reference.id);
    }
  }
  if (gated == 0) return "";
  std::string text = fmt::format("{} of {} figures are within their targets", gated - missed.size(), gated);
  for (std::size_t i = 0; i < missed.size(); ++i)
    text += (i == 0 ? "; not: " : ", ") + missed[i];
  return "<p>" + escaped(text) + ".</p>\n";
}

std::string head(const StudyPage& page) {
  return fmt::format(
      "<header>\n<h1>{}</h1>\n<p>What c3sim finds beside what arXiv 2412.14335 and arXiv 2511.06605 published: "
      "predicted from isolated behaviour, but where it says otherwise.</p>\n{}<p "
      "class=\"muted\">{}</p>\n</header>\n",
      kTitle, verdict(page.report), escaped(page.conditions));
}

std::string curves_section(const std::vector<CurvePlot>& plots) {
  if (plots.empty()) return "";
  std::string figures, notes;
  for (const CurvePlot& plot : plots) {
    figures += curve_figure(plot);
    for (const std::string& note : plot.notes)
      notes += "<p class=\"note\">" + escaped(note) + "</p>\n";
  }
  return "<section id=\"alone\">\n<h2>What each side does alone</h2>\n<div class=\"plots\">\n" + figures +
         "</div>\n" + notes + "</section>\n";
}

std::string figures_section(const StudyReport& report) {
  return "<section id=\"figures\">\n<details><summary>Every figure, as the terminal has it</summary>\n<pre>" +
         escaped(study_text(report)) + "</pre></details>\n</section>\n";
}

}  // namespace

std::string study_page(const StudyPage& page) {
  return page_begin(kTitle, std::string(kReportStyle) + kCurveStyle + kBarStyle + kStudyPageStyle) +
         head(page) + ladder_section(page.report) + curves_section(page.plots) +
         scenarios_section(page.scenarios) + tornado_section(page.report) + figures_section(page.report) +
         kPageEnd;
}

}}  // namespace c3::studies
