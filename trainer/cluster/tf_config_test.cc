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
        Case{"NotJson", "{cluster", "TF_CONFIG: not JSON: line 1, column 2: syntax error"},
        Case{"CommaTooMany", "{\"task\": {\"type\": \"chief\",\n}}", "line 2, column 1: "},
        Case{"Array", "[]", "not an object"},
        Case{"NoCluster", R"({"task":{"type":"ps","index":0}})", "there is no \"cluster\""},
        Case{"NoClusterButASecondWorker", R"({"task":{"type":"worker","index":1}})",
             "can only be worker 0"},
        Case{"TaskLocal", R"({"cluster":{"worker":["a:1"]},"task":{"type":"local","index":0}})",
             "must not be \"local\""},
        Case{"ChiefAndMaster",
             R"({"cluster":{"chief":["a:1"],"master":["b:1"]},"task":{"type":"chief","index":0}})",
             "both a chief and a master"},
        Case{"EvaluatorNegative",
             R"({"cluster":{"chief":["a:1"]},"task":{"type":"evaluator","index":-1}})",
             "must not be negative"},
        Case{"SparseKeyIsNoIndex",
             R"({"sparseCluster":{"worker":{"one":"a:1"}},"task":{"type":"worker","index":0}})",
             "\"one\", which is no task index"},
        Case{"SparseWithoutItself",
             R"({"sparseCluster":{"worker":{"2":"a:1"}},"task":{"type":"worker","index":1}})",
             "index 1 is out of range"},
        Case{"NoTask", R"({"cluster":{"worker":["a:1"]}})", "\"task\""},
        Case{"NoType", R"({"cluster":{"worker":["a:1"]},"task":{"index":0}})", "task.type"},
        Case{"IndexWord",
             R"({"cluster":{"worker":["a:1"]},"task":{"type":"worker","index":"1st"}})",
             "task.index must be a whole number, is \"1st\""},
        Case{"IndexHalf", R"({"cluster":{"worker":["a:1"]},"task":{"type":"worker","index":0.5}})",
             "task.index must be a whole number, is 0.5"},
        Case{"IndexBeyondAll", R"({"cluster":{"worker":["a:1"]},
                                   "task":{"type":"worker","index":18446744073709551615}})",
             "is out of range"},
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
             "unknown task.type \"boss\"; supported are chief (or master, its old name), worker"},
        Case{"TwoChiefs",
             R"({"cluster":{"chief":["a:1","b:1"]},"task":{"type":"chief","index":0}})",
             "2 chiefs"},
        Case{"OnlyPs", R"({"cluster":{"ps":["a:1"]},"task":{"type":"ps","index":0}})",
             "neither chief nor worker"},
        Case{"NoPort", R"({"cluster":{"worker":["a"]},"task":{"type":"worker","index":0}})",
             "address of worker-0"}),
    [](const auto& info) { return std::string(info.param.name); });

// Symptom: TF_CONFIG that TensorFlow takes was refused: an index as a text, or none.
TEST(TfConfigTest, AnIndexIsTakenAsTensorFlowTakesIt) {
  const auto text = ParseTfConfig(
      R"({"cluster":{"worker":["a:1","b:1"]},"task":{"type":"worker","index":"1"}})");
  ASSERT_THAT(text, IsOk());
  EXPECT_EQ(text->self, (ReplicaId{"worker", 1}));
  const auto none =
      ParseTfConfig(R"({"cluster":{"worker":["a:1","b:1"]},"task":{"type":"worker"}})");
  ASSERT_THAT(none, IsOk());
  EXPECT_EQ(none->self, (ReplicaId{"worker", 0}));
  EXPECT_THAT(ParseTfConfig(R"({"task":{"type":"chief"}})"), IsOk());
}

