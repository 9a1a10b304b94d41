#include "trainer/use/generate.h"

#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/model/model.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kTokens = 256;
constexpr int64_t kContext = 4;

// A GPT-2 of one block with `width` numbers for a token, all of whose values are 0.
TrainedModel Empty(int64_t width, int64_t heads) {
  TrainedModel trained{.source = "/out/model.ckpt-9",
                       .shape = {.features = kContext, .vocabulary = kTokens}};
  trained.model = *BuildModel({.name = "gpt2",
                               .data = trained.shape,
                               .blocks = 1,
                               .heads = heads,
                               .width = width},
                              GraphMode::kInference);
  for (const Value variable : trained.model.graph.Variables()) {
    const Shape& shape = trained.model.graph.node(variable).outputs[0].shape;
    trained.values.emplace_back(static_cast<size_t>(shape.count()));
  }
  return trained;
}

std::vector<float>& ValuesOf(TrainedModel& trained, const std::string& name) {
  const std::vector<Value> variables = trained.model.graph.Variables();
  for (size_t i = 0; i < variables.size(); ++i) {
    if (trained.model.graph.node(variables[i]).name == name) return trained.values[i];
  }
  ADD_FAILURE() << "no variable " << name;
  return trained.values[0];
}

// Each token is a direction of its own, and what comes out is what the last token and its place
// add up to.
TrainedModel Echo() {
  TrainedModel trained = Empty(kTokens, 4);
  std::vector<float>& table = ValuesOf(trained, "wte");
  for (size_t i = 0; i < kTokens; ++i) table[i * kTokens + i] = 1;
  ValuesOf(trained, "ln_f/g").assign(kTokens, 1);
  return trained;
}

// Each variable has numbers that look like chance.
TrainedModel Mixed() {
  TrainedModel trained = Empty(8, 2);
  float at = 0;
  for (std::vector<float>& values : trained.values) {
    for (float& value : values) value = std::sin(at += 1.7f) * 0.9f;
  }
  return trained;
}

std::string Text(TrainedModel& trained, std::string_view prompt, const GenerateOptions& options) {
  const auto generator = Generator::Make(CpuRuntime(), trained);
  EXPECT_THAT(generator, IsOk());
  std::string text;
  EXPECT_THAT((*generator)->Generate(prompt, options,
                                     [&](uint8_t token) {
                                       text += static_cast<char>(token);
                                       return absl::OkStatus();
                                     }),
              IsOk());
  return text;
}

absl::Status NoToken(uint8_t) { return absl::InternalError("a token came"); }

constexpr SamplingOptions kLikeliest{.temperature = 0};

TEST(GenerateTest, TheLastTokenAndItsPlaceDecide) {
  TrainedModel trained = Echo();
  EXPECT_EQ(Text(trained, "ab", {.length = 3, .sampling = kLikeliest}), "bbb");
  EXPECT_EQ(Text(trained, "abcdefgh\xFE", {.length = 2, .sampling = kLikeliest}), "\xFE\xFE");
  // What stands at a place makes the next one a letter of that place, until the context is full.
  for (size_t place = 0; place < kContext; ++place) {
    ValuesOf(trained, "wpe")[place * kTokens + 'A' + place] = 9;
  }
  EXPECT_EQ(Text(trained, "x", {.length = 6, .sampling = kLikeliest}), "ABCDDD");
  EXPECT_EQ(Text(trained, "xyz", {.length = 3, .sampling = kLikeliest}), "CDD");
}

TEST(GenerateTest, EachTokenIsWhatTheModelSaysOfAllBeforeIt) {
  TrainedModel trained = Mixed();
  const std::string text = Text(trained, "some", {.length = 12, .sampling = kLikeliest});
  ASSERT_EQ(text.size(), 12u);
  std::string anew = "some";
  for (int i = 0; i < 12; ++i) anew += Text(trained, anew, {.length = 1, .sampling = kLikeliest});
  EXPECT_EQ("some" + text, anew);
  EXPECT_NE(text, Text(trained, "sole", {.length = 12, .sampling = kLikeliest}));
}

TEST(GenerateTest, OfALongPromptTheLastTokensCount) {
  TrainedModel trained = Mixed();
  const GenerateOptions options{.length = 5, .sampling = kLikeliest};
  EXPECT_EQ(Text(trained, "long before some", options), Text(trained, "some", options));
  EXPECT_EQ((*Generator::Make(CpuRuntime(), trained))->context(), kContext);
}

TEST(GenerateTest, TheSameSeedGivesTheSameTextAndAnotherAnother) {
  TrainedModel trained = Mixed();
  const auto text = [&](uint64_t seed) {
    return Text(trained, "a", {.length = 30, .sampling = {.top_k = 40}, .seed = seed});
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2));
}

TEST(GenerateTest, TokensComeUntilOneCannotBeChosen) {
  TrainedModel trained = Mixed();
  ValuesOf(trained, "ln_f/b")[0] = std::nanf("");
  const auto generator = Generator::Make(CpuRuntime(), trained);
  ASSERT_THAT(generator, IsOk());
  EXPECT_THAT((*generator)->Generate("a", {}, NoToken),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no finite number")));
  EXPECT_THAT((*generator)->Generate("", {}, NoToken),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the prompt is empty")));
  EXPECT_THAT((*generator)->Generate("a", {.length = 0, .sampling = {.temperature = -1}},
                                     NoToken),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("temperature")));
}

TEST(GenerateTest, WhoeverTakesTheTokensMayEndTheText) {
  TrainedModel trained = Mixed();
  const auto generator = Generator::Make(CpuRuntime(), trained);
  ASSERT_THAT(generator, IsOk());
  int taken = 0;
  EXPECT_THAT((*generator)->Generate("a", {.length = 1'000'000},
                                     [&](uint8_t) {
                                       return ++taken < 3 ? absl::OkStatus()
                                                          : absl::UnavailableError("full");
                                     }),
              StatusIs(absl::StatusCode::kUnavailable, "full"));
  EXPECT_EQ(taken, 3);
}

TEST(GenerateTest, AModelThatPredictsNoBytesIsRefused) {
  TrainedModel softmax{.source = "/out/model.ckpt-1", .shape = {.features = 2, .classes = 2}};
  softmax.model = *BuildModel({.name = "softmax", .data = softmax.shape});
  softmax.values = {{1, 0, 0, 1}, {0, 0}};
  EXPECT_THAT(Generator::Make(CpuRuntime(), softmax).status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("/out/model.ckpt-1 does not predict the next token"),
                             HasSubstr("`taas-trainer predict`"))));
  TrainedModel words = Mixed();
  words.shape.vocabulary = 50'257;
  EXPECT_THAT(Generator::Make(CpuRuntime(), words).status(),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("has 50257 tokens")));
}

}  // namespace
}  // namespace taas
