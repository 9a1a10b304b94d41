// Gangs on a real kube-apiserver: PodGroups of Volcano's and coscheduling's own CRDs, pods as
// Kueue's contract wants them. The test plays scheduler, Kueue and kubelet.

#include <cstdlib>

#include "e2e/operator_fixture.h"
#include "gmock/gmock.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kCrdsPath[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr char kVolcanoPath[] =
    "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
constexpr char kCoschedulingPath[] =
    "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups";

// As the schedulers install them; setup.sh puts them beside the programs of Kubernetes.
constexpr char kVolcanoCrd[] = "scheduling.volcano.sh_podgroups.yaml";
constexpr char kCoschedulingCrd[] = "scheduling.x-k8s.io_podgroups.yaml";

// 1 ps and 2 workers of an own image that ask for a CPU each.
json TrainingJob(const std::string& name, const json& scheduling) {
  const json pod = json::parse(R"({"spec":{"containers":[{"name":"trainer","image":"own/image:1",
      "resources":{"requests":{"cpu":"1"}}}]}})");
  return {{"apiVersion", "taas.dev/v1"},
          {"kind", "TrainingJob"},
          {"metadata", {{"name", name}}},
          {"spec",
           {{"roles",
             {{"ps", {{"replicas", 1}, {"template", pod}}},
              {"worker", {{"replicas", 2}, {"template", pod}}}}},
            {"schedulingPolicy", scheduling}}}};
}

class GangTest : public OperatorFixture {
 protected:
  void BeginWith(const std::string& crd, const std::string& path,
                 const std::vector<std::string>& flags) {
    ASSERT_NO_FATAL_FAILURE(BeginServer(kKubeApiServer));
    const auto text =
        files_.ReadAll(std::string(std::getenv("TAAS_KUBERNETES_BIN")) + "/../definitions/" + crd);
    ASSERT_THAT(text, IsOk());
    const json created = Call("POST", kCrdsPath, *text, "application/yaml");
    ASSERT_EQ(created.value("kind", ""), "CustomResourceDefinition") << created.dump(1);
    groups_ = path;
    ASSERT_TRUE(Await([&] { return Call("GET", path).value("kind", "") == "PodGroupList"; }));
    flags_ = flags;
    StartOperator();
  }
  // Pods of a class that is not there are refused.
  void CreatePriorityClass() {
    const json created = Call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
                              R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",
                                  "metadata":{"name":"high"},"value":1000})");
    ASSERT_EQ(created.value("kind", ""), "PriorityClass") << created.dump(1);
  }
  // As controllers do it: again, if somebody else wrote meanwhile.
  bool Replace(const std::string& path, const std::function<void(json& object)>& change) {
    return Await([&] {
      json object = Call("GET", path);
      const json kind = object["kind"];
      change(object);
      return Call("PUT", path, object.dump())["kind"] == kind;
    });
  }
  void Create(const json& job) {
    const char* path = job["kind"] == "TFJob" ? kTfJobsPath : kTrainingJobsPath;
    const json created = Call("POST", std::string(path) + "?fieldValidation=Strict", job.dump());
    ASSERT_EQ(created.value("kind", ""), job["kind"]) << created.dump(1);
  }
  json Job(const std::string& name) {
    return Call("GET", std::string(kTrainingJobsPath) + "/" + name);
  }
  std::string MessageOf(const std::string& name) {
    return Job(name).value("/status/message"_json_pointer, "");
  }
  json Group(const std::string& name) { return Call("GET", groups_ + "/" + name); }
  bool HasGroup(const std::string& name) { return Group(name).value("kind", "") == "PodGroup"; }
  void SetPhase(const std::string& name, const std::string& phase) {
    // Of Volcano: its definition has no subresource for the status.
    const json after = Patch(groups_ + "/" + name, {{"status", {{"phase", phase}}}});
    ASSERT_EQ(after.value("kind", ""), "PodGroup") << after.dump(1);
  }
  bool AwaitPods(const std::string& job, size_t count) {
    return Await([&] { return NamesOf(kPodsPath, job).size() == count; });
  }

  std::string groups_;
};

