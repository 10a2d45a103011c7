#pragma once
/// The parts of `reproduce one_gpu`: each reads a table of this folder, predicts it and compares.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "engine/units.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator.hpp"
#include "importers/collective_times/headed_table.hpp"
#include "studies/checked_row.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// The operator that a row tells under the columns of `c3sim kernel --csv`. \throws ConfigError with its place
Operator operator_in(const HeadedTable& table, const HeadedTable::Row& row);

/// The kernels that other tables call by name.
class NamedKernels {
 public:
  /// \param file of a column kernel and those of operator_in. \throws ConfigError, IoError
  explicit NamedKernels(const std::filesystem::path& file);

  /// The product that "gemm M N K" tells, or the kernel of that name, if there is one.
  std::optional<Operator> find(const std::string& name) const;
  /// \throws ConfigError where the cell names none
  Operator of(const CheckedRow& row, std::string_view column) const;

 private:
  std::map<std::string, Operator> kernels_;
};

/// Of a figure about the GPU with whose preset's name \p label begins. The H100 was measured first: mechanisms
/// were found in its rows, and in no others'.
inline FigureKind kind_of(std::string_view label) {
  return label.starts_with("h100-sxm") ? FigureKind::fitted : FigureKind::predicted;
}

/// Of what the parts list for StudyOutcome::rows_csv.
inline constexpr std::string_view kRowsHeader = "gpu,case,figure,measured,here\n";

/// A table of kernels alone, and what is said of it.
struct AloneTable {
  std::filesystem::path file;
  std::string_view figure;  ///< of published.csv: the mean error of a group
  std::string_view heading;
  std::string_view note;
  FigureKind (*kind)(std::string_view label);  ///< of the group "GPU: GROUP"
};

/// Library kernels of transformers, and layers of networks of images.
AloneTable transformers_alone();
AloneTable images_alone();

/// Kernels alone, in bursts of milliseconds.
class KernelsAlonePart {
 public:
  /// \param table of columns gpu, group, ms and those of operator_in. \throws ConfigError, IoError
  explicit KernelsAlonePart(AloneTable table);

  /// The mean error of each group.
  StudySection section(const PublishedFigures& published) const;

 private:
  struct Row {
    std::string gpu, group;
    Operator op;
    Seconds measured;
  };
  AloneTable table_;
  std::vector<Row> rows_;
};

/// Kernels on some of the SMs: those of a green context, or those that blocks which do nothing leave.
class GpuPartsPart {
 public:
  /// \param file of columns gpu, kernel, how, sms, ms and those of operator_in. \throws ConfigError, IoError
  explicit GpuPartsPart(const std::filesystem::path& file);

  /// The mean error of the time over that on the whole GPU, by kernel and number of SMs.
  StudySection section(const PublishedFigures& published) const;

 private:
  struct Row {
    std::string gpu, kernel, how;
    Operator op;
    int sms = 0;
    Seconds measured;
  };
  std::vector<Row> rows_;
};

/// Products of many experts in one launch, beside batches of equal products.
class GroupedPart {
 public:
  /// \param file of columns gpu, experts, n, k, mean_rows, alpha, how, ms. \throws ConfigError, IoError
  explicit GroupedPart(const std::filesystem::path& file);

  StudySection section(const PublishedFigures& published) const;

 private:
  struct Row {
    std::string gpu, label;
    Operator shape;
    Seconds measured;
  };
  std::vector<Row> rows_;
};

/// Gradients of weights whose results are rounded, stored as fp32, or added to what memory has.
class AddingPart {
 public:
  /// \param file of columns gpu, way, m, n, k, ms. \throws ConfigError, IoError
  explicit AddingPart(const std::filesystem::path& file);

  /// The mean error of the time over that of rounded results, by number of tokens.
  StudySection section(const PublishedFigures& published) const;

 private:
  struct Row {
    std::string gpu;
    GemmShape shape;
    Seconds measured;
  };
  std::vector<Row> rows_;
};

/// The same kernels on several boards of one type.
class BoardsPart {
 public:
  /// \param file of columns gpu, kernel, ms and those of operator_in, a row for each board and kernel.
  /// \throws ConfigError, IoError
  explicit BoardsPart(const std::filesystem::path& file);

  StudySection section(const PublishedFigures& published) const;

 private:
  struct Kernel {
    std::string gpu, name;
    Operator op;
    std::vector<double> ms;  ///< of each board
  };
  std::vector<Kernel> kernels_;
};

/// What a stream of one kernel loses once the board's power has been averaged.
class LevelsPart {
 public:
  /// \param file of columns gpu, kernel, burst_ms, sustained_ms, power_w and those of operator_in.
  /// \throws ConfigError, IoError
  explicit LevelsPart(const std::filesystem::path& file);

  StudySection section(const PublishedFigures& published) const;

 private:
  struct Row {
    std::string gpu, kernel;
    Operator op;
    Seconds burst, sustained;
    Watts power;
  };
  std::vector<Row> rows_;
};

/// Kernels beside copies between the GPU and its host, by copy engines.
class CopiesPart {
 public:
  /// \param file of columns gpu, kernel, way, alone_ms, together_ms, copy_together_gb_s.
  /// \throws ConfigError, IoError
  CopiesPart(const std::filesystem::path& file, const NamedKernels& kernels);

  StudySection section(const PublishedFigures& published) const;

 private:
  struct Row {
    std::string gpu, kernel;
    std::size_t way = 0;
    Operator op;
    double slower = 1.0;  ///< the kernel's time over that alone
    BytesPerSecond copied;
  };
  std::vector<Row> rows_;
};

/// Kernels beside blocks on SMs of their own, which copy, read or write.
class BesideBlocksPart {
 public:
  /// \param file of columns gpu, kernel, way, blocks, alone_ms, together_ms, rate_alone_gb_s,
  /// rate_together_gb_s \throws ConfigError, IoError
  BesideBlocksPart(const std::filesystem::path& file, const NamedKernels& kernels);

  void plan(SimulationJobs& jobs);
  StudySection section(const PublishedFigures& published) const;
  std::string rows_csv() const;  ///< lines of kRowsHeader

 private:
  struct Row {
    std::string gpu, kernel;
    std::size_t way = 0;
    int blocks = 0;  ///< on an SM each
    Operator op;
    BytesPerSecond rate_alone;
    double slower = 1.0;  ///< the kernel's time over that alone, on the same SMs
    double kept = 1.0;    ///< the blocks' rate over that alone
    double slower_here = 0.0, kept_here = 0.0;
  };
  std::vector<Row> rows_;
};

/// Kernels beside kernels on streams that share all SMs.
class StreamsPart {
 public:
  /// \param equal of columns gpu, m, n, k, degree, each, serial_ms, at_once_ms
  /// \param mixed of columns gpu, first, second (as in "add 16384 8192 x 4"), serial_ms, at_once_ms
  /// \throws ConfigError, IoError
  StreamsPart(const std::filesystem::path& equal, const std::filesystem::path& mixed,
              const NamedKernels& kernels);

  void plan(SimulationJobs& jobs);
  StudySection section(const PublishedFigures& published) const;
  std::string rows_csv() const;  ///< lines of kRowsHeader

 private:
  struct Row {
    std::string gpu, group, label;
    std::vector<std::pair<Operator, int>> lists;  ///< of each stream: a kernel, and how often it runs
    double gain = 1.0;                            ///< time one after another over that at once
    double gain_here = 0.0;
  };
  std::vector<Row> rows_;
};

}}  // namespace c3::studies
