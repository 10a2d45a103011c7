#include <fmt/format.h>

#include <string>

#include "configs/spec_readers.hpp"

namespace c3 {
namespace {

/// A coefficient that differs: `share_ampere` where the file has it, or else `share_default`. Several lists of
/// names are asked for in turn; a later one that has the wanted name wins.
class SharedCoefficient {
 public:
  SharedCoefficient(Section& section, std::string_view key, double high)
      : section_(section), key_(key), high_(high), value_(section.fraction(key_ + "_default", high)) {}

  template <class Names>
  void look_up(const Names& names, std::string_view wanted) {
    for (const auto each : names) {
      const std::string own = fmt::format("{}_{}", key_, name_of(each));
      if (!section_.has(own)) continue;
      const double share = section_.fraction(own, high_);
      if (name_of(each) == wanted) value_ = share;
    }
  }
  double value() const { return value_; }

 private:
  Section& section_;
  std::string key_;
  double high_;
  double value_;
};

struct Kind {
  GpuFamily family;
  MemoryTechnology technology;
};

/// `share` belongs to a family; `memory_share` to a memory technology, or to a family whose controllers decide.
double shared(Section& section, std::string_view key, double high, const Kind& kind) {
  SharedCoefficient coefficient(section, key, high);
  if (key == "memory_share") coefficient.look_up(kMemoryTechnologies, name_of(kind.technology));
  coefficient.look_up(kGpuFamilies, name_of(kind.family));
  return coefficient.value();
}

template <class Set, class Fields>
Set read_set(Section section, const Fields& fields, const Kind& kind) {
  Set set;
  for (const auto& field : fields) {
    const bool is_shared = field.key == "share" || field.key == "memory_share";
    const double value =
        is_shared ? shared(section, field.key, field.high, kind) : section.fraction(field.key, field.high);
    if (value < field.low && !section.is_rehearsal()) {
      section.fail(field.key,
                   fmt::format("must be between {} and {}: {}", field.low, field.high, field.meaning));
    }
    set.*field.member = value;
  }
  section.finish();
  return set;
}

}  // namespace

KernelCoefficients read_kernel_coefficients(Section section, GpuFamily family, MemoryTechnology technology) {
  const Kind kind{family, technology};
  KernelCoefficients all;
  all.vector_gemm = read_set<GemmCoefficients>(section.table("vector_gemm"), kGemmFields, kind);
  all.matrix_gemm = read_set<GemmCoefficients>(section.table("matrix_gemm"), kGemmFields, kind);
  all.vector = read_set<VectorCoefficients>(section.table("vector"), kVectorFields, kind);
  all.attention = read_set<AttentionCoefficients>(section.table("attention"), kAttentionFields, kind);
  section.finish();
  return all;
}

}  // namespace c3
