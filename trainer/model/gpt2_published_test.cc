#include "trainer/model/gpt2_published.h"

#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"
#include "trainer/model/model.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

Model Small() {
  return *BuildModel({.name = "gpt2",
                      .data = {.features = 8, .vocabulary = 256},
                      .blocks = 12,
                      .heads = 2,
                      .width = 6},
                     GraphMode::kInference);
}

TEST(Gpt2PublishedTest, NamesAreThoseOfPublishedFiles) {
  EXPECT_EQ(PublishedName("wte"), "wte.weight");
  EXPECT_EQ(PublishedName("wpe"), "wpe.weight");
  EXPECT_EQ(PublishedName("h0/ln_1/g"), "h.0.ln_1.weight");
  EXPECT_EQ(PublishedName("h0/ln_1/b"), "h.0.ln_1.bias");
  EXPECT_EQ(PublishedName("h11/attn/c_attn/w"), "h.11.attn.c_attn.weight");
  EXPECT_EQ(PublishedName("h11/attn/c_proj/b"), "h.11.attn.c_proj.bias");
  EXPECT_EQ(PublishedName("h3/mlp/c_fc/w"), "h.3.mlp.c_fc.weight");
  EXPECT_EQ(PublishedName("ln_f/g"), "ln_f.weight");
}

TEST(Gpt2PublishedTest, EachVariableHasANameThatLeadsBackToIt) {
  const Model model = Small();
  std::set<std::string> names;
  for (const Value variable : model.graph.Variables()) {
    const std::string& own = model.graph.node(variable).name;
    const std::string published = PublishedName(own);
    EXPECT_TRUE(names.insert(published).second) << published;
    EXPECT_EQ(OwnName(published), own);
    EXPECT_EQ(OwnName("transformer." + published), own);
  }
  EXPECT_EQ(names.size(), 2u + 12 * 12 + 2);
}

TEST(Gpt2PublishedTest, WhatIsNoVariableHasNoNameOfOurs) {
  for (const char* name :
       {"lm_head.weight", "h.0.attn.bias", "h.0.attn.masked_bias", "h.0.attn.c_attn",
        "h..ln_1.bias", "h.x.ln_1.bias", "h0.ln_1.bias", "h.0.ln_3.bias", "h.0.bias", "ln_f",
        "ln_f.g", "", ".", ".weight", "weight", "wte.bias", "h.weight", "h0.ln_1.weight.bias",
        "transformer.", "h.0.attn/c_attn.weight"}) {
    EXPECT_EQ(OwnName(name), std::nullopt) << name;
  }
}

TEST(Gpt2PublishedTest, TheConfigurationSaysWhatTheGraphIs) {
  const std::string text = PublishedConfig(Small().graph);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["vocab_size"], 256);
  EXPECT_EQ(json["n_positions"], 8);
  EXPECT_EQ(json["n_embd"], 6);
  EXPECT_EQ(json["n_layer"], 12);
  EXPECT_EQ(json["n_head"], 2);
  EXPECT_EQ(json["layer_norm_epsilon"], 1e-5);
  EXPECT_EQ(json["activation_function"], "gelu_new");
  EXPECT_EQ(json["tie_word_embeddings"], true);
  const auto model = ModelOfPublishedConfig(text);
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(*model, R"({"name":"gpt2","blocks":12,"heads":2,"width":6})");
}

TEST(Gpt2PublishedTest, WhatIsLeftOutIsAsPublished) {
  const auto model =
      ModelOfPublishedConfig(R"({"model_type":"gpt2","n_layer":1,"n_head":2,"n_embd":4})");
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(*model, R"({"name":"gpt2","blocks":1,"heads":2,"width":4})");
}

TEST(Gpt2PublishedTest, AModelThatIsComputedInAnotherWayIsRefused) {
  const auto error = [](const std::string& field) {
    return std::string(ModelOfPublishedConfig(
                           R"({"model_type":"gpt2","n_layer":1,"n_head":2,"n_embd":4,)" + field +
                           "}")
                           .status()
                           .message());
  };
  EXPECT_EQ(error(R"("n_inner":16)"), "");
  EXPECT_EQ(error(R"("n_inner":null)"), "");
  EXPECT_EQ(error(R"("activation_function":"gelu_pytorch_tanh")"), "");
  EXPECT_THAT(error(R"("n_inner":8)"), HasSubstr("n_inner is 8, and gpt2 has 4 * n_embd here"));
  EXPECT_THAT(error(R"("activation_function":"gelu")"), HasSubstr(R"(is "gelu", and gpt2 has)"));
  EXPECT_THAT(error(R"("layer_norm_epsilon":1e-6)"), HasSubstr("layer_norm_epsilon"));
  EXPECT_THAT(error(R"("layer_norm_epsilon":"x")"), HasSubstr("layer_norm_epsilon"));
  EXPECT_THAT(error(R"("tie_word_embeddings":false)"), HasSubstr("tie_word_embeddings is false"));
  EXPECT_THAT(error(R"("scale_attn_weights":false)"), HasSubstr("scale_attn_weights"));
  EXPECT_THAT(error(R"("scale_attn_by_inverse_layer_idx":true)"), HasSubstr("has it not here"));
  EXPECT_THAT(error(R"("n_head":-1)"), HasSubstr("n_head must be a whole number"));
  EXPECT_THAT(ModelOfPublishedConfig(R"({"model_type":"gpt2"})").status().message(),
              HasSubstr("n_layer must be a whole number from 1, and is missing"));
  EXPECT_THAT(ModelOfPublishedConfig(R"({"model_type":"llama"})").status().message(),
              HasSubstr(R"("model_type": "gpt2")"));
  EXPECT_THAT(ModelOfPublishedConfig("[").status().message(), HasSubstr("config.json: not JSON"));
  EXPECT_THAT(ModelOfPublishedConfig("[]").status().message(), HasSubstr("must be an object"));
}

}  // namespace
}  // namespace taas
