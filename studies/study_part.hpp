#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "studies/jobs.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// A part of a study: reads its tables when made, does its work in jobs, and then has sections.
class StudyPart {
 public:
  StudyPart() = default;
  StudyPart(const StudyPart&) = delete;
  StudyPart& operator=(const StudyPart&) = delete;
  virtual ~StudyPart() = default;

  virtual void plan(Jobs& jobs) = 0;
  virtual StudyReport sections(const PublishedFigures& published) const = 0;
};
using StudyParts = std::vector<std::unique_ptr<StudyPart>>;

/// The sections of all \p parts, in their order. Their jobs have run.
inline StudyReport sections_of(const StudyParts& parts, const PublishedFigures& published) {
  StudyReport report;
  for (const std::unique_ptr<StudyPart>& part : parts)
    std::ranges::move(part->sections(published), std::back_inserter(report));
  return report;
}

}}  // namespace c3::studies
