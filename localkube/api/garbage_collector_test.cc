#include "localkube/api/garbage_collector.h"

#include <chrono>

#include "gtest/gtest.h"
#include "localkube/api/api_fixture.h"
#include "operator/base/clock.h"
#include "operator/base/thread_executor.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

class GarbageCollectorTest : public ApiFixture {
 protected:
  ~GarbageCollectorTest() override {
    executor_.Stop();
    collector_.Stop();
  }

  // Waits on the store's own events until `path` answers with `code`.
  bool Eventually(const std::string& path, int code) {
    const Clock::Time deadline = real_.Now() + std::chrono::seconds(10);
    while (Call("GET", path).code != code) {
      if (real_.Now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }
  static std::string Path(const std::string& pod) { return std::string(kPods) + "/" + pod; }
  // A pod that belongs to `owner`, the reply to its creation.
  json Owned(const std::string& name, const Reply& owner) {
    json pod = Pod(name);
    pod["metadata"]["ownerReferences"] = {{{"apiVersion", "v1"},
                                           {"kind", "Pod"},
                                           {"name", owner.body["metadata"]["name"]},
                                           {"uid", owner.body["metadata"]["uid"]}}};
    return pod;
  }
  // One that its owner's deletion in the foreground waits for, and that somebody holds.
  json HeldAndBlocking(const std::string& name, const Reply& owner) {
    json pod = Owned(name, owner);
    pod["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = true;
    pod["metadata"]["finalizers"] = {"test/hold"};
    return pod;
  }
  void AwaitDeletion(const std::string& pod) {
    while (!Call("GET", Path(pod)).body["metadata"].contains("deletionTimestamp")) {
      std::this_thread::yield();
    }
  }

  RealClock real_;
  SeededRandom rest_random_{2};  // Of the collector's thread; the Api asks the fixture's.
  Rest rest_{*store_, clock_, rest_random_};
  ThreadExecutor executor_{real_, "gc"};
  GarbageCollector collector_{*store_, rest_, executor_, clock_};
};

TEST_F(GarbageCollectorTest, DependantsOfADeletedOwnerGo) {
  collector_.Start();
  const Reply owner = Call("POST", kPods, Pod("owner"));
  const Reply child = Call("POST", kPods, Owned("child", owner));
  Call("POST", kPods, Owned("grandchild", child));
  Call("POST", kPods, Pod("other"));
  Call("DELETE", Path("owner"));
  EXPECT_TRUE(Eventually(Path("child"), 404));
  EXPECT_TRUE(Eventually(Path("grandchild"), 404));
  EXPECT_EQ(Call("GET", Path("other")).code, 200);
}

TEST_F(GarbageCollectorTest, AnOwnerOfTheSameNameButAnotherUidIsNoOwner) {
  const Reply owner = Call("POST", kPods, Pod("owner"));
  Call("POST", kPods, Owned("child", owner));
  Call("DELETE", Path("owner"));
  Call("POST", kPods, Pod("owner"));
  collector_.Start();  // As after a restart: nobody saw the deletion.
  EXPECT_TRUE(Eventually(Path("child"), 404));
  EXPECT_EQ(Call("GET", Path("owner")).code, 200);
}

TEST_F(GarbageCollectorTest, InTheForegroundTheOwnerGoesLast) {
  const Reply owner = Call("POST", kPods, Pod("owner"));
  Call("POST", kPods, HeldAndBlocking("child", owner));
  collector_.Start();
  Call("DELETE", Path("owner"), {{"propagationPolicy", "Foreground"}});
  AwaitDeletion("child");
  EXPECT_EQ(Call("GET", Path("owner")).code, 200);
  Call("PATCH", Path("child"), {{"metadata", {{"finalizers", nullptr}}}});
  EXPECT_TRUE(Eventually(Path("owner"), 404));
}

// An owner deleted in the foreground stayed for ever when the last object that named it was given
// to another owner, or to none, instead of being deleted.
TEST_F(GarbageCollectorTest, AnOwnerThatIsNamedNoMoreGoes) {
  const Reply other = Call("POST", kPods, Pod("other"));
  collector_.Start();
  for (const char* change : {"none", "another", "no block"}) {
    SCOPED_TRACE(change);
    const Reply owner = Call("POST", kPods, Pod("owner"));
    Call("POST", kPods, HeldAndBlocking("child", owner));
    Call("DELETE", Path("owner"), {{"propagationPolicy", "Foreground"}});
    AwaitDeletion("child");
    json owners = nullptr;
    if (change == std::string("another")) {
      owners = Owned("x", other)["metadata"]["ownerReferences"];
    } else if (change == std::string("no block")) {
      owners = Owned("x", owner)["metadata"]["ownerReferences"];
    }
    Call("PATCH", Path("child"), {{"metadata", {{"ownerReferences", owners}}}});
    EXPECT_TRUE(Eventually(Path("owner"), 404));
    EXPECT_EQ(Call("GET", Path("child")).code, 200) << "it is still held";
    Call("PATCH", Path("child"), {{"metadata", {{"finalizers", nullptr}}}});
    EXPECT_TRUE(Eventually(Path("child"), 404));
  }
}

// A deletion in the foreground waited for each dependant, also for those that do not ask for it.
TEST_F(GarbageCollectorTest, OnlyWhoBlocksTheOwnersDeletionHoldsIt) {
  const Reply owner = Call("POST", kPods, Pod("owner"));
  json child = Owned("child", owner);
  child["metadata"]["finalizers"] = {"test/hold"};
  Call("POST", kPods, child);
  collector_.Start();
  Call("DELETE", Path("owner"), {{"propagationPolicy", "Foreground"}});
  EXPECT_TRUE(Eventually(Path("owner"), 404));
  AwaitDeletion("child");
}

// A deletion in the foreground took what belonged to another owner as well.
TEST_F(GarbageCollectorTest, WhatHasAnotherOwnerStaysWithThatOne) {
  const Reply owner = Call("POST", kPods, Pod("owner"));
  const Reply other = Call("POST", kPods, Pod("other"));
  json child = Owned("child", owner);
  child["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = true;
  child["metadata"]["ownerReferences"].push_back(
      Owned("x", other)["metadata"]["ownerReferences"][0]);
  Call("POST", kPods, child);
  collector_.Start();
  Call("DELETE", Path("owner"), {{"propagationPolicy", "Foreground"}});
  EXPECT_TRUE(Eventually(Path("owner"), 404));
  const Reply kept = Call("GET", Path("child"));
  ASSERT_EQ(kept.code, 200);
  EXPECT_FALSE(kept.body["metadata"].contains("deletionTimestamp"));
  ASSERT_EQ(kept.body["metadata"]["ownerReferences"].size(), 1u);
  EXPECT_EQ(kept.body["metadata"]["ownerReferences"][0]["name"], "other");
}

TEST_F(GarbageCollectorTest, OrphansStayWithoutTheirOwner) {
  const Reply owner = Call("POST", kPods, Pod("owner"));
  Call("POST", kPods, Owned("child", owner));
  collector_.Start();
  Call("DELETE", Path("owner"), {{"propagationPolicy", "Orphan"}});
  EXPECT_TRUE(Eventually(Path("owner"), 404));
  const Reply child = Call("GET", Path("child"));
  EXPECT_EQ(child.code, 200);
  EXPECT_FALSE(child.body["metadata"].contains("ownerReferences"));
}

TEST_F(GarbageCollectorTest, ANamespaceGoesWithItsContent) {
  collector_.Start();
  Call("POST", "/api/v1/namespaces", {{"metadata", {{"name", "n"}}}});
  EXPECT_TRUE(Eventually("/api/v1/namespaces/n/serviceaccounts/default", 200));
  Call("POST", "/api/v1/namespaces/n/pods", Pod("a"));
  Call("DELETE", "/api/v1/namespaces/n");
  EXPECT_TRUE(Eventually("/api/v1/namespaces/n", 404));
  EXPECT_EQ(Call("GET", "/api/v1/namespaces/n/pods/a").code, 404);
}

TEST_F(GarbageCollectorTest, NothingIsMadeInANamespaceThatIsBeingDeleted) {
  Call("POST", "/api/v1/namespaces", {{"metadata", {{"name", "n"}}}});
  Call("DELETE", "/api/v1/namespaces/n");
  EXPECT_EQ(Call("POST", "/api/v1/namespaces/n/pods", Pod("a")).code, 403);
}

TEST_F(GarbageCollectorTest, EventsOlderThanAnHourGo) {
  const std::string events = "/api/v1/namespaces/default/events";
  Call("POST", events, {{"metadata", {{"name", "old"}}}});
  clock_.Advance(std::chrono::minutes(61));
  Call("POST", events, {{"metadata", {{"name", "new"}}}});
  collector_.Start();
  EXPECT_TRUE(Eventually(events + "/old", 404));
  EXPECT_EQ(Call("GET", events + "/new").code, 200);
}

// Symptom: a local cluster in which many short jobs ran grew by all that was told of them.
TEST_F(GarbageCollectorTest, OfManyEventsTheOldestGo) {
  const std::string events = "/api/v1/namespaces/default/events";
  for (size_t i = 0; i < GarbageCollector::kEventsMax + 2; ++i) {
    Call("POST", events, {{"metadata", {{"name", "e" + std::to_string(i)}}}});
  }
  collector_.Start();
  EXPECT_TRUE(Eventually(events + "/e1", 404));
  EXPECT_EQ(Call("GET", events + "/e0").code, 404);
  EXPECT_EQ(Call("GET", events + "/e2").code, 200);
}

// Symptom: a burst of short jobs left 9,000 events in a minute, and their memory for good.
TEST_F(GarbageCollectorTest, OfABurstOfEventsTheOldestGoBeforeTheNextLook) {
  const std::string events = "/api/v1/namespaces/default/events";
  collector_.Start();
  const size_t last = GarbageCollector::kEventsMax + GarbageCollector::kEventsSlack;
  for (size_t i = 0; i <= last; ++i) {
    Call("POST", events, {{"metadata", {{"name", "e" + std::to_string(i)}}}});
  }
  const std::string oldest_kept = "/e" + std::to_string(GarbageCollector::kEventsSlack + 1);
  EXPECT_TRUE(Eventually(events + "/e" + std::to_string(GarbageCollector::kEventsSlack), 404));
  EXPECT_EQ(Call("GET", events + "/e0").code, 404);
  EXPECT_EQ(Call("GET", events + oldest_kept).code, 200);
}

TEST_F(GarbageCollectorTest, StoredTextThatCannotBeReadStopsNothing) {
  const auto store = [this](const std::string& name, const std::string& text) {
    return store_->Commit({.key = {"pods", "n", name}, .render = [text](uint64_t) {
                             return text;
                           }}).status();
  };
  Call("POST", "/api/v1/namespaces", {{"metadata", {{"name", "n"}}}});
  json pod = Pod("bad");
  pod["metadata"].update({{"namespace", "n"}, {"uid", "u"}});
  pod["spec"]["terminationGracePeriodSeconds"] = "30";
  ASSERT_TRUE(store("bad", pod.dump()).ok());
  ASSERT_TRUE(store("torn", "{").ok());
  ASSERT_TRUE(store_->Commit({.key = {"events", "n", "torn"}, .render = [](uint64_t) {
                return std::string("{");
              }}).ok());
  Call("POST", "/api/v1/namespaces/default/events", {{"metadata", {{"name", "old"}}}});
  clock_.Advance(std::chrono::minutes(61));
  Call("DELETE", "/api/v1/namespaces/n");
  collector_.Start();
  EXPECT_TRUE(Eventually("/api/v1/namespaces/n/pods/bad", 404));
  EXPECT_TRUE(Eventually("/api/v1/namespaces/default/events/old", 404));
  EXPECT_TRUE(Eventually("/api/v1/namespaces/n", 404));
}

}  // namespace
}  // namespace taas::localkube
