#include "operator/kube/store.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/job.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Thing {
  ObjectMeta meta;
  std::string group;
};

Thing Make(const std::string& name, const std::string& version, const std::string& uid = "u",
           const std::string& group = "g") {
  return {.meta = {.ns = "ns", .name = name, .uid = uid, .resource_version = version},
          .group = group};
}

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    store_.set_on_change([this](const auto& before, const auto& after) {
      changes_.push_back((before ? before->meta.resource_version : "-") + ">" +
                         (after ? after->meta.resource_version : "-"));
    });
  }
  std::vector<std::string> Names(const std::string& group) {
    std::vector<std::string> out;
    for (const auto& thing : store_.Indexed(group)) out.push_back(thing->meta.name);
    return out;
  }

  Store<Thing> store_{[](const Thing& thing) { return thing.group; }};
  std::vector<std::string> changes_;
};

TEST_F(StoreTest, AListReplacesWhatWasThere) {
  store_.Replace({Make("a", "1"), Make("b", "2")}, "5", true);
  store_.Replace({Make("b", "2"), Make("c", "7")}, "9", true);
  EXPECT_EQ(store_.Find("ns", "a"), nullptr);
  EXPECT_EQ(store_.size(), 2u);
  EXPECT_THAT(changes_, ElementsAre("->1", "->2", "->7", "1>-"));
}

TEST_F(StoreTest, TheReplyOfAWriteCountsAtOnceAndItsEventIsNoSecondChange) {
  store_.Replace({}, "5", true);
  store_.Observe(Make("a", "6"));
  ASSERT_NE(store_.Find("ns", "a"), nullptr);
  store_.Apply(Make("a", "6"));
  EXPECT_THAT(changes_, ElementsAre("->6"));
}

TEST_F(StoreTest, ALateReplyDoesNotBringADeletedObjectBack) {
  store_.Replace({}, "5", true);
  store_.Apply(Make("a", "6"));
  store_.Remove("ns", "a", "8");
  store_.Observe(Make("a", "6"));
  EXPECT_EQ(store_.Find("ns", "a"), nullptr);
}

TEST_F(StoreTest, AnEventOlderThanOurWriteDoesNotUndoIt) {
  store_.Replace({Make("a", "4")}, "5", true);
  store_.Observe(Make("a", "9"));
  store_.Apply(Make("a", "7"));
  EXPECT_EQ(store_.Find("ns", "a")->meta.resource_version, "9");
}

TEST_F(StoreTest, TheDeletionOfAnEarlierObjectLeavesItsSuccessor) {
  store_.Replace({Make("a", "4", "old")}, "5", true);
  store_.Observe(Make("a", "9", "new"));
  store_.Remove("ns", "a", "8");
  ASSERT_NE(store_.Find("ns", "a"), nullptr);
  EXPECT_EQ(store_.Find("ns", "a")->meta.uid, "new");
  store_.ObserveGone("ns", "a", "old");
  EXPECT_NE(store_.Find("ns", "a"), nullptr);
  store_.ObserveGone("ns", "a", "new");
  EXPECT_EQ(store_.Find("ns", "a"), nullptr);
}

TEST_F(StoreTest, AListThatIsOlderThanOurWriteKeepsIt) {
  store_.Replace({}, "5", true);
  store_.Observe(Make("a", "9"));
  store_.Replace({}, "7", true);
  EXPECT_NE(store_.Find("ns", "a"), nullptr);
  store_.Replace({}, "10", true);
  EXPECT_EQ(store_.Find("ns", "a"), nullptr);
}

TEST_F(StoreTest, AfterARestoreOnlyTheListCounts) {
  store_.Replace({Make("a", "90"), Make("b", "80")}, "95", true);
  store_.Replace({Make("a", "40")}, "50", /*keep_later=*/false);
  EXPECT_EQ(store_.Find("ns", "a")->meta.resource_version, "40");
  EXPECT_EQ(store_.Find("ns", "b"), nullptr);
  store_.Observe(Make("a", "51"));
  EXPECT_EQ(store_.Find("ns", "a")->meta.resource_version, "51");
}

TEST_F(StoreTest, TheIndexFollowsTheObjects) {
  store_.Replace({Make("a", "1"), Make("b", "2")}, "5", true);
  EXPECT_THAT(Names("g"), ElementsAre("a", "b"));
  store_.Apply(Make("a", "6", "u", "other"));
  EXPECT_THAT(Names("g"), ElementsAre("b"));
  EXPECT_THAT(Names("other"), ElementsAre("a"));
  store_.Remove("ns", "a", "7");
  EXPECT_THAT(Names("other"), IsEmpty());
}

TEST_F(StoreTest, VersionsWithoutAnOrderAreTakenAsTheyCome) {
  store_.Replace({Make("a", "x1")}, "x1", true);
  store_.Apply(Make("a", "x0"));
  EXPECT_EQ(store_.Find("ns", "a")->meta.resource_version, "x0");
  store_.Remove("ns", "a", "x2");
  EXPECT_EQ(store_.Find("ns", "a"), nullptr);
}

}  // namespace
}  // namespace taas
