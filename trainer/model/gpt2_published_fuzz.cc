// What others write beside a GPT-2: config.json, and names of tensors.

#include <memory>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "tools/fuzz/target.h"
#include "trainer/model/gpt2_published.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {R"({"model_type": "gpt2", "n_layer": 2, "n_head": 2, "n_embd": 8, "n_inner": null,
              "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05,
              "tie_word_embeddings": true, "scale_attn_weights": true})",
          "transformer.h.0.attn.c_attn.weight", "h.11.ln_2.bias", "ln_f.weight",
          "h.0.attn/c_attn.weight"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = taas::FuzzText(data, size);
  (void)taas::ModelOfPublishedConfig(text);
  // A name of ours has one published name.
  if (const auto own = taas::OwnName(text)) {
    CHECK(text.ends_with(taas::PublishedName(*own))) << *own;
  }
  return 0;
}