TEST_F(GangTest, AJobOfVolcanoWaitsForItsTurnAndItsGroupFollowsIt) {
  ASSERT_NO_FATAL_FAILURE(BeginWith(kVolcanoCrd, kVolcanoPath, {"--gang-scheduler", "volcano"}));
  ASSERT_NO_FATAL_FAILURE(CreatePriorityClass());
  ASSERT_NO_FATAL_FAILURE(Create(TrainingJob(
      "gang", {{"gang", "Required"}, {"queue", "team-a"}, {"priorityClassName", "high"}})));
  ASSERT_TRUE(Await([&] { return HasGroup("gang"); })) << Job("gang").dump(1);
  EXPECT_EQ(Group("gang")["spec"],
            json::parse(R"({"minMember":3,"queue":"team-a","priorityClassName":"high",
                            "minResources":{"cpu":"3"}})"));
  EXPECT_EQ(Group("gang")["metadata"]["ownerReferences"][0]["kind"], "TrainingJob");
  SetPhase("gang", "Pending");
  ASSERT_TRUE(Await([&] {
    return MessageOf("gang") == "waits for Volcano: its PodGroup gang in queue team-a is Pending";
  })) << Job("gang").dump(1);
  EXPECT_THAT(NamesOf(kPodsPath, "gang"), IsEmpty());

  SetPhase("gang", "Inqueue");
  ASSERT_TRUE(AwaitPods("gang", 3)) << Job("gang").dump(1);
  const json pod = Pod("gang-worker-1");
  EXPECT_EQ(pod["spec"]["schedulerName"], "volcano");
  EXPECT_EQ(pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"], "gang");
  EXPECT_EQ(pod["metadata"]["annotations"]["volcano.sh/task-spec"], "worker");

  const std::string scale = std::string(kTrainingJobsPath) + "/gang/scale";
  ASSERT_EQ(Patch(scale, {{"spec", {{"replicas", 4}}}}).value("kind", ""), "Scale");
  ASSERT_TRUE(Await([&] { return Group("gang")["spec"]["minMember"] == 5; })) << Group("gang");
  EXPECT_EQ(Group("gang")["spec"]["minResources"]["cpu"], "5");
  EXPECT_EQ(Group("gang")["status"]["phase"], "Inqueue");
  EXPECT_TRUE(AwaitPods("gang", 5));

  Patch(std::string(kTrainingJobsPath) + "/gang", {{"spec", {{"suspend", true}}}});
  ASSERT_TRUE(Await([&] { return !HasGroup("gang"); })) << Group("gang").dump(1);
  EXPECT_TRUE(AwaitPods("gang", 0));
  Patch(std::string(kTrainingJobsPath) + "/gang", {{"spec", {{"suspend", false}}}});
  ASSERT_TRUE(Await([&] { return HasGroup("gang"); }));
  SetPhase("gang", "Inqueue");
  ASSERT_TRUE(AwaitPods("gang", 5));
  End("gang-worker-0", 0);  // Its completion is the job's; the others are removed then.
  ASSERT_TRUE(Await([&] { return !HasGroup("gang"); })) << Job("gang").dump(1);
  EXPECT_TRUE(Await([&] {
    return Job("gang").value("/status/state"_json_pointer, "") == "Succeeded";
  })) << Job("gang").dump(1);
}

TEST_F(GangTest, AGroupOfSomebodyElseUnderTheJobsNameIsToldAndNeverTouched) {
  ASSERT_NO_FATAL_FAILURE(BeginWith(kVolcanoCrd, kVolcanoPath, {"--gang-scheduler", "volcano"}));
  const json theirs = Call("POST", kVolcanoPath,
                           R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",
                               "metadata":{"name":"taken"},"spec":{"minMember":7}})");
  ASSERT_EQ(theirs.value("kind", ""), "PodGroup") << theirs.dump(1);
  ASSERT_NO_FATAL_FAILURE(Create(TrainingJob("taken", json::object())));
  ASSERT_TRUE(Await([&] {
    return MessageOf("taken").find("does not belong to this job") != std::string::npos;
  })) << Job("taken").dump(1);
  EXPECT_THAT(NamesOf(kPodsPath, "taken"), IsEmpty());
  Call("DELETE", std::string(kTrainingJobsPath) + "/taken");
  EXPECT_EQ(Group("taken")["metadata"]["resourceVersion"], theirs["metadata"]["resourceVersion"]);
}

