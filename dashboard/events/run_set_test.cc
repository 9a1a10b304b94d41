#include "dashboard/events/run_set.h"

#include "dashboard/events/fake_events.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fake_directory.h"

namespace taas::dashboard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string LossAt(int64_t step, double wall = 1) {
  return FramedRecord(SummaryEvent(wall, step, {SimpleValue("loss", 1)}));
}

std::vector<int64_t> Steps(const RunSet& runs, std::string_view run) {
  std::vector<int64_t> steps;
  const Series* const series = runs.Find(run)->Find("loss");
  if (series == nullptr) return steps;
  for (const Scalar& point : std::get<Series::Scalars>(series->points).points()) {
    steps.push_back(point.step);
  }
  return steps;
}

std::vector<std::string> ProblemsOf(const RunSet& runs) {
  std::vector<std::string> out;
  for (const RunProblem& problem : runs.Problems()) {
    out.push_back(problem.run + "|" + problem.problem.file + "|" + problem.problem.what);
  }
  return out;
}

TEST(RunSetTest, DirectoriesWithEventFilesAreRunsInOrderOfTheirStart) {
  const FakeDirectory fake;
  fake.Write("events.out.tfevents.1", LossAt(1, 30));
  fake.Write("a/b/my.tfevents.x", LossAt(1, 20));
  fake.Write("a/c/events.out.tfevents.1", LossAt(1, 20));
  fake.Write("a/other.txt", "text");
  fake.Write("z/events.out.tfevents.1.profile-empty", LossAt(7));
  fake.Write("y/events.out.tfevents.1", "");
  RunSet runs(fake.path());
  EXPECT_TRUE(runs.Refresh());
  EXPECT_THAT(runs.NamesByStart(), ElementsAre("a/b", "a/c", ".", "y", "z"));
  EXPECT_THAT(Steps(runs, "a/b"), ElementsAre(1));
  EXPECT_THAT(Steps(runs, "z"), IsEmpty());
  EXPECT_EQ(runs.Find("a"), nullptr);
  EXPECT_THAT(ProblemsOf(runs), IsEmpty());
}

TEST(RunSetTest, ATopThatIsNotThereYetHasNoRuns) {
  const FakeDirectory fake;
  RunSet runs(fake.path() + "/later");
  EXPECT_TRUE(runs.Refresh());
  EXPECT_THAT(runs.NamesByStart(), IsEmpty());
  EXPECT_THAT(ProblemsOf(runs), IsEmpty());
  fake.Write("later/events.out.tfevents.1", LossAt(1));
  runs.Refresh();
  EXPECT_THAT(runs.NamesByStart(), ElementsAre("."));
}

TEST(RunSetTest, FilesOfARunAreReadInOrderOfNameAndAllAreFollowed) {
  const FakeDirectory fake;
  fake.Write("events.out.tfevents.2", FramedRecord(FileVersionEvent(1)) +
                                          FramedRecord(StartEvent(1, 3)) + LossAt(3) + LossAt(4));
  fake.Write("events.out.tfevents.1", FramedRecord(FileVersionEvent(1)) +
                                          FramedRecord(StartEvent(1, 0)) + LossAt(1) + LossAt(3) +
                                          LossAt(9));
  RunSet runs(fake.path());
  runs.Refresh();
  EXPECT_THAT(Steps(runs, "."), ElementsAre(1, 3, 4));
  fake.Append("events.out.tfevents.1", LossAt(10));
  fake.Write("events.out.tfevents.3", LossAt(11));
  runs.Refresh();
  EXPECT_THAT(Steps(runs, "."), ElementsAre(1, 3, 4, 10, 11));
}

TEST(RunSetTest, WhenAFileIsReplacedOrGoneItsRunIsReadAnew) {
  const FakeDirectory fake;
  fake.Write("events.out.tfevents.1", LossAt(1) + LossAt(2));
  fake.Write("events.out.tfevents.2", LossAt(30));
  RunSet runs(fake.path());
  runs.Refresh();
  EXPECT_THAT(Steps(runs, "."), ElementsAre(1, 2, 30));
  fake.Replace("events.out.tfevents.1", LossAt(5));
  runs.Refresh();
  EXPECT_THAT(Steps(runs, "."), ElementsAre(5, 30));
  fake.Write("events.out.tfevents.1", LossAt(6) + LossAt(7));  // In place, and longer.
  runs.Refresh();
  EXPECT_THAT(Steps(runs, "."), ElementsAre(6, 7, 30));
  fake.Write("events.out.tfevents.1", "");
  runs.Refresh();
  EXPECT_THAT(Steps(runs, "."), ElementsAre(30));
  fake.Append("events.out.tfevents.1", LossAt(9));
  fake.Append("events.out.tfevents.2", LossAt(80));
  runs.Refresh();
  EXPECT_THAT(Steps(runs, "."), ElementsAre(9, 80));
  fake.Remove("events.out.tfevents.1");
  runs.Refresh();
  EXPECT_THAT(Steps(runs, "."), ElementsAre(30, 80));
}

