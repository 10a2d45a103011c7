#pragma once
/// How a framework runs a training step: which kernels it launches, in which types, in which order, and how
/// much of its host it takes for them.

#include <span>
#include <string>
#include <string_view>

#include "base/enum_names.hpp"
#include "base/table_entry.hpp"
#include "engine/units.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace workloads {

struct StyleEntry;
extern const StyleEntry kEagerStyle, kCompiledStyle, kMegatronStyle;

/// Which kernels a layer's code launches, one of the table of styles (models/styles/).
class KernelStyle : public TableEntry<StyleEntry> {
 public:
  using TableEntry::TableEntry;

  static const KernelStyle eager;     ///< PyTorch modules as they are written
  static const KernelStyle compiled;  ///< elementwise neighbours in one kernel, as Inductor makes them
  static const KernelStyle megatron;  ///< Megatron-LM's fused kernels
};

inline constexpr KernelStyle KernelStyle::eager{kEagerStyle};
inline constexpr KernelStyle KernelStyle::compiled{kCompiledStyle};
inline constexpr KernelStyle KernelStyle::megatron{kMegatronStyle};

/// All styles that a configuration can name (styles/table.cpp).
extern const std::span<const KernelStyle> kKernelStyles;

std::string_view name_of(KernelStyle style);

/// What computes attention.
enum class AttentionCode {
  products,  ///< two batched products and a softmax, which keep the scores
  flash2,    ///< AttentionKernel::flash2
  flash1,    ///< AttentionKernel::flash1
  triton,    ///< AttentionKernel::triton
  newest,    ///< AttentionKernel::newest
  cudnn,     ///< AttentionKernel::cudnn
};
constexpr auto enum_names(AttentionCode) {
  return std::to_array<EnumName<AttentionCode>>({{"products", AttentionCode::products},
                                                 {"flash2", AttentionCode::flash2},
                                                 {"flash1", AttentionCode::flash1},
                                                 {"triton", AttentionCode::triton},
                                                 {"newest", AttentionCode::newest},
                                                 {"cudnn", AttentionCode::cudnn}});
}

/// Which kernels compute the loss from the logits, and what they leave in memory.
enum class CrossEntropy {
  separate,  ///< the style's own: a softmax, which is kept, and others for its gradient
  fused,     ///< one kernel each way: the logits are kept, and their gradient stands beside them
  in_place,  ///< the same, but the gradient overwrites the logits
};
constexpr auto enum_names(CrossEntropy) {
  return std::to_array<EnumName<CrossEntropy>>({{"separate", CrossEntropy::separate},
                                                {"fused", CrossEntropy::fused},
                                                {"in_place", CrossEntropy::in_place}});
}

/// How a framework runs steps, whatever the model. Multiples of a host's times (`Host`) are of one thread that
/// feeds one GPU.
struct Framework {
  std::string name;
  KernelStyle kernels = KernelStyle::eager;
  AttentionCode attention = AttentionCode::newest;
  bool grouped_heads = true;  ///< that kernel knows keys and values that several heads share
  bool dropout = false;
  bool sequences_apart = false;         ///< attention's products and softmax are launched for each sequence
  bool separate_projections = false;    ///< queries, keys, values, gate and up each by a product of its own
  DType parameter_dtype = DType::fp32;  ///< of what the optimizer updates
  bool master_copy = false;             ///< beside parameters of the type that computes, one in parameter_dtype
  DType gradient_dtype = DType::fp32;   ///< of gradients that are kept and reduced
  DType loss_dtype = DType::fp32;       ///< of logits in the loss
  CrossEntropy cross_entropy = CrossEntropy::separate;
  int logged_losses = 0;              ///< of each micro-batch, computed again in fp32 to be logged
  bool fused_optimizer = true;        ///< one kernel for all that it does to a unit's numbers
  bool fused_accumulation = false;    ///< products add to the gradients of weights that are kept
  bool clips_gradients = true;        ///< by their norm
  bool syncs = false;                 ///< the host waits for gradients and their norm before the optimizer
  bool syncs_passes = false;          ///< and after each pass of a micro-batch, to time it
  bool syncs_attention = false;       ///< forward, before scores, softmax, values and the projection after them
  bool overlaps_gradients = true;     ///< gradients are reduced while the backward pass goes on
  bool in_place_reduction = false;    ///< gradients that are kept are reduced where they are
  bool overlaps_tensor = true;        ///< sums over tensor-parallel ranks run beside gradients of weights
  bool one_communicator = true;       ///< FSDP's gathers and reductions run in the order of launch
  Bytes bucket, first_bucket;         ///< of gradients that are reduced together
  Bytes per_rank_bucket = {};         ///< of each data-parallel rank: as many make a bucket where they are more
  bool experts_apart = false;         ///< a product of several experts is a launch for each, on several streams
  bool syncs_routing = false;         ///< the host waits for the number of tokens of each expert
  int prefetch = 1;                   ///< layers whose parameters are gathered ahead
  bool flat_parameters = false;       ///< of a unit, views of the buffer into which they are gathered (FSDP 1)
  bool gathers_wait_on_host = false;  ///< the host waits for room before it launches a gather (FSDP 1's
                                      ///< limit_all_gathers)
  double host_forward = 1.0;  ///< of Host::kernel_launch: each kernel forward, computed again, of the optimizer
  double host_backward = 1.0;        ///< of Host::kernel_launch: each kernel of the backward pass
  double host_collective = 1.0;      ///< of Host::collective_launch
  double host_event = 1.0;           ///< of Host::event
  double host_layer_forward = 1.0;   ///< of Host::layer_forward
  double host_layer_backward = 1.0;  ///< of Host::layer_backward
  double host_optimizer = 1.0;       ///< of Host::optimizer
  int launch_queue = 1024;           ///< launches that wait for the GPU, after which the host waits
  int hardware_queues = 8;           ///< into which streams are dealt
  Bytes reserved;                    ///< of a GPU's memory, by the driver's context and by collective libraries

  bool operator==(const Framework&) const = default;
};

}}  // namespace c3::workloads
