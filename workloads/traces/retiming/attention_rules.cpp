/// Fused attention: operators whose kernels never write the scores.

#include "gpu/kernels/attention/attention_shape.hpp"
#include "workloads/traces/retiming/derivation.hpp"

namespace c3 { inline namespace traces {
namespace {

enum class Layout : std::uint8_t {
  tokens_heads,  ///< [batch, tokens, heads, head_dim]
  heads_tokens   ///< [batch, heads, tokens, head_dim]
};

/// Positions of an operator's tensors, and of the flag whether a query sees later keys.
struct AttentionRule {
  std::string_view op;
  std::size_t query;   ///< keys and values follow
  std::size_t causal;  ///< a flag, or a mask's kind where 1 is causal
  Layout layout;
  Pass pass = Pass::forward;
  AttentionKernel kernel = AttentionKernel::flash2;
};

/// Schemas of PyTorch 2.1 to 2.8 (native_functions.yaml) and flash-attn 2.
constexpr std::array kAttention{
    AttentionRule{"_flash_attention_forward", 0, 8, Layout::tokens_heads},
    AttentionRule{"_flash_attention_backward", 1, 11, Layout::tokens_heads, Pass::backward},
    AttentionRule{"_scaled_dot_product_flash_attention", 0, 4, Layout::heads_tokens},
    AttentionRule{"_scaled_dot_product_flash_attention_backward", 1, 11, Layout::heads_tokens, Pass::backward},
    AttentionRule{"_efficient_attention_forward", 0, 9, Layout::tokens_heads},
    AttentionRule{"_efficient_attention_backward", 1, 14, Layout::tokens_heads, Pass::backward},
    AttentionRule{"_scaled_dot_product_efficient_attention", 0, 6, Layout::heads_tokens},
    AttentionRule{"_scaled_dot_product_efficient_attention_backward", 1, 11, Layout::heads_tokens,
                  Pass::backward},
    AttentionRule{"_scaled_dot_product_cudnn_attention", 0, 6, Layout::heads_tokens, Pass::forward,
                  AttentionKernel::cudnn},
    AttentionRule{"_scaled_dot_product_cudnn_attention_backward", 1, 14, Layout::heads_tokens, Pass::backward,
                  AttentionKernel::cudnn},
    AttentionRule{"_flash_attn_forward", 0, 5, Layout::tokens_heads},
    AttentionRule{"_flash_attn_backward", 1, 11, Layout::tokens_heads, Pass::backward},
};

std::optional<bool> is_causal(const OpArgument& argument) {
  if (argument.value == "True" || argument.value == "true" || argument.value == "1") return true;
  if (argument.value == "False" || argument.value == "false" || argument.value == "0") return false;
  return std::nullopt;
}

}  // namespace

bool is_attention(std::string_view op) {
  return rule_named(std::span<const AttentionRule>(kAttention), op) != nullptr;
}

KernelOperator derive_attention(const LaunchedKernel& kernel) {
  const AttentionRule& rule = *rule_named(std::span<const AttentionRule>(kAttention), kernel.op);
  if (is_helper(kernel.kernel))
    return part_of_another("attention: prepares or combines what its kernel computes");
  if (kernel.work != WorkClass::attention) return not_found("a kernel beside attention");
  if (kernel.alike > 1) return not_found("attention that several kernels compute");
  const OpArgument& query = kernel[rule.query];
  const OpArgument& key = kernel[rule.query + 1];
  const auto has_4 = [](const OpArgument& argument) {
    return argument.is_tensor() && argument.tensors.front().size() == 4;
  };
  if (!has_4(query) || !has_4(key)) return not_found("attention over sequences of unlike length");
  const std::optional<DType> dtype = dtype_of(query.type);
  if (!dtype) return not_found("attention in a type without a rate");
  const std::optional<bool> causal = is_causal(kernel[rule.causal]);
  if (!causal) return not_found("attention without a record of whether it is causal");
  const std::size_t tokens = rule.layout == Layout::tokens_heads ? 1 : 2;
  const Dims& of_query = query.tensors.front();
  const Dims& of_key = key.tensors.front();
  const AttentionShape shape{.batch = of_query[0],
                             .heads = of_query[3 - tokens],
                             .kv_heads = of_key[3 - tokens],
                             .queries = of_query[tokens],
                             .keys = of_key[tokens],
                             .head_dim = of_query[3],
                             .causal = *causal,
                             .dtype = *dtype,
                             .pass = rule.pass,
                             .kernel = rule.kernel};
  const bool fits = shape.batch > 0 && shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0 &&
                    shape.heads > 0 && shape.queries > 0 && shape.keys > 0 && shape.head_dim > 0 &&
                    (!shape.causal || shape.queries <= shape.keys);
  if (!fits) return not_found("attention whose shapes do not fit");
  return found(shape, rule.pass == Pass::forward ? "attention" : "attention, backward");
}

}}  // namespace c3::traces
