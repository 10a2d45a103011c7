#pragma once
/// Matrix products as their tables took them: burst and sustained clocks, small kernels, quantisation.

#include <filesystem>
#include <string>
#include <vector>

#include "studies/jobs.hpp"
#include "studies/kernels/protocol.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// One GPU's rows of ai-dynamo/aiconfigurator's GEMM tables, and of a B200 node the products of one training
/// run.
class ClockPart {
 public:
  explicit ClockPart(const std::filesystem::path& kernels);
  void plan(Jobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;

 private:
  struct Scored {
    TakenRow taken;
    Seconds predicted = {};
  };
  struct Table {
    std::string id;  ///< in figures
    GpuSpec gpu;
    std::vector<Scored> rows;
  };

  static void read(Table& table, const std::vector<TakenRow>& rows);
  void read_node(const std::filesystem::path& file);

  StudySection pairs(const PublishedFigures& published) const;
  StudySection levels(const PublishedFigures& published) const;
  StudySection small(const PublishedFigures& published) const;
  StudySection node(const PublishedFigures& published) const;
  StudySection quantised(const PublishedFigures& published) const;

  Table a100_, h100_, b200_, node_;
};

}}  // namespace c3::studies
