#include "operator/plan/saved_checkpoints.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/plan/trainer_report.h"

namespace taas {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<SavedCheckpoint> ListOf(const std::string& page) {
  const auto report = ParseTrainerReport(page);
  EXPECT_TRUE(report.has_value()) << page;
  return report.has_value() ? report->checkpoints : std::vector<SavedCheckpoint>();
}

TEST(SavedCheckpointsTest, TheHighestStepComesFirst) {
  Clock::WallTime at;
  ASSERT_TRUE(ParseRfc3339("2026-11-21T05:54:17Z", &at));
  const char* const page =
      R"({"checkpoints": [{"step": 10, "bytes": 5},
                          {"savedAt": "2026-11-21T05:54:17Z", "bytes": 7, "step": 20},
                          {"step": 10, "bytes": 99}], "maxSteps": 9})";
  EXPECT_THAT(ListOf(page), ElementsAre(SavedCheckpoint{.step = 20, .bytes = 7, .saved_at = at},
                                        SavedCheckpoint{.step = 10, .bytes = 5, .saved_at = {}}));
  EXPECT_EQ(ParseTrainerReport(page)->max_steps, 9) << "what follows is read as before";
}

TEST(SavedCheckpointsTest, WhatIsElsewhereOrNoCheckpointIsLeftOut) {
  for (const char* const page : {
           R"({"checkpoints": 5})", R"({"checkpoints": {"step": 1}})",
           R"({"checkpoints": [5, "a", [{"step": 1}], {"bytes": 3}, {"step": "1"}]})",
           R"({"checkpoints": [{"x": {"step": 1}}], "step": 3})",
           R"({"x": {"checkpoints": [{"step": 1}]}, "peers": [{"step": 1}]})"}) {
    EXPECT_THAT(ListOf(page), IsEmpty()) << page;
  }
}

TEST(SavedCheckpointsTest, HostileFiguresAreCutAndTimesThatAreNoneAreNotKnown) {
  const auto list = ListOf(
      R"({"checkpoints": [{"step": 1e300, "bytes": -5, "savedAt": "yesterday"},
                          {"step": -7, "bytes": 1e99, "savedAt": 5},
                          {"step": 3, "savedAt": ")" + std::string(100'000, '9') + R"("}]})");
  EXPECT_THAT(list,
              ElementsAre(SavedCheckpoint{.step = int64_t{1} << 53, .bytes = 0, .saved_at = {}},
                          SavedCheckpoint{.step = 3, .bytes = 0, .saved_at = {}},
                          SavedCheckpoint{.step = 0, .bytes = int64_t{1} << 53, .saved_at = {}}));
}

TEST(SavedCheckpointsTest, OfALongListTheNewestAreKept) {
  std::string page = R"({"checkpoints": [)";
  for (int i = 1; i <= 500; ++i) {
    page += (i > 1 ? "," : "") + std::string(R"({"step": )") + std::to_string(i) + "}";
  }
  const auto list = ListOf(page + "]}");
  ASSERT_THAT(list, SizeIs(CheckpointReader::kCheckpointsMax));
  EXPECT_EQ(list.front().step, 500);
  EXPECT_EQ(list.back().step, 491);
}

}  // namespace
}  // namespace taas
