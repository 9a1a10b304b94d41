#include "localkube/node/program_text.h"

#include <chrono>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas::localkube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr size_t kAny = 1000;

std::string Expanded(const std::string& text) {
  const Variables variables = {{"A", "one"}, {"B", "$(A)"}, {"E", ""}};
  return ExpandVariables(text, variables, kAny).value_or("(error)");
}

TEST(ExpandVariablesTest, AsKubernetesDoes) {
  EXPECT_EQ(Expanded("$(A)-$(B)-$(E)|"), "one-$(A)-|") << "a value is not looked into again";
  EXPECT_EQ(Expanded("$(NONE) $$(A) $$$(A) $$$$"), "$(NONE) $(A) $one $$");
  EXPECT_EQ(Expanded("$A $ $) ( ) $(A"), "$A $ $) ( ) $(A");
  EXPECT_EQ(Expanded("$(A $$ b"), "$(A $ b") << "what is not closed is text";
  EXPECT_EQ(Expanded("$($(A)"), "$($(A)") << "the name is \"$(A\"";
  EXPECT_EQ(Expanded("$()"), "$()");
  EXPECT_EQ(Expanded("end$"), "end$");
  EXPECT_EQ(Expanded("end$("), "end$(");
}

TEST(ExpandVariablesTest, StopsAtItsLimitAndNamesTheFirstThatIsMissing) {
  const Variables variables = {{"A", std::string(600, 'x')}};
  EXPECT_THAT(ExpandVariables("$(A)", variables, 600), IsOk());
  EXPECT_TRUE(absl::IsOutOfRange(ExpandVariables("$(A)$(A)", variables, 1000).status()));
  std::string unknown;
  EXPECT_THAT(ExpandVariables("$(A) $$(N) $(M) $(N)", variables, kAny, &unknown), IsOk());
  EXPECT_EQ(unknown, "M");
}

// Symptom: a megabyte of "$(" in a pod kept the node busy for minutes.
TEST(ExpandVariablesTest, ATextOfManyOpeningsIsReadOnce) {
  std::string text;
  for (int i = 0; i < 500'000; ++i) text += "$(";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(ExpandVariables(text, {}, text.size()).value_or(""), text);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(ProgramTextTest, VariablesKeepTheirPlaceAndTakeTheLastValue) {
  ProgramText text("container c");
  ASSERT_THAT(text.SetEnv("A", "1"), IsOk());
  ASSERT_THAT(text.ExpandEnv("B", "$(A)2"), IsOk());
  ASSERT_THAT(text.ExpandEnv("A", "$(A)3"), IsOk());
  ASSERT_THAT(text.AddWord("$(A)$(B)"), IsOk());
  EXPECT_THAT(text.Environment(), ElementsAre("A=13", "B=12"));
  EXPECT_THAT(text.words(), ElementsAre("1312"));
}

// Symptom: forty variables, each twice the one before, took all memory of the machine: the local
// cluster was killed, and again whenever it was started, because the pod was still there.
TEST(ProgramTextTest, VariablesThatDoubleAreRefusedAtTheKernelsLimitByName) {
  ProgramText text("container c");
  ASSERT_THAT(text.SetEnv("A0", std::string(64, 'x')), IsOk());
  absl::Status status;
  int i = 0;
  while (status.ok() && ++i < 40) {
    const std::string before = "$(A" + std::to_string(i - 1) + ")";
    status = text.ExpandEnv("A" + std::to_string(i), before + before);
  }
  EXPECT_EQ(i, 11) << "64 << 11 is 128 KiB";
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("container c: the variable A11 has more than the 131071 bytes")));
}

// Its siblings: each of them is short enough, and there are many.
TEST(ProgramTextTest, AllTogetherAreBoundedToo) {
  const std::string value(100'000, 'x');
  absl::Status status;
  ProgramText variables("container c");
  for (int i = 0; i < 10'000 && status.ok(); ++i) {
    status = variables.SetEnv("A" + std::to_string(i), value);
  }
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("its command and environment together")));
  EXPECT_EQ(variables.Environment().size(), kProgramBytesMax / value.size());

  ProgramText words("container c");
  ASSERT_THAT(words.SetEnv("A", value), IsOk());
  int count = 0;
  while (words.AddWord("$(A)").ok() && count < 10'000) ++count;
  EXPECT_EQ(count + 1, static_cast<int>(kProgramBytesMax / value.size()));
  EXPECT_THAT(words.AddWord("$(A)$(A)"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("of its command has more")));

  ProgramText again("container c");
  for (int i = 0; i < 1000; ++i) ASSERT_THAT(again.SetEnv("A", value), IsOk()) << "replaced";
  EXPECT_FALSE(again.SetEnv(std::string(kProgramStringBytesMax, 'n'), "").ok());
}

}  // namespace
}  // namespace taas::localkube
