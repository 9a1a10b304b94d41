// TFJobs of another controller under the whole operator, in virtual time: left alone, or taken
// over.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/controller/controller_fixture.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;

class TakeoverTest : public testing::Test {
 protected:
  // As training-operator leaves a running job: its status, its pods and services.
  void CreateForeign(int workers) {
    cluster_.api().faults().hold_watches = true;  // The operator sees all of it at once.
    cluster_.CreateTfJob({.workers = workers});
    json job = cluster_.Job();
    const std::string now = FormatRfc3339(cluster_.executor().clock().WallNow());
    job["metadata"]["managedFields"] = {{{"manager", "manager"},
                                         {"operation", "Update"},
                                         {"subresource", "status"},
                                         {"time", now}}};
    job["status"] = {{"startTime", now},
                     {"conditions",
                      {{{"type", "Created"}, {"status", "True"}, {"reason", "TFJobCreated"}},
                       {{"type", "Running"}, {"status", "True"}, {"reason", "TFJobRunning"}}}}};
    job = cluster_.api().Put("tfjobs", job);
    const json owner = {{"apiVersion", "kubeflow.org/v1"}, {"kind", "TFJob"}, {"name", "mnist"},
                        {"uid", job["metadata"]["uid"]}, {"controller", true}};
    for (int i = 0; i < workers; ++i) {
      const json metadata = {{"name", "mnist-worker-" + std::to_string(i)},
                             {"ownerReferences", json::array({owner})},
                             {"labels", {{"training.kubeflow.org/job-name", "mnist"}}}};
      const json container = {{"name", "tensorflow"}, {"image", "own/image:1"}};
      cluster_.api().Put("services",
                         {{"metadata", metadata}, {"spec", {{"clusterIP", "None"}}}});
      cluster_.api().Put("pods", {{"metadata", metadata},
                                  {"spec", {{"restartPolicy", "Never"},
                                            {"containers", json::array({container})}}},
                                  {"status", {{"phase", "Pending"}}}});
    }
    cluster_.api().faults().hold_watches = false;
    cluster_.api().Release();
  }
  std::string UidOf(const std::string& pod) {
    const json* found = cluster_.api().Find("pods", pod);
    return found == nullptr ? "" : found->at("metadata").at("uid").get<std::string>();
  }

  SimCluster cluster_{7};
};

TEST_F(TakeoverTest, AJobOfAnotherControllerIsLeftAloneAndSaysSoOnce) {
  CreateForeign(2);
  cluster_.RunFor(seconds(120));
  EXPECT_THAT(cluster_.Ledger(), IsEmpty());
  EXPECT_THAT(cluster_.api().pod_creates(), IsEmpty());
  EXPECT_EQ(cluster_.api().writes(), 1) << "the status that says so";
  EXPECT_EQ(cluster_.Status()["conditions"][0]["type"], "Refused");
  EXPECT_EQ(cluster_.Status()["conditions"].back()["type"], "Running");
  EXPECT_EQ(cluster_.Status().size(), 3u) << "more than conditions and message was written into "
                                          << cluster_.Status().dump(1);
  ASSERT_EQ(cluster_.api().events().size(), 1u);
  EXPECT_EQ(cluster_.api().events()[0]["reason"], "AnotherController");
  EXPECT_THAT(cluster_.metrics().Text(), HasSubstr("taas_tfjobs_of_another_controller 1"));
  cluster_.api().DeleteJob("tfjobs", "mnist");
  cluster_.RunFor(seconds(5));
  EXPECT_THAT(cluster_.metrics().Text(), HasSubstr("taas_tfjobs_of_another_controller 0"));
}

TEST_F(TakeoverTest, BesideItANewJobIsBegunOnceTheOtherControllerHasLetItBe) {
  CreateForeign(1);
  cluster_.RunFor(seconds(30));
  const json foreign = cluster_.Job();
  cluster_.api().Put("tfjobs", {{"apiVersion", foreign["apiVersion"]},
                                {"kind", foreign["kind"]},
                                {"metadata", {{"name", "fresh"}}},
                                {"spec", foreign["spec"]}});
  cluster_.RunFor(seconds(9));
  EXPECT_EQ(cluster_.api().Names("pods").size(), 1u);
  cluster_.RunFor(seconds(2));
  EXPECT_EQ(cluster_.api().Names("pods").size(), 2u);
  EXPECT_NE(cluster_.api().Find("pods", "fresh-worker-0"), nullptr);
}