TEST_F(GangTest, ATfJobOfCoschedulingHasTheFieldsThatItsPolicyNames) {
  ASSERT_NO_FATAL_FAILURE(
      BeginWith(kCoschedulingCrd, kCoschedulingPath,
                {"--gang-scheduler", "coscheduling", "--gang-scheduler-name", "plugins"}));
  json job = json::parse(R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob",
      "metadata":{"name":"dist"},
      "spec":{"runPolicy":{"schedulingPolicy":{"minAvailable":2,"priorityClass":"",
                "minResources":{"cpu":2},"scheduleTimeoutSeconds":30}},
              "tfReplicaSpecs":{"Chief":{},"Worker":{"replicas":2}}}})");
  for (json& role : job["spec"]["tfReplicaSpecs"]) {
    role["template"]["spec"]["containers"] = {{{"name", "tensorflow"}, {"image", "own/image:1"}}};
  }
  ASSERT_NO_FATAL_FAILURE(Create(job));
  ASSERT_TRUE(Await([&] { return HasGroup("dist"); }));
  EXPECT_EQ(Group("dist")["spec"], json::parse(R"({"minMember":2,"minResources":{"cpu":2},
                                                   "scheduleTimeoutSeconds":30})"));
  ASSERT_TRUE(AwaitPods("dist", 3));
  const json pod = Pod("dist-chief-0");
  EXPECT_EQ(pod["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"], "dist");
  EXPECT_EQ(pod["spec"]["schedulerName"], "plugins");
}

TEST_F(GangTest, ATfJobOfVolcanoHasNoPodUntilItsGroupMayStart) {
  ASSERT_NO_FATAL_FAILURE(BeginWith(kVolcanoCrd, kVolcanoPath, {"--gang-scheduler", "volcano"}));
  json job = json::parse(R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob",
      "metadata":{"name":"dist"},
      "spec":{"runPolicy":{"schedulingPolicy":{"minAvailable":3,"queue":"team-b"}},
              "tfReplicaSpecs":{"Chief":{},"Worker":{"replicas":2}}}})");
  for (json& role : job["spec"]["tfReplicaSpecs"]) {
    role["template"]["spec"]["containers"] = {{{"name", "tensorflow"}, {"image", "own/image:1"}}};
  }
  ASSERT_NO_FATAL_FAILURE(Create(job));
  ASSERT_TRUE(Await([&] { return HasGroup("dist"); }));
  EXPECT_EQ(Group("dist")["spec"]["minMember"], 3);
  EXPECT_EQ(Group("dist")["spec"]["queue"], "team-b");
  SetPhase("dist", "Pending");
  const std::string path = std::string(kTfJobsPath) + "/dist";
  ASSERT_TRUE(Await([&] {
    return Call("GET", path).value("/status/message"_json_pointer, "") ==
           "waits for Volcano: its PodGroup dist in queue team-b is Pending";
  })) << Call("GET", path).dump(1);
  EXPECT_THAT(NamesOf(kPodsPath, "dist"), IsEmpty());
  SetPhase("dist", "Inqueue");
  ASSERT_TRUE(AwaitPods("dist", 3));
  EXPECT_EQ(Pod("dist-worker-1")["spec"]["schedulerName"], "volcano");
}

