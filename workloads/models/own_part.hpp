#pragma once
/// Parts that only one kind of block has, and which say all of themselves.

#include <cstdint>
#include <memory>

#include "engine/units.hpp"
#include "gpu/kernels/operator.hpp"
#include "workloads/models/token_batch.hpp"

namespace c3 { inline namespace workloads {

struct PartKernel;

/// What the kernels of an OwnPart are written with. The backward kernels of a part are written in their own
/// order; parts come in reverse order there.
class PartWriter {
 public:
  virtual ~PartWriter() = default;
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  virtual const TokenBatch& batch() const = 0;
  /// \param kept of its output, until the last backward kernel of the part has ended
  virtual PartKernel& forward(const Operator& op, Bytes kept = {}) = 0;
  /// Adds a kernel behind the backward kernels that the part has.
  virtual PartKernel& backward(const Operator& op) = 0;

 protected:
  PartWriter() = default;
};

/// Dimensions and rules of such a part. It never changes, so that copies of a model share it.
class OwnPart {
 public:
  virtual ~OwnPart() = default;
  OwnPart(const OwnPart&) = delete;
  OwnPart& operator=(const OwnPart&) = delete;

  virtual std::int64_t parameters() const = 0;  ///< numbers
  virtual int parameter_tensors() const = 0;
  /// What one of \p ranks has that share the block's heads.
  virtual std::shared_ptr<const OwnPart> share(std::int64_t ranks) const = 0;
  virtual void write(PartWriter& writer) const = 0;

 protected:
  OwnPart() = default;
};

}}  // namespace c3::workloads