TEST_F(TakeoverTest, WithAdoptTheJobGoesOnWithTheSamePods) {
  CreateForeign(2);
  cluster_.RunFor(seconds(10));
  const std::string first = UidOf("mnist-worker-0");
  const std::string second = UidOf("mnist-worker-1");
  cluster_.RestartWith({}, /*adopt=*/true);
  ASSERT_TRUE(cluster_.RunUntil([&] { return cluster_.Status().value("state", "") == "Running"; },
                                seconds(60)))
      << cluster_.Job().dump(1);
  cluster_.RunFor(seconds(30));
  EXPECT_EQ(UidOf("mnist-worker-0"), first);
  EXPECT_EQ(UidOf("mnist-worker-1"), second);
  EXPECT_EQ(cluster_.api().Names("services").size(), 2u);
  const json& pod = *cluster_.api().Find("pods", "mnist-worker-1");
  EXPECT_EQ(pod["metadata"]["labels"]["taas.dev/index"], "1");
  EXPECT_EQ(pod["metadata"]["labels"]["training.kubeflow.org/job-name"], "mnist");
  EXPECT_EQ((*cluster_.api().Find("services", "mnist-worker-1"))["metadata"]["labels"]
                                                                ["taas.dev/job-name"],
            "mnist");
  EXPECT_THAT(cluster_.Status()["conditions"].dump(), testing::Not(HasSubstr("Refused")));
  EXPECT_THAT(cluster_.api().complaints(), IsEmpty());

  // It is ours now, with the flag or without.
  cluster_.RestartWith({}, /*adopt=*/false);
  cluster_.set_script([](const std::string&, int, milliseconds ran) {
    return ran >= seconds(1) ? std::optional(0) : std::nullopt;
  });
  EXPECT_TRUE(cluster_.RunUntilState("Succeeded")) << cluster_.Job().dump(1);
}

TEST_F(TakeoverTest, ASpecThatWeWouldRefuseIsTheOtherControllersBusiness) {
  CreateForeign(1);
  json job = cluster_.Job();
  job["spec"]["runPolicy"]["backoffLimit"] = "many";
  cluster_.api().Put("tfjobs", job);
  cluster_.RestartWith({});
  cluster_.RunFor(seconds(30));
  EXPECT_EQ(cluster_.Status()["conditions"].back()["type"], "Running");
  EXPECT_EQ(cluster_.api().writes(), 0);
}

// Symptom: the other controller ran a new job, which was failed meanwhile.
TEST_F(TakeoverTest, ANewJobThatWeCannotReadIsTheOtherControllersForTenSeconds) {
  CreateForeign(1);
  cluster_.CreateTfJob({.workers = 1}, "Never", {{"successPolicy", "ChiefOnly"}}, "odd");
  cluster_.RestartWith({});
  const auto reasons = [&] {
    const json* job = cluster_.api().Find("tfjobs", "odd");
    return job->value("status", json::object()).value("conditions", json::array()).dump();
  };
  cluster_.RunFor(seconds(9));
  EXPECT_EQ(reasons(), "[]");
  cluster_.RunFor(seconds(3));
  EXPECT_THAT(reasons(), HasSubstr("TFJobFailedValidation"));
}

// Symptom: a job that had succeeded under the other controller became a failed one.
TEST_F(TakeoverTest, WhatWeCannotReadOfTheOtherControllersIsToldAndKeepsItsConditions) {
  CreateForeign(1);
  const std::string uid = UidOf("mnist-worker-0");
  for (const char* end : {"Running", "Succeeded"}) {
    json job = cluster_.Job();
    job["spec"]["runPolicy"]["backoffLimit"] = "many";
    // Its own word for a job that it could not follow, too.
    job["status"]["conditions"].back()["reason"] = "TFJobFailedValidation";
    json& conditions = job["status"]["conditions"];
    if (conditions.back()["type"] != end) {
      conditions.back()["status"] = "False";
      conditions.push_back({{"type", end}, {"status", "True"}, {"reason", "TFJobSucceeded"}});
    }
    job["status"].erase("message");
    const json before = job["status"]["conditions"];
    cluster_.api().Put("tfjobs", job);
    cluster_.RestartWith({}, /*adopt=*/true);
    cluster_.RunFor(seconds(30));
    EXPECT_EQ(cluster_.Status()["conditions"], before) << end;
    EXPECT_THAT(cluster_.Status().value("message", ""), HasSubstr("backoffLimit")) << end;
    EXPECT_EQ(UidOf("mnist-worker-0"), uid) << end;
  }
}

}  // namespace
}  // namespace taas
