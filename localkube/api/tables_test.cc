#include "localkube/api/tables.h"

#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

std::string AgeAfter(std::chrono::seconds seconds) {
  FakeClock clock;
  const std::string created = FormatRfc3339(clock.WallNow());
  clock.Advance(seconds);
  return Age(created, clock.WallNow());
}

TEST(AgeTest, ReadsAsKubectlWritesIt) {
  using std::chrono::hours, std::chrono::minutes, std::chrono::seconds;
  EXPECT_EQ(AgeAfter(seconds(0)), "0s");
  EXPECT_EQ(AgeAfter(seconds(119)), "119s");
  EXPECT_EQ(AgeAfter(seconds(125)), "2m5s");
  EXPECT_EQ(AgeAfter(minutes(5)), "5m");
  EXPECT_EQ(AgeAfter(minutes(179)), "179m");
  EXPECT_EQ(AgeAfter(minutes(200)), "3h20m");
  EXPECT_EQ(AgeAfter(hours(47)), "47h");
  EXPECT_EQ(AgeAfter(hours(50)), "2d2h");
  EXPECT_EQ(AgeAfter(hours(24 * 400)), "400d");
  EXPECT_EQ(AgeAfter(hours(24 * 800)), "2y70d");
  EXPECT_EQ(Age("", {}), "<unknown>");
}

struct PodCase {
  const char* name;
  const char* pod;
  const char* ready;
  const char* status;
};

class PodRowTest : public testing::TestWithParam<PodCase> {};

TEST_P(PodRowTest, HasKubectlsReadyAndStatus) {
  json pod = json::parse(GetParam().pod);
  pod["spec"]["containers"] = json::array({json{{"name", "a"}}});
  const json row = TableRow(*FindResource("pods"), pod, {}, IncludeObject::kNone);
  EXPECT_EQ(row["cells"][1], GetParam().ready);
  EXPECT_EQ(row["cells"][2], GetParam().status);
}

INSTANTIATE_TEST_SUITE_P(
    Table, PodRowTest,
    testing::Values(
        PodCase{"Pending", R"({"status":{"phase":"Pending"}})", "0/1", "Pending"},
        PodCase{"Creating",
                R"({"status":{"phase":"Pending","containerStatuses":[
                    {"state":{"waiting":{"reason":"ContainerCreating"}}}]}})",
                "0/1", "ContainerCreating"},
        PodCase{"Initializing",
                R"({"status":{"phase":"Pending","initContainerStatuses":[
                    {"state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
                    {"state":{"running":{}}}],"containerStatuses":[
                    {"state":{"waiting":{"reason":"PodInitializing"}}}]}})",
                "0/1", "Init:1/2"},
        PodCase{"InitLoop",
                R"({"status":{"phase":"Pending","initContainerStatuses":[
                    {"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}})",
                "0/1", "Init:CrashLoopBackOff"},
        PodCase{"InitFailed",
                R"({"status":{"phase":"Failed","initContainerStatuses":[
                    {"state":{"terminated":{"exitCode":1,"reason":"Error"}}}]}})",
                "0/1", "Init:Error"},
        PodCase{"Running",
                R"({"status":{"phase":"Running","containerStatuses":[
                    {"ready":true,"state":{"running":{}}}]}})",
                "1/1", "Running"},
        PodCase{"Completed",
                R"({"status":{"phase":"Succeeded","containerStatuses":[
                    {"state":{"terminated":{"reason":"Completed","exitCode":0}}}]}})",
                "0/1", "Completed"},
        PodCase{"Error",
                R"({"status":{"phase":"Failed","containerStatuses":[
                    {"state":{"terminated":{"exitCode":3}}}]}})",
                "0/1", "ExitCode:3"},
        PodCase{"Evicted", R"({"status":{"phase":"Failed","reason":"Evicted"}})", "0/1",
                "Evicted"},
        PodCase{"Terminating",
                R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},
                    "status":{"phase":"Running"}})",
                "0/1", "Terminating"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(TableTest, ATrainingJobHasTheColumnsOfItsDefinition) {
  const Kind& kind = *FindResource("trainingjobs.taas.dev");
  const json columns = TableColumns(kind);
  const json row = TableRow(kind,
                            {{"metadata", {{"name", "mnist"}}},
                             {"status", {{"state", "Running"}, {"ready", "3/5"}}}},
                            {}, IncludeObject::kMetadata);
  ASSERT_EQ(columns.size(), row["cells"].size());
  EXPECT_EQ(columns[1]["name"], "State");
  EXPECT_EQ(row["cells"][0], "mnist");
  EXPECT_EQ(row["cells"][1], "Running");
  EXPECT_EQ(row["cells"][2], "3/5");
  EXPECT_EQ(row["object"]["kind"], "PartialObjectMetadata");
}

TEST(TableTest, EveryKindHasAsManyCellsAsColumns) {
  for (const Kind& kind : Kinds()) {
    const json row = TableRow(kind, {{"metadata", {{"name", "a"}}}}, {}, IncludeObject::kNone);
    EXPECT_EQ(row["cells"].size(), TableColumns(kind).size()) << kind.kind;
  }
}

TEST(PodStatusTest, OfTheWrongTypesIsShownAllTheSame) {
  const Kind& pods = *FindResource("pods");
  for (const char* status :
       {"null", "\"Running\"", R"({"containerStatuses":["a",null,7]})", R"({"phase":[]})",
        R"({"containerStatuses":[{"ready":"true","restartCount":"1","state":7}]})",
        R"({"containerStatuses":{}})"}) {
    const json pod = {{"metadata", {{"name", "a"}}},
                      {"spec", {{"containers", json::array({json{{"name", "a"}}})}}},
                      {"status", json::parse(status)}};
    const json row = TableRow(pods, pod, {}, IncludeObject::kNone);
    EXPECT_EQ(row["cells"][1], "0/1") << status;
  }
}

}  // namespace
}  // namespace taas::localkube