TEST(RunSetTest, ARunWhoseDirectoryIsGoneIsDropped) {
  const FakeDirectory fake;
  fake.Write("a/events.out.tfevents.1", LossAt(1));
  fake.Write("b/events.out.tfevents.1", LossAt(1));
  RunSet runs(fake.path());
  runs.Refresh();
  fake.Remove("a");
  runs.Refresh();
  EXPECT_THAT(runs.NamesByStart(), ElementsAre("b"));
}

TEST(RunSetTest, ARefreshMayBeCutIntoPieces) {
  const FakeDirectory fake;
  std::string bytes;
  for (int64_t step = 0; step < 100; ++step) bytes += LossAt(step);
  fake.Write("a/events.out.tfevents.1", bytes);
  fake.Write("b/events.out.tfevents.1", bytes);
  RunSet runs(fake.path());
  int pieces = 1;
  while (!runs.Refresh(bytes.size() / 4)) ++pieces;
  EXPECT_GE(pieces, 8);
  EXPECT_LE(pieces, 10);
  EXPECT_THAT(Steps(runs, "a"), SizeIs(100));
  EXPECT_THAT(Steps(runs, "b"), SizeIs(100));
}

TEST(RunSetTest, LinksAreToldAndNotFollowedUnlessAskedFor) {
  const FakeDirectory outside, fake;
  outside.Write("events.out.tfevents.1", LossAt(1));
  fake.Link("run", outside.path());
  fake.Link("events.out.tfevents.1", outside.path() + "/events.out.tfevents.1");
  fake.Write("sub/file", "");
  fake.Link("sub/up", "..");
  RunSet refusing(fake.path());
  refusing.Refresh();
  EXPECT_THAT(refusing.NamesByStart(), ElementsAre("."));
  EXPECT_THAT(ProblemsOf(refusing),
              ElementsAre(AllOf(HasSubstr("run||"), HasSubstr("not followed")),
                          AllOf(HasSubstr("sub/up||"), HasSubstr("not followed")),
                          AllOf(HasSubstr(".|events.out.tfevents.1|"), HasSubstr("symbolic"))));
  RunSet following(fake.path(), {.follow_links = true});
  following.Refresh();
  EXPECT_THAT(following.NamesByStart(), ElementsAre(".", "run"));
  EXPECT_THAT(Steps(following, "run"), ElementsAre(1));
  EXPECT_THAT(ProblemsOf(following), IsEmpty());
}

TEST(RunSetTest, ADeepTreeIsSearchedToAMeasure) {
  const FakeDirectory fake;
  std::string deep;
  for (int i = 0; i < kDepthMax + 5; ++i) deep += "d/";
  fake.Write(deep + "events.out.tfevents.1", LossAt(1));
  fake.Write("d/d/events.out.tfevents.1", LossAt(1));
  RunSet runs(fake.path());
  runs.Refresh();
  EXPECT_THAT(runs.NamesByStart(), ElementsAre("d/d"));
  EXPECT_THAT(ProblemsOf(runs), ElementsAre(HasSubstr("not searched deeper than 32")));
}

TEST(RunSetTest, MemoryIsSharedByAllRuns) {
  const FakeDirectory fake;
  std::string bytes;
  for (int64_t step = 0; step < 100; ++step) bytes += LossAt(step);
  fake.Write("a/events.out.tfevents.1", bytes);
  fake.Write("b/events.out.tfevents.1", bytes);
  RunSet runs(fake.path(), {.memory_max = 150 * sizeof(Scalar)});
  runs.Refresh();
  EXPECT_THAT(Steps(runs, "a"), SizeIs(100));
  EXPECT_THAT(Steps(runs, "b"), SizeIs(50));
  EXPECT_THAT(ProblemsOf(runs)[0], HasSubstr("b|events.out.tfevents.1|values are left out"));
  fake.Remove("a");
  runs.Refresh();
  fake.Replace("b/events.out.tfevents.1", bytes);
  runs.Refresh();
  EXPECT_THAT(Steps(runs, "b"), SizeIs(100));
}

TEST(RunSetTest, WhatIsWrongWithAFileIsToldWithItsRunAndPlace) {
  const FakeDirectory fake;
  fake.Write("a/events.out.tfevents.1", LossAt(1) + std::string(100, '\0'));
  RunSet runs(fake.path());
  runs.Refresh();
  ASSERT_THAT(runs.Problems(), SizeIs(1));
  EXPECT_EQ(runs.Problems()[0].run, "a");
  EXPECT_EQ(runs.Problems()[0].problem.byte, LossAt(1).size());
}

}  // namespace
}  // namespace taas::dashboard
