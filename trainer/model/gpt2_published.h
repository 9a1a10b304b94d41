// GPT-2 as others publish and load it: names of its variables, and the config.json beside them.
//
// Ours are those of the first checkpoints, "h0/attn/c_attn/w"; files of PyTorch have
// "h.0.attn.c_attn.weight", some with "transformer." before it. The numbers lie the same way in
// both: matrices are input × output, and c_attn has queries, keys and values side by side. Sources:
// GPT2Config and load_tf_weights_in_gpt2 of the package transformers, and what its
// GPT2LMHeadModel.save_pretrained writes; a test holds both against the package.
//
// Ownership: values. Threads: any. Errors: InvalidArgument for a text that is no such object;
// Unimplemented for a model that is computed in another way than ours, naming the field.
//
//   PublishedName("ln_f/g");               // "ln_f.weight"
//   OwnName("transformer.h.0.ln_1.bias");  // "h0/ln_1/b"

#ifndef TRAINER_MODEL_GPT2_PUBLISHED_H_
#define TRAINER_MODEL_GPT2_PUBLISHED_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "trainer/graph/graph.h"

namespace taas {

// Of a variable of BuildGpt2.
std::string PublishedName(std::string_view own);

// Nothing: no variable of ours has this name; so it is of masks ("h.0.attn.bias") and of the last
// layer ("lm_head.weight"), which is the embeddings once more.
std::optional<std::string> OwnName(std::string_view published);

// A JSON object with which GPT2LMHeadModel computes what a graph of BuildGpt2 does. Shares that are
// dropped in training are 0: the graph as it is used has none.
std::string PublishedConfig(const Graph& graph);

// The object spec.trainer.model for which BuildGpt2 computes what `json`, a config.json, says.
absl::StatusOr<std::string> ModelOfPublishedConfig(std::string_view json);

}  // namespace taas

#endif  // TRAINER_MODEL_GPT2_PUBLISHED_H_
