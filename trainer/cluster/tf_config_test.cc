#include "trainer/cluster/tf_config.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

constexpr char kGood[] = R"({"cluster":{"chief":["c:2222"],"ps":["p0:2222","p1:2222"],
  "worker":["w0:2222","w1:2222"]},"task":{"type":"worker","index":1},"environment":"cloud"})";

TEST(TfConfigTest, ClusterAndTaskAreRead) {
  const auto cluster = ParseTfConfig(kGood);
  ASSERT_THAT(cluster, IsOk());
  EXPECT_EQ(cluster->self, (ReplicaId{"worker", 1}));
  EXPECT_EQ(cluster->chief(), (ReplicaId{"chief", 0}));
  EXPECT_EQ(cluster->rank(cluster->self), 2);
  EXPECT_EQ(cluster->rank({"ps", 0}), -1);
  EXPECT_EQ(cluster->rank({"worker", 40}), 41);
  EXPECT_EQ(cluster->size(), 5u);
  EXPECT_EQ(cluster->address({"ps", 1}), "p1:2222");
  EXPECT_FALSE(cluster->on_loopback());
}

TEST(TfConfigTest, WithoutAChiefWorkerZeroIsTheChief) {
  const auto cluster = ParseTfConfig(
      R"({"cluster":{"worker":["127.0.0.1:1","127.0.0.1:2"]},"task":{"type":"worker","index":0}})");
  ASSERT_THAT(cluster, IsOk());
  EXPECT_EQ(cluster->chief(), cluster->self);
  EXPECT_EQ(cluster->rank(cluster->self), 0);
  EXPECT_TRUE(cluster->on_loopback());
}

TEST(TfConfigTest, MasterIsTheOldNameOfTheChief) {
  const auto cluster = ParseTfConfig(
      R"({"cluster":{"master":["m:1"],"ps":["p:1"]},"task":{"type":"master","index":0}})");
  ASSERT_THAT(cluster, IsOk());
  EXPECT_EQ(cluster->self, (ReplicaId{"chief", 0}));
}

struct Case {
  const char* name;
  const char* json;
  const char* message;
};

class BadTfConfigTest : public testing::TestWithParam<Case> {};

TEST_P(BadTfConfigTest, IsRefusedWithASentence) {
  EXPECT_THAT(ParseTfConfig(GetParam().json),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadTfConfigTest,
    testing::Values(
        Case{"NotJson", "{cluster", "not JSON"}, Case{"Array", "[]", "not an object"},
        Case{"NoCluster", R"({"task":{"type":"ps","index":0}})", "\"cluster\""},
        Case{"NoTask", R"({"cluster":{"worker":["a:1"]}})", "\"task\""},
        Case{"NoType", R"({"cluster":{"worker":["a:1"]},"task":{"index":0}})", "task.type"},
        Case{"NoIndex", R"({"cluster":{"worker":["a:1"]},"task":{"type":"worker"}})", "task.index"},
        Case{"IndexText", R"({"cluster":{"worker":["a:1"]},"task":{"type":"worker","index":"0"}})",
             "task.index"},
        Case{"IndexOutOfRange",
             R"({"cluster":{"worker":["a:1"]},"task":{"type":"worker","index":1}})",
             "index 1 is out of range"},
        Case{"IndexNegative",
             R"({"cluster":{"worker":["a:1"]},"task":{"type":"worker","index":-1}})",
             "out of range"},
        Case{"DuplicateAddress",
             R"({"cluster":{"ps":["a:1"],"worker":["a:1"]},"task":{"type":"worker","index":0}})",
             "duplicate address a:1 of ps-0 and worker-0"},
        Case{"UnknownRole",
             R"({"cluster":{"worker":["a:1"],"boss":["b:1"]},"task":{"type":"worker","index":0}})",
             "unknown role \"boss\""},
        Case{"UnknownTask", R"({"cluster":{"worker":["a:1"]},"task":{"type":"boss","index":0}})",
             "unknown task.type"},
        Case{"TwoChiefs",
             R"({"cluster":{"chief":["a:1","b:1"]},"task":{"type":"chief","index":0}})",
             "2 chiefs"},
        Case{"OnlyPs", R"({"cluster":{"ps":["a:1"]},"task":{"type":"ps","index":0}})",
             "neither chief nor worker"},
        Case{"NoPort", R"({"cluster":{"worker":["a"]},"task":{"type":"worker","index":0}})",
             "address of worker-0"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ClusterFromHostsTest, ClassicFlagsMakeTheSameCluster) {
  const auto cluster = ClusterFromHosts("p:1,q:1", "w:1,v:1", "ps", 1);
  ASSERT_THAT(cluster, IsOk());
  EXPECT_EQ(cluster->self, (ReplicaId{"ps", 1}));
  EXPECT_EQ(cluster->chief(), (ReplicaId{"worker", 0}));
  EXPECT_THAT(ClusterFromHosts("p:1", "w:1", "worker", 1),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("out of range")));
}

}  // namespace
}  // namespace taas
