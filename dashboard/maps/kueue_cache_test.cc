#include "dashboard/maps/kueue_cache.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/base/random.h"
#include "operator/base/sim_executor.h"
#include "operator/kube/fake_transport.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kGroup[] = R"({"kind":"APIGroup","name":"kueue.x-k8s.io","versions":[
    {"groupVersion":"kueue.x-k8s.io/v1beta2","version":"v1beta2"}],
    "preferredVersion":{"groupVersion":"kueue.x-k8s.io/v1beta2","version":"v1beta2"}})";

std::string ListOf(const std::string& items) {
  return R"({"metadata":{"resourceVersion":"10"},"items":[)" + items + "]}";
}

class KueueCacheTest : public testing::Test {
 protected:
  void Make(KueueCache::Options options = {}) {
    cache_ = std::make_unique<KueueCache>(transport_, executor_, random_, std::move(options),
                                          [this] { ++changes_; });
    cache_->Start();
    Settle();
  }
  void Settle() { executor_.RunUntil(executor_.clock().Now() + 10ms); }
  void Answer(int code, const std::string& body) {
    transport_.Reply(HttpReply{.code = code, .body = body});
    Settle();
  }
  // Answers all lists with one object of a name each.
  std::vector<std::string> AnswerLists() {
    std::vector<std::string> paths;
    while (transport_.waiting() > 0) {
      const std::string path = transport_.request().path;
      paths.push_back(path.substr(0, path.find('?')));
      const bool clusterwide = path.find("clusterqueues") != std::string::npos;
      Answer(200, ListOf(R"({"metadata":{"name":"a","uid":"u","resourceVersion":"5")" +
                         std::string(clusterwide ? "" : R"(,"namespace":"ml")") + "}}"));
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  SimExecutor executor_{{.seed = 1, .in_order = true}};
  FakeTransport transport_{executor_};
  SeededRandom random_{1};
  int changes_ = 0;
  std::unique_ptr<KueueCache> cache_;
};

TEST_F(KueueCacheTest, WhereThereIsNoKueueThereAreNoObjectsAndItIsLookedForAgain) {
  Make();
  EXPECT_EQ(transport_.request().path, "/apis/kueue.x-k8s.io");
  Answer(404, "");
  EXPECT_EQ(cache_->Objects(), std::nullopt);
  EXPECT_EQ(transport_.waiting(), 0u);
  executor_.RunUntil(executor_.clock().Now() + KueueCache::kLookEvery);
  ASSERT_EQ(transport_.waiting(), 1u);
  Answer(200, kGroup);
  EXPECT_THAT(AnswerLists(), ElementsAre("/apis/kueue.x-k8s.io/v1beta2/clusterqueues",
                                         "/apis/kueue.x-k8s.io/v1beta2/localqueues",
                                         "/apis/kueue.x-k8s.io/v1beta2/workloads"));
  const auto objects = cache_->Objects();
  ASSERT_TRUE(objects.has_value());
  EXPECT_EQ(objects->cluster_queues.size(), 1u);
  EXPECT_EQ(objects->local_queues.size(), 1u);
  EXPECT_EQ(objects->workloads.size(), 1u);
  EXPECT_THAT(cache_->Namespaces(), ElementsAre("ml"));
  EXPECT_GE(changes_, 3);
}

TEST_F(KueueCacheTest, ObjectsAreNotShownBeforeAllHaveBeenListed) {
  Make();
  Answer(200, kGroup);
  Answer(200, ListOf(""));
  EXPECT_EQ(cache_->Objects(), std::nullopt);
}

TEST_F(KueueCacheTest, OfSomeNamespacesOnlyTheirQueuesAreReadAndNoClusterQueues) {
  Make({.namespaces = {"ml", "vision"}});
  Answer(200, kGroup);
  EXPECT_THAT(AnswerLists(),
              ElementsAre("/apis/kueue.x-k8s.io/v1beta2/namespaces/ml/localqueues",
                          "/apis/kueue.x-k8s.io/v1beta2/namespaces/ml/workloads",
                          "/apis/kueue.x-k8s.io/v1beta2/namespaces/vision/localqueues",
                          "/apis/kueue.x-k8s.io/v1beta2/namespaces/vision/workloads"));
  EXPECT_TRUE(cache_->Objects().has_value());
}

TEST_F(KueueCacheTest, WhenKueueIsUpgradedItsNewVersionIsReadAndWhenItIsRemovedNothingIsLeft) {
  Make();
  Answer(200, R"({"preferredVersion":{"groupVersion":"kueue.x-k8s.io/v1beta1"}})");
  AnswerLists();
  ASSERT_TRUE(cache_->Objects().has_value());
  executor_.RunUntil(executor_.clock().Now() + KueueCache::kLookEvery);
  Answer(200, kGroup);
  EXPECT_EQ(cache_->Objects(), std::nullopt);
  EXPECT_THAT(AnswerLists(), testing::Each(HasSubstr("/v1beta2/")));
  ASSERT_TRUE(cache_->Objects().has_value());
  executor_.RunUntil(executor_.clock().Now() + KueueCache::kLookEvery);
  Answer(404, "");
  EXPECT_EQ(cache_->Objects(), std::nullopt);
  EXPECT_TRUE(cache_->Namespaces().empty());
}

TEST_F(KueueCacheTest, AnAnswerThatSaysNothingLeavesWhatWasKnown) {
  Make();
  Answer(200, kGroup);
  AnswerLists();
  const struct {
    int code;
    const char* body;
  } answers[] = {{500, "oops"}, {403, "{}"}, {200, "no json"}, {200, "{}"},
                 {200, R"({"preferredVersion": 5})"},
                 {200, R"({"preferredVersion": {"groupVersion": "evil/../../v1"}})"}};
  for (const auto& answer : answers) {
    executor_.RunUntil(executor_.clock().Now() + KueueCache::kLookEvery);
    while (transport_.request().path != "/apis/kueue.x-k8s.io") Answer(500, "");
    Answer(answer.code, answer.body);
    EXPECT_TRUE(cache_->Objects().has_value()) << answer.code << " " << answer.body;
  }
}

TEST_F(KueueCacheTest, AVersionCannotLeaveItsPlaceInThePath) {
  Make();
  Answer(200, R"({"preferredVersion": {"groupVersion": "kueue.x-k8s.io/../../api"}})");
  ASSERT_GT(transport_.waiting(), 0u);
  EXPECT_THAT(transport_.request().path, StartsWith("/apis/kueue.x-k8s.io/..%2F..%2Fapi/"));
}

TEST_F(KueueCacheTest, ItMayGoWhileAnAnswerIsUnderWay) {
  Make();
  transport_.Reply(HttpReply{.code = 200, .body = kGroup});
  cache_.reset();
  Settle();
  EXPECT_EQ(transport_.waiting(), 0u);
  EXPECT_EQ(changes_, 0);
}

}  // namespace
}  // namespace taas::dashboard
