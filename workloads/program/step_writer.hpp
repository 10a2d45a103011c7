#pragma once
/// Writes the program of one rank operator by operator, with what each takes of the host's time.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/kernels/operator.hpp"
#include "workloads/program/operator_overheads.hpp"
#include "workloads/program/program_builder.hpp"

namespace c3 { inline namespace workloads {

/// T2 of an operator of a kind, by its member.
using OperatorKind = Seconds OperatorOverheads::*;

/// An operator of the framework, and the kernels that it launches; without any, only the host works.
struct HostedOperator {
  OperatorKind kind = &OperatorOverheads::other;
  std::string name;
  std::vector<Operator> kernels = {};
};

/// Operations are launched by one thread, in the order in which they are added.
class StepWriter {
 public:
  StepWriter(ProgramBuilder& builder, const std::optional<OperatorOverheads>& overheads)
      : builder_(builder), overheads_(overheads) {}

  void run(ProgramBuilder::Stream stream, const HostedOperator& op);
  void run(ProgramBuilder::Stream stream, const std::vector<HostedOperator>& ops);
  /// \p waits whether the thread waits for its end.
  void copy(ProgramBuilder::Stream stream, std::string_view name, HostCopy copy, bool waits = false);
  void collective(ProgramBuilder::Stream stream, std::string_view name, CollectiveCall call);
  /// \p later goes on after what \p earlier has been given so far.
  void order(ProgramBuilder::Stream earlier, ProgramBuilder::Stream later, std::string_view event);
  /// Gives the script its host, where hosts take time or there are several streams: their operations are
  /// launched in the order of the program then, which is the order of a serial strategy.
  void finish();

 private:
  void begin(OperatorKind kind);
  void launch(OperationPlace place, Seconds cost);

  ProgramBuilder& builder_;
  const std::optional<OperatorOverheads>& overheads_;
  HostThread thread_;
  bool has_streams_ = false;  ///< several
  Seconds owed_ = {};         ///< that the thread takes before its next launch
};

}}  // namespace c3::workloads
