#include "operator/kube/paging/list_skimmer.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

std::string ListOf(const std::string& item) {
  return R"({"apiVersion":"v1","items":[)" + item +
         R"(],"kind":"PodList","metadata":{"continue":"a\/b","resourceVersion":"17"}})";
}

TEST(ListSkimmerTest, TellsTheNextPageAndTheNameWhateverTheObjectHolds) {
  const std::string list = ListOf(
      R"({"metadata":{"name":"big","namespace":"ns"},"spec":{"x":"\\\"}]{,:","y":[{}, 1]}})");
  for (const size_t length : {size_t{1}, size_t{7}, list.size()}) {
    ListSkimmer skimmer;
    for (size_t at = 0; at < list.size(); at += length) {
      ASSERT_THAT(skimmer.Add(std::string_view(list).substr(at, length)), IsOk());
    }
    const auto page = skimmer.Finish();
    ASSERT_THAT(page, IsOk());
    EXPECT_EQ(page->continue_token, "a/b");
    EXPECT_EQ(page->resource_version, "17");
    EXPECT_EQ(skimmer.object().ns, "ns");
    EXPECT_EQ(skimmer.object().name, "big");
    EXPECT_EQ(skimmer.bytes(), list.size());
  }
}

TEST(ListSkimmerTest, AnObjectThatIsCutInItsOwnMetadataIsStillNamed) {
  ListSkimmer skimmer;
  ASSERT_THAT(skimmer.Add(ListOf(R"({"metadata":{"name":"big","z":")" +
                                 std::string(1 << 20, 'x') + R"("}})")),
              IsOk());
  ASSERT_THAT(skimmer.Finish(), IsOk());
  EXPECT_EQ(skimmer.object().name, "big");
}

TEST(ListSkimmerTest, WhatIsCutOrNoListIsAnError) {
  const std::string list = ListOf("{}");
  for (size_t end = 0; end < list.size(); ++end) {
    ListSkimmer skimmer;
    (void)skimmer.Add(std::string_view(list).substr(0, end));
    EXPECT_THAT(skimmer.Finish(), StatusIs(absl::StatusCode::kInvalidArgument)) << end;
  }
  ListSkimmer html;
  EXPECT_THAT(html.Add("<html>"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no list")));
  ListSkimmer twice;
  EXPECT_FALSE(twice.Add("{}{}").ok());
}

}  // namespace
}  // namespace taas