TEST(TfConfigTest, EvaluatorNeedsNoEntryInTheCluster) {
  const auto outside = ParseTfConfig(
      R"({"cluster":{"chief":["c:1"],"ps":["p:1"]},"task":{"type":"evaluator","index":0}})");
  ASSERT_THAT(outside, IsOk());
  EXPECT_EQ(outside->self, (ReplicaId{"evaluator", 0}));
  EXPECT_EQ(outside->self_address(), "");
  EXPECT_EQ(outside->rank(outside->self), -1);
  EXPECT_FALSE(outside->alone());
  const auto only = ParseTfConfig(
      R"({"cluster":{"evaluator":["127.0.0.1:7"]},"task":{"type":"evaluator","index":0}})");
  ASSERT_THAT(only, IsOk());
  EXPECT_EQ(only->self_address(), "127.0.0.1:7");
  EXPECT_TRUE(only->on_loopback());
  EXPECT_THAT(ParseTfConfig(R"({"task":{"type":"evaluator","index":0}})"), IsOk());
}

// An evaluator that is listed would be waited for by the others.
TEST(TfConfigTest, EvaluatorsAreNotPartOfWhatTheOthersWaitFor) {
  const auto cluster = ParseTfConfig(R"({"cluster":{"chief":["c:1"],"ps":["p:1"],
      "evaluator":["e:1"]},"task":{"type":"chief","index":0}})");
  ASSERT_THAT(cluster, IsOk());
  EXPECT_EQ(cluster->size(), 2u);
  EXPECT_EQ(cluster->count("evaluator"), 0);
}

TEST(TfConfigTest, OneNodeIsAloneAndSoIsNoCluster) {
  EXPECT_TRUE(ParseTfConfig(R"({"cluster":{"worker":["w:1"]},
      "task":{"type":"worker","index":0}})")->alone());
  EXPECT_TRUE(ParseTfConfig(R"({"cluster":{"master":["w:1"]},
      "task":{"type":"master","index":0}})")->alone());
  EXPECT_TRUE(ParseTfConfig("{}")->alone());
  EXPECT_TRUE(ParseTfConfig(R"({"cluster":{},"environment":"cloud"})")->alone());
  EXPECT_FALSE(ParseTfConfig(kGood)->alone());
  EXPECT_FALSE(ParseTfConfig(R"({"cluster":{"worker":["w:1"],"ps":["p:1"]},
      "task":{"type":"worker","index":0}})")->alone());
}

constexpr char kSparseWorker[] = R"({"sparseCluster":{"worker":{"3":"mnist-worker-3.ns.svc:2222"},
    "ps":["mnist-ps-0.ns.svc:2222"]},"task":{"type":"worker","index":3}})";

TEST(TfConfigTest, SparseWorkerFindsItsChiefByTheOperatorsNames) {
  auto cluster = ParseTfConfig(kSparseWorker);
  ASSERT_THAT(cluster, IsOk());
  EXPECT_EQ(cluster->self_address(), "mnist-worker-3.ns.svc:2222");
  ASSERT_THAT(CompleteSparse({}, &*cluster), IsOk());
  EXPECT_EQ(cluster->address(cluster->chief()), "mnist-worker-0.ns.svc:2222");
  EXPECT_EQ(cluster->rank(cluster->self), 3);
}

TEST(TfConfigTest, SparseParameterServerFindsItsChief) {
  auto cluster = ParseTfConfig(R"({"sparseCluster":{"worker":{},"ps":["mnist-ps-0.ns.svc:2222"]},
      "task":{"type":"ps","index":0}})");
  ASSERT_THAT(cluster, IsOk());
  ASSERT_THAT(CompleteSparse({}, &*cluster), IsOk());
  EXPECT_EQ(cluster->address(cluster->chief()), "mnist-worker-0.ns.svc:2222");
}

// A job with dynamic workers did not start: its parameter servers saw neither chief nor worker.
TEST(TfConfigTest, SparseFormUnderThePlainKeyIsReadAsWell) {
  auto cluster = ParseTfConfig(R"({"cluster":{"worker":{},"ps":{"1":"mnist-ps-1.ns.svc:2222"}},
      "task":{"type":"ps","index":1}})");
  ASSERT_THAT(cluster, IsOk());
  ASSERT_THAT(CompleteSparse({}, &*cluster), IsOk());
  EXPECT_EQ(cluster->address(cluster->chief()), "mnist-worker-0.ns.svc:2222");
}

