#include "cli/local/last_time.h"

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using FakeGpus = localkube::LocalCluster::FakeGpus;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class LastTimeTest : public testing::Test {
 protected:
  LastTimeTest() : dir_(testing::TempDir() + "/lastXXXXXX") {
    EXPECT_NE(::mkdtemp(dir_.data()), nullptr);
  }
  PosixFileSystem disk_;
  std::string dir_;
};

// Symptom: a cluster that was started again without its flags had lost its GPUs, two of its nodes
// and its jobs' data, without a word.
TEST_F(LastTimeTest, WhatIsNotGivenAnewIsAsLastTimeAndSaid) {
  const ClusterShape first = {.volumes = {{"data", dir_}, {"team/out", "/none/there"}},
                              .fake_gpus = FakeGpus{.count = 2, .gibibytes = 80},
                              .nodes = 3};
  ASSERT_THAT(SaveForNextTime(disk_, dir_, first), IsOk());
  const ClusterShape last = LoadLastTime(disk_, dir_);
  localkube::LocalCluster::Options options;
  ApplyShape(TakeOver(last, {}), &options);
  EXPECT_EQ(options.nodes, 3);
  EXPECT_EQ(options.fake_gpus.count, 2);
  EXPECT_EQ(options.fake_gpus.gibibytes, 80);
  EXPECT_THAT(options.volume_bindings,
              ElementsAre(Pair("data", dir_), Pair("team/out", "/none/there")));
  const std::string text = TakenOverText(last, {});
  EXPECT_THAT(text, HasSubstr("--nodes 3 --fake-gpus 2x80 --volume data=" + dir_ +
                              " --volume team/out=/none/there\n"));
  EXPECT_THAT(text, HasSubstr("/none/there is not there: pods with the claim team/out fail"));
}

TEST_F(LastTimeTest, FlagsThatAreGivenWinAndAnEmptyPathForgets) {
  const ClusterShape last = {.volumes = {{"a", "/a"}, {"b", "/b"}, {"c", "/c"}},
                             .fake_gpus = FakeGpus{.count = 2, .gibibytes = 80},
                             .nodes = 3};
  const ClusterShape given = {.volumes = {{"a", "/new"}, {"b", ""}},
                              .fake_gpus = FakeGpus{.count = 0, .gibibytes = 0},
                              .nodes = 1};
  const ClusterShape now = TakeOver(last, given);
  EXPECT_EQ(now.nodes, 1);
  EXPECT_EQ(now.fake_gpus->count, 0);
  EXPECT_THAT(now.volumes, ElementsAre(Pair("a", "/new"), Pair("c", "/c")));
  EXPECT_THAT(TakenOverText(last, given),
              testing::StartsWith("As last time, since the command line does not say otherwise: "
                                  "--volume c=/c\n"));
  EXPECT_EQ(TakenOverText({}, given), "");
  ASSERT_THAT(SaveForNextTime(disk_, dir_, now), IsOk());
  const ClusterShape next = LoadLastTime(disk_, dir_);
  EXPECT_THAT(next.volumes, ElementsAre(Pair("a", "/new"), Pair("c", "/c")));
  EXPECT_FALSE(next.nodes.has_value() || next.fake_gpus.has_value()) << "as without flags";
}

TEST_F(LastTimeTest, AFileThatCannotBeReadKeepsNoClusterFromStarting) {
  EXPECT_FALSE(LoadLastTime(disk_, dir_).nodes.has_value()) << "there is none";
  for (const char* text : {"", "[", "[]", "{\"nodes\":\"x\"}", "{\"fakeGpus\":{}}",
                           "{\"volumes\":{\"a\":1}}"}) {
    ASSERT_THAT(disk_.WriteAtomically(dir_ + "/up.json", text), IsOk());
    const ClusterShape last = LoadLastTime(disk_, dir_);
    EXPECT_FALSE(last.nodes.has_value()) << text;
    EXPECT_TRUE(last.volumes.empty()) << text;
  }
  ASSERT_THAT(disk_.WriteAtomically(dir_ + "/up.json", "{\"nodes\":1000000}"), IsOk());
  EXPECT_EQ(LoadLastTime(disk_, dir_).nodes, kNodesMax);
}

}  // namespace
}  // namespace taas
