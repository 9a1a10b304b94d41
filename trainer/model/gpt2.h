// GPT-2 (Radford et al. 2019): a decoder of blocks, each of which normalizes before attention and
// before its two dense layers, with learned positions and with the embeddings as the last layer's
// weights. Variables have the names of the published checkpoints, "h0/attn/c_attn/w", with matrices
// as input × output; nothing else is needed to load those weights.
//
// The features are `context` + 1 tokens per example; each but the last predicts the next.
//
// Ownership: value types. Threads: any. Errors: InvalidArgument that names the field.
//
//   ASSIGN_OR_RETURN(Model model, BuildGpt2({.name = "gpt2", .data = {.features = 1025,
//                                            .vocabulary = 50257}}, GraphMode::kTraining));

#ifndef TRAINER_MODEL_GPT2_H_
#define TRAINER_MODEL_GPT2_H_

#include "absl/status/statusor.h"
#include "trainer/model/model.h"

namespace taas {

absl::StatusOr<Model> BuildGpt2(const ModelSpec& spec, GraphMode mode);

}  // namespace taas

#endif  // TRAINER_MODEL_GPT2_H_