TEST_F(GangTest, AGangThatIsRequiredIsRefusedUntilThereIsAScheduler) {
  ASSERT_NO_FATAL_FAILURE(BeginWith(kCoschedulingCrd, kCoschedulingPath, {}));
  ASSERT_NO_FATAL_FAILURE(Create(TrainingJob("must", {{"gang", "Required"}})));
  ASSERT_NO_FATAL_FAILURE(Create(TrainingJob("may", {{"gang", "Auto"}})));
  ASSERT_TRUE(AwaitPods("may", 3));
  ASSERT_TRUE(Await([&] { return !MessageOf("must").empty(); }));
  EXPECT_THAT(MessageOf("must"), HasSubstr("start it with --gang-scheduler"));
  EXPECT_THAT(Job("must")["status"]["conditions"].dump(), HasSubstr("NoGangScheduler"));
  EXPECT_EQ(Job("must")["status"]["state"], "Pending");
  EXPECT_THAT(NamesOf(kPodsPath, "must"), IsEmpty());
  ASSERT_NO_FATAL_FAILURE(RestartOperator({"--gang-scheduler", "coscheduling"}));
  EXPECT_TRUE(AwaitPods("must", 3)) << Job("must").dump(1);
  EXPECT_EQ(Group("must")["spec"], json::parse(R"({"minMember":3,"minResources":{"cpu":"3"}})"));
  const json pod = Pod("must-ps-0");
  EXPECT_EQ(pod["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"], "must");
  EXPECT_EQ(pod["spec"]["schedulerName"], "default-scheduler") << "no other one was named";
}

