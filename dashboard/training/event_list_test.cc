#include "dashboard/training/event_list.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas::dashboard {
namespace {

TEST(EventListTest, EntriesAreReadAndWhatCouldLeadElsewhereIsLeftOut) {
  const auto files = ReadEventList(R"({"files": [
      {"run": ".", "file": "events.out.tfevents.1.host", "bytes": 12, "more": 1},
      {"run": "eval", "file": "events.out.tfevents.2.host", "bytes": 0},
      {"run": "..", "file": "events.out.tfevents.1", "bytes": 1},
      {"run": "a/b", "file": "events.out.tfevents.1", "bytes": 1},
      {"run": "", "file": "events.out.tfevents.1", "bytes": 1},
      {"run": ".", "file": "../events.out.tfevents.1", "bytes": 1},
      {"run": ".", "file": "/events.out.tfevents.1", "bytes": 1},
      {"run": ".", "file": "events.out.tfevents.1&from=0", "bytes": 1},
      {"run": ".", "file": "passwd", "bytes": 1},
      {"run": ".", "file": "events.out.tfevents.1", "bytes": -1},
      {"run": ".", "file": "events.out.tfevents.1"},
      {"run": 1, "file": "events.out.tfevents.1", "bytes": 1},
      7]})");
  ASSERT_THAT(files, IsOk());
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[0].path(), "./events.out.tfevents.1.host");
  EXPECT_EQ((*files)[0].bytes, 12u);
  EXPECT_EQ((*files)[1].path(), "eval/events.out.tfevents.2.host");
}

TEST(EventListTest, NoMoreFilesThanAreKept) {
  std::string body = R"({"files": [)";
  for (size_t i = 0; i <= kEventFilesMax; ++i) {
    body += (i == 0 ? "" : ",") + std::string(R"({"run":".","file":"tfevents.)") +
            std::to_string(i) + R"(","bytes":1})";
  }
  EXPECT_EQ(ReadEventList(body + "]}")->size(), kEventFilesMax);
}

TEST(EventListTest, WhatIsNoListIsAnError) {
  for (const char* body : {"", "[]", "{}", R"({"files": {}})", R"({"files": )"}) {
    EXPECT_THAT(ReadEventList(body), StatusIs(absl::StatusCode::kInvalidArgument)) << body;
  }
}

}  // namespace
}  // namespace taas::dashboard
