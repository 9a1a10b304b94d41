#include "operator/kube/watch_decoder.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

TEST(WatchDecoderTest, TypeAndObjectComeOutInEitherOrder) {
  for (const char* line : {R"({"type":"MODIFIED","object":{"a":1}})",
                           R"({"object":{"a":1},"type":"MODIFIED"})"}) {
    const absl::StatusOr<WatchEvent> event = DecodeWatchLine(line);
    ASSERT_THAT(event, IsOk());
    EXPECT_EQ(event->type, WatchType::kModified);
    EXPECT_EQ(event->object, R"({"a":1})");
  }
}

TEST(WatchDecoderTest, EachTypeIsKnownAndAnyOtherIsUnknown) {
  const std::pair<const char*, WatchType> types[] = {
      {"ADDED", WatchType::kAdded},       {"MODIFIED", WatchType::kModified},
      {"DELETED", WatchType::kDeleted},   {"BOOKMARK", WatchType::kBookmark},
      {"ERROR", WatchType::kError},       {"SYNC", WatchType::kUnknown}};
  for (const auto& [name, want] : types) {
    const absl::StatusOr<WatchEvent> event =
        DecodeWatchLine(std::string(R"({"type":")") + name + R"(","object":{}})");
    ASSERT_THAT(event, IsOk());
    EXPECT_EQ(event->type, want) << name;
  }
}

// C7.
TEST(WatchDecoderTest, ALineThatIsNoEventIsAnError) {
  for (const char* line : {"{", "[]", R"({"type":"ADDED"})", R"({"object":{}})", "null", "{}x",
                           R"({"type":"ADDED","object":{})"}) {
    EXPECT_THAT(DecodeWatchLine(line), StatusIs(absl::StatusCode::kInvalidArgument)) << line;
  }
}

}  // namespace
}  // namespace taas
