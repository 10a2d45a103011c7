#pragma once
/// Programs of one author that differ in size only: the same step with fewer layers or micro-batches.

#include <compare>
#include <cstdint>
#include <memory>
#include <utility>

#include "collectives/spec.hpp"
#include "workloads/program/program.hpp"
#include "workloads/program/step_facts.hpp"

namespace c3 { inline namespace workloads {

/// How often the two things that repeat within a step do.
struct StepSize {
  std::int64_t layers = 1;
  std::int64_t micro_batches = 1;

  auto operator<=>(const StepSize&) const = default;
};

/// A step as its author writes it.
struct WrittenStep {
  Program program;
  StepFacts facts;
};

/// A step whose author can write it at other sizes, too. Analysis asks, for example, for the short steps from
/// which the time of a long one follows, and need not know who the author is. Immutable, so that copies of an
/// experiment share it.
class ProgramFamily {
 public:
  virtual ~ProgramFamily() = default;

  /// Of the step that write() writes.
  virtual StepSize size() const = 0;
  /// Layers after which the pattern of layers repeats, 1 or more: 4 where every fourth is recomputed.
  virtual std::int64_t layer_period() const = 0;
  /// That a micro-batch passes one after another.
  virtual std::int64_t stages() const { return 1; }
  /// Micro-batches from which on each period of them adds the same: all stages are busy, and the first and the
  /// last micro-batch are not neighbours. And how many are a period.
  virtual std::int64_t fewest_micro_batches() const { return stages() == 1 ? 2 : stages() + 2; }
  virtual std::int64_t micro_batch_period() const { return 1; }
  /// The same step at another size.
  virtual std::shared_ptr<const ProgramFamily> at(const StepSize& size) const = 0;
  /// \throws std::invalid_argument naming what the author cannot write of this size or for this cluster
  virtual void check(const ClusterSpec& cluster) const = 0;
  /// \throws as check()
  virtual WrittenStep write(const ClusterSpec& cluster) const = 0;
  /// The facts that write() gives, where an author knows them sooner. \throws as check()
  virtual StepFacts facts(const ClusterSpec& cluster) const { return write(cluster).facts; }
  /// Whether \p other writes the same steps.
  virtual bool writes_same(const ProgramFamily& other) const = 0;

 protected:
  ProgramFamily() = default;
  ProgramFamily(const ProgramFamily&) = default;
  ProgramFamily& operator=(const ProgramFamily&) = default;
};

/// A family that copies of its owner share, or none.
class SharedFamily {
 public:
  SharedFamily() = default;
  explicit SharedFamily(std::shared_ptr<const ProgramFamily> family) : family_(std::move(family)) {}

  explicit operator bool() const { return family_ != nullptr; }
  const ProgramFamily& operator*() const { return *family_; }
  const ProgramFamily* operator->() const { return family_.get(); }

  bool operator==(const SharedFamily& other) const {
    if (family_ == nullptr || other.family_ == nullptr) return family_ == other.family_;
    return family_->writes_same(*other.family_);
  }

 private:
  std::shared_ptr<const ProgramFamily> family_;
};

}}  // namespace c3::workloads
