#include "dashboard/http/web_target.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas::dashboard {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(WebTargetTest, SegmentsAndQueryAreDecoded) {
  const auto target = ParseWebTarget("/api/jobs/a%20b/?x=1%2F2&y=a+b&z&&", "");
  ASSERT_THAT(target, IsOk());
  EXPECT_THAT(target->segments, ElementsAre("api", "jobs", "a b"));
  EXPECT_TRUE(target->ends_with_slash);
  EXPECT_THAT(target->query, ElementsAre(Pair("x", "1/2"), Pair("y", "a b"), Pair("z", "")));
}

TEST(WebTargetTest, TheBasePathIsTakenAwayWhereItStands) {
  for (const char* target : {"/taas/api/jobs", "/api/jobs"}) {
    const auto parsed = ParseWebTarget(target, "/taas");
    ASSERT_THAT(parsed, IsOk()) << target;
    EXPECT_THAT(parsed->segments, ElementsAre("api", "jobs")) << target;
  }
  EXPECT_THAT(ParseWebTarget("/taasx/api", "/taas")->segments, ElementsAre("taasx", "api"));
  EXPECT_TRUE(ParseWebTarget("/taas", "/taas")->segments.empty());
}

TEST(WebTargetTest, APathThatClimbsIsNone) {
  for (const char* target :
       {"/../x", "/a/../b", "/a/./b", "/a//b", "/%2e%2e/x", "/a%2fb", "/a%5Cb", "/a%00b", "/..%2f",
        "/%zz", "/%2", "/a?%g1=2", "a/b", "", "http://x/"}) {
    EXPECT_THAT(ParseWebTarget(target, ""), StatusIs(absl::StatusCode::kInvalidArgument))
        << target;
  }
}

TEST(WebTargetTest, ThePathOfAChartMayNameOneWithASlash) {
  const auto target = ParseWebTarget("/embed/ns/trainingjobs/m/global_step%2Fsec", "");
  ASSERT_THAT(target, IsOk());
  EXPECT_EQ(target->segments.back(), "global_step/sec");
  for (const char* path : {"/embed/..%2f..%2fetc", "/embed/a%00", "/embed%2fa", "/embed/../a"}) {
    EXPECT_THAT(ParseWebTarget(path, ""), StatusIs(absl::StatusCode::kInvalidArgument)) << path;
  }
}

TEST(WebTargetTest, PartsHaveALimit) {
  std::string path;
  for (size_t i = 0; i < kSegmentsMax; ++i) path += "/a";
  EXPECT_THAT(ParseWebTarget(path, ""), IsOk());
  EXPECT_THAT(ParseWebTarget(path + "/a", ""), StatusIs(absl::StatusCode::kInvalidArgument));
  std::string query = "/?";
  for (size_t i = 0; i <= kQueryPairsMax; ++i) query += "a&";
  EXPECT_THAT(ParseWebTarget(query, ""), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace taas::dashboard