TEST(TfConfigTest, ClassicListNamesTheChiefOfASparseClusterOfPlainAddresses) {
  auto cluster = ParseTfConfig(R"({"sparseCluster":{"worker":{"1":"127.0.0.1:11"},
      "ps":["127.0.0.1:5"]},"task":{"type":"worker","index":1}})");
  ASSERT_THAT(cluster, IsOk());
  ClusterSpec without = *cluster;
  EXPECT_THAT(CompleteSparse({}, &without),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("TAAS_WORKER_HOSTS")));
  ASSERT_THAT(CompleteSparse({.worker_hosts = "127.0.0.1:10,127.0.0.1:11"}, &*cluster), IsOk());
  EXPECT_EQ(cluster->address(cluster->chief()), "127.0.0.1:10");
}

// Symptom: worker 0 of a job with dynamic workers led the training beside the chief.
TEST(TfConfigTest, ListedChiefLeadsASparseClusterAlsoForWorkerZero) {
  auto cluster = ParseTfConfig(R"({"cluster":{"worker":{"0":"127.0.0.1:10"},
      "ps":["127.0.0.1:5"]},"task":{"type":"worker","index":0}})");
  ASSERT_THAT(cluster, IsOk());
  const ClassicHosts listed{.chief_hosts = "127.0.0.1:9", .worker_hosts = "127.0.0.1:10"};
  ASSERT_THAT(CompleteSparse(listed, &*cluster), IsOk());
  EXPECT_EQ(cluster->chief(), (ReplicaId{"chief", 0}));
  EXPECT_EQ(cluster->address(cluster->chief()), "127.0.0.1:9");
  EXPECT_EQ(cluster->rank(cluster->self), 1);
  EXPECT_FALSE(cluster->alone());
}

TEST(TfConfigTest, SparseClusterWithTwoListedChiefsIsRefused) {
  auto cluster = ParseTfConfig(kSparseWorker);
  ASSERT_THAT(cluster, IsOk());
  EXPECT_THAT(CompleteSparse({.chief_hosts = "a:1,b:1"}, &*cluster),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2 chiefs")));
}

// Nothing of the classic lists changes what TF_CONFIG says in full.
TEST(TfConfigTest, ListedChiefIsNoneOfAFullCluster) {
  auto cluster = ParseTfConfig(R"({"cluster":{"worker":["w:1"],"ps":["p:1"]},
      "task":{"type":"worker","index":0}})");
  ASSERT_THAT(cluster, IsOk());
  ASSERT_THAT(CompleteSparse({.chief_hosts = "c:1"}, &*cluster), IsOk());
  EXPECT_EQ(cluster->chief(), (ReplicaId{"worker", 0}));
}

TEST(ClusterFromHostsTest, ClassicFlagsMakeTheSameCluster) {
  const auto cluster = ClusterFromHosts(
      {.ps_hosts = "p:1,q:1", .worker_hosts = "w:1,v:1", .job_name = "ps", .task_index = 1});
  ASSERT_THAT(cluster, IsOk());
  EXPECT_EQ(cluster->self, (ReplicaId{"ps", 1}));
  EXPECT_EQ(cluster->chief(), (ReplicaId{"worker", 0}));
  const auto chief = ClusterFromHosts({.chief_hosts = "c:1", .ps_hosts = "p:1",
                                       .worker_hosts = "w:1", .job_name = "master"});
  ASSERT_THAT(chief, IsOk());
  EXPECT_EQ(chief->chief(), chief->self);
}

TEST(ClusterFromHostsTest, MistakesNameTheFlags) {
  EXPECT_THAT(ClusterFromHosts({.ps_hosts = "p:1", .worker_hosts = "w:1", .job_name = "worker",
                                .task_index = 1}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::AllOf(HasSubstr("--task_index"), HasSubstr("out of range"),
                                      testing::Not(HasSubstr("TF_CONFIG")))));
  EXPECT_THAT(ClusterFromHosts({.worker_hosts = "w:1", .job_name = "wroker"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("supported are chief")));
}

}  // namespace
}  // namespace taas