TEST_F(GangTest, APodThatKueueHoldsMakesRoomForItsSuccessorOfTheSameName) {
  ASSERT_NO_FATAL_FAILURE(Begin(kKubeApiServer, {"--gang-scheduler", "kueue"}));
  ASSERT_NO_FATAL_FAILURE(Create(TrainingJob("queued", {{"queue", "team-a"}})));
  ASSERT_TRUE(AwaitPods("queued", 3));
  const std::string group =
      Pod("queued-ps-0")["metadata"]["labels"]["kueue.x-k8s.io/pod-group-name"];
  for (const std::string& name : NamesOf(kPodsPath, "queued")) {
    const json pod = Pod(name);
    EXPECT_EQ(pod["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "team-a");
    EXPECT_EQ(pod["metadata"]["labels"]["kueue.x-k8s.io/pod-group-name"], group);
    EXPECT_EQ(pod["metadata"]["annotations"]["kueue.x-k8s.io/pod-group-total-count"], "3");
    // What its webhook adds; the other one is nobody's business but its owner's.
    Patch(std::string(kPodsPath) + "/" + name,
          {{"metadata", {{"finalizers", {"example.org/mine", "kueue.x-k8s.io/managed"}}}}});
    Run(name);
  }
  const std::string uid = Pod("queued-worker-0")["metadata"]["uid"];
  Call("DELETE", std::string(kPodsPath) + "/queued-worker-0");
  ASSERT_TRUE(Await([&] {
    return Pod("queued-worker-0")["metadata"].value("finalizers", json::array()) ==
           json::array({"example.org/mine"});
  })) << Pod("queued-worker-0").dump(1);
  Patch(std::string(kPodsPath) + "/queued-worker-0", {{"metadata", {{"finalizers", nullptr}}}});
  ASSERT_TRUE(AwaitSuccessor("queued-worker-0", uid)) << Job("queued").dump(1);
  const json next = Pod("queued-worker-0");
  EXPECT_EQ(next["metadata"]["labels"]["kueue.x-k8s.io/pod-group-name"], group);
  EXPECT_EQ(next["metadata"]["annotations"]["kueue.x-k8s.io/role-hash"], "worker");
  // Told with what comes next, up to a second later.
  EXPECT_TRUE(Await([&] {
    return Job("queued")["status"]["restarts"] == json::parse(R"({"preempted":1})");
  })) << Job("queued").dump(1);
}

TEST_F(GangTest, TheEndOfAJobIsToldToKueueOnAPodThatStays) {
  ASSERT_NO_FATAL_FAILURE(Begin(kKubeApiServer, {"--gang-scheduler", "kueue"}));
  ASSERT_NO_FATAL_FAILURE(Create(TrainingJob("queued", {{"queue", "team-a"}})));
  ASSERT_TRUE(AwaitPods("queued", 3));
  for (const std::string& name : NamesOf(kPodsPath, "queued")) {
    Patch(std::string(kPodsPath) + "/" + name,
          {{"metadata", {{"finalizers", json::array({"kueue.x-k8s.io/managed"})}}}});
    End(name, 0);
  }
  ASSERT_TRUE(Await([&] {
    for (const std::string& name : NamesOf(kPodsPath, "queued")) {
      const json annotations = Pod(name)["metadata"].value("annotations", json::object());
      if (annotations.value("kueue.x-k8s.io/retriable-in-group", "") == "false") return true;
    }
    return false;
  })) << Job("queued").dump(1);
}

// What Kueue's own integration of TFJobs does with them, and looks at.
TEST_F(GangTest, ATfJobIsAdmittedAndEvictedByKueueThroughSuspend) {
  ASSERT_NO_FATAL_FAILURE(Begin(kKubeApiServer, {"--gang-scheduler", "kueue"}));
  ASSERT_NO_FATAL_FAILURE(CreatePriorityClass());
  ASSERT_NO_FATAL_FAILURE(Create(json::parse(R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob",
      "metadata":{"name":"dist","labels":{"kueue.x-k8s.io/queue-name":"team-a"}},
      "spec":{"runPolicy":{"suspend":true,"schedulingPolicy":{"priorityClass":"high"}},
              "tfReplicaSpecs":{"Worker":{"replicas":2,"template":{"spec":{"containers":[
                {"name":"tensorflow","image":"own/image:1"}]}}}}}})")));
  const std::string path = std::string(kTfJobsPath) + "/dist";
  const auto status = [&] { return Call("GET", path).value("status", json::object()); };
  const auto holds = [&](const std::string& type) {
    for (const json& condition : status().value("conditions", json::array())) {
      if (condition["type"] == type) return condition["status"] == "True";
    }
    return false;
  };
  const auto active = [&] {
    return status().value("/replicaStatuses/Worker/active"_json_pointer, 0);
  };
  ASSERT_TRUE(Await([&] { return holds("Suspended"); })) << status().dump(1);
  EXPECT_THAT(NamesOf(kPodsPath, "dist"), IsEmpty());

  // One update, as on admission: where the pods go, and that they may.
  ASSERT_TRUE(Replace(path, [](json& job) {
    json& pod = job["spec"]["tfReplicaSpecs"]["Worker"]["template"];
    pod["spec"]["nodeSelector"] = {{"flavor", "spot"}};
    pod["spec"]["tolerations"] = {{{"key", "spot"}, {"operator", "Exists"}}};
    pod["metadata"]["labels"] = {{"kueue.x-k8s.io/podset", "worker"}};
    pod["metadata"]["annotations"] = {{"kueue.x-k8s.io/workload", "tfjob-dist"}};
    job["spec"]["runPolicy"]["suspend"] = false;
  }));
  ASSERT_TRUE(AwaitPods("dist", 2));
  const json made = Pod("dist-worker-1");
  EXPECT_EQ(made["spec"]["nodeSelector"]["flavor"], "spot");
  EXPECT_EQ(made["spec"]["priorityClassName"], "high");
  EXPECT_EQ(made["metadata"]["annotations"]["kueue.x-k8s.io/workload"], "tfjob-dist");
  const json& labels = made["metadata"]["labels"];
  EXPECT_EQ(labels["kueue.x-k8s.io/podset"], "worker");
  EXPECT_EQ(labels["training.kubeflow.org/operator-name"], "tfjob-controller");
  EXPECT_EQ(labels["training.kubeflow.org/job-name"], "dist");
  EXPECT_EQ(labels["training.kubeflow.org/replica-type"], "worker");
  EXPECT_EQ(labels["training.kubeflow.org/replica-index"], "1");
  EXPECT_FALSE(labels.contains("kueue.x-k8s.io/pod-group-name")) << "Kueue has the job itself";
  Run("dist-worker-0");
  Run("dist-worker-1");
  ASSERT_TRUE(Await([&] { return holds("Running") && active() == 2; })) << status().dump(1);

  // As on eviction: it waits until nothing is active, then puts the templates back.
  Patch(path, {{"spec", {{"runPolicy", {{"suspend", true}}}}}});
  ASSERT_TRUE(Await([&] {
    return holds("Suspended") && !holds("Running") && active() == 0;
  })) << status().dump(1);
  EXPECT_TRUE(Replace(path, [](json& job) {
    job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"].erase("nodeSelector");
  }));
}

}  // namespace
}  // namespace taas
