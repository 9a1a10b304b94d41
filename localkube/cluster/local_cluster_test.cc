#include "localkube/cluster/local_cluster.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/cluster/local_cluster_fixture.h"
#include "localkube/node/api_calls.h"
#include "localkube/node/container_run.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using namespace nlohmann::literals;
using namespace std::chrono_literals;
using testing::HasSubstr;

TEST_F(LocalClusterTest, APodRunsToItsEndAndItsStatusAndLogSaySo) {
  Start();
  Create(Pod("a", "echo hello; printf 'the message' > $TAAS_TERMINATION_LOG; exit 3"));
  AwaitPhase("a", "Failed");
  const Json status = Get("a")["status"];
  const Json terminated = status["containerStatuses"][0]["state"]["terminated"];
  EXPECT_EQ(terminated["exitCode"], 3);
  EXPECT_EQ(terminated["reason"], "Error");
  EXPECT_EQ(terminated["message"], "the message");
  EXPECT_EQ(status["podIP"], "127.0.0.1");
  EXPECT_EQ(Get("a")["spec"]["nodeName"], "local");
  EXPECT_THAT(ReadLog("a"), HasSubstr("stdout F hello\n"));
}

// Symptom: `kubectl get nodes` and `kubectl version` named two versions of one program.
TEST_F(LocalClusterTest, TheNodeHasTheServersVersion) {
  Start();
  const Json version = Json::parse(Api().Get("/version").value_or("{}"));
  const Json node = Json::parse(Api().Get("/api/v1/nodes/local").value_or("{}"));
  EXPECT_EQ(node["status"]["nodeInfo"]["kubeletVersion"], version["gitVersion"]);
  EXPECT_THAT(version.value("gitVersion", ""), testing::StartsWith("v1."));
}

TEST_F(LocalClusterTest, TheDirectoryIsPrivateAndServesOneClusterAtATime) {
  options_.dir += "/made/by/it";
  Start();
  struct stat info {};
  ASSERT_EQ(::stat(options_.dir.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_THAT(LocalCluster::Start(options_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("end it with: taas local down --dir " + options_.dir)));
}

TEST_F(LocalClusterTest, ADirectoryOfTheUsersIsNotTakenAndNotChanged) {
  ASSERT_EQ(::chmod(options_.dir.c_str(), 0755), 0);
  const auto mode = [&](const std::string& name) {
    struct stat info {};
    EXPECT_EQ(::stat((options_.dir + name).c_str(), &info), 0) << name;
    return info.st_mode & 0777;
  };
  ASSERT_THAT(disk_.MakeDirs(options_.dir + "/api"), IsOk());
  EXPECT_THAT(LocalCluster::Start(options_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("it has api in it and is not the directory of a cluster")));
  EXPECT_EQ(mode(""), 0755u);
  EXPECT_EQ(mode("/api"), 0755u);
  ASSERT_THAT(disk_.RemoveAll(options_.dir + "/api"), IsOk());
  Start();
  EXPECT_EQ(mode(""), 0700u) << "an empty one is taken, and is the cluster's alone then";
  for (const char* name : {"/api", "/pods", "/volumes"}) EXPECT_EQ(mode(name), 0700u) << name;
  EXPECT_EQ(mode("/kubeconfig"), 0600u);
}

TEST_F(LocalClusterTest, RemoveLeavesNothingAndALateClusterFindsNoHalf) {
  options_.dir += "/new";
  Start();
  Create(Pod("a", "true"));
  AwaitPhase("a", "Succeeded");
  ASSERT_THAT(cluster_->EndPods(50ms), IsOk());
  ASSERT_THAT(cluster_->Remove(), IsOk());
  EXPECT_FALSE(disk_.Exists(options_.dir).value_or(true));
  cluster_.reset();
  Start();
  EXPECT_EQ(Phase("a"), "gone");
}

TEST_F(LocalClusterTest, WhoMakesAJobWhoseDataIsNotThereIsWarned) {
  Start();
  const auto warnings = [this](const std::string& name) {
    const nlohmann::json job = {
        {"apiVersion", "taas.dev/v1"},
        {"kind", "TrainingJob"},
        {"metadata", {{"name", name}}},
        {"spec",
         {{"trainer", {{"model", {{"name", "softmax"}}},
                       {"data", {{"format", "generated"},
                                 {"generated", {{"examples", 9}, {"features", 2},
                                                {"classes", 2}}}}},
                       {"strategy", {{"type", "Local"}}},
                       {"batchSize", 3},
                       {"maxSteps", 1}}},
          {"roles", {{"worker", {{"replicas", 1}}}}},
          {"volumes",
           {{{"name", "data"},
             {"mountPath", "/data"},
             {"readOnly", true},
             {"source", {{"persistentVolumeClaim", {{"claimName", "mnist-data"}}}}}}}}}}};
    const ApiResponse made = cluster_->server().api().Handle(
        {.method = "POST",
         .target = "/apis/taas.dev/v1/namespaces/default/trainingjobs",
         .body = job.dump()});
    EXPECT_EQ(made.code, 201) << made.body;
    std::string said;
    for (const auto& [name_of, value] : made.headers) {
      if (name_of == "Warning") said += value;
    }
    return said;
  };
  const std::string dir = cluster_->ClaimDir("default", "mnist-data");
  EXPECT_THAT(warnings("a"), HasSubstr(dir));
  ASSERT_THAT(disk_.MakeDirs(dir), IsOk());
  ASSERT_THAT(disk_.WriteAtomically(dir + "/train-images.gz", "x"), IsOk());
  EXPECT_EQ(warnings("b"), "");
}

TEST_F(LocalClusterTest, AClusterThatIsStartedAgainHasItsAddressItsPodsAndTheirRuns) {
  Start();
  const uint16_t port = cluster_->server().port();
  const std::string count = options_.dir + "/count";
  Create(Pod("a", "echo started >> " + count + "; while [ ! -e " + options_.dir +
                      "/go ]; do sleep 0.05; done; echo done >> " + count));
  AwaitPhase("a", "Running");
  cluster_.reset();
  Start();
  EXPECT_EQ(cluster_->server().port(), port);
  EXPECT_EQ(Phase("a"), "Running");
  ASSERT_THAT(disk_.WriteAtomically(options_.dir + "/go", ""), IsOk());
  AwaitPhase("a", "Succeeded");
  EXPECT_EQ(FileText("count"), "started\ndone\n");
}

TEST_F(LocalClusterTest, AProcessThatIsKilledAtAnyTimeNeverRunsAPodTwice) {
  // Children of this process run the cluster and are killed at times that the seed decides.
  const std::string count = options_.dir + "/count";
  Start();
  for (int i = 0; i < 4; ++i) {
    const std::string name = "p" + std::to_string(i);
    Create(Pod(name, "echo " + name + " >> " + count + "; sleep 0.3"));
  }
  cluster_.reset();
  const unsigned seed = 7;
  SeededRandom random(seed);
  for (int i = 0; i < 6; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      auto cluster = LocalCluster::Start(options_);
      if (!cluster.ok()) ::_exit(1);
      for (;;) ::pause();
    }
    clock_.SleepUntil(clock_.Now() + std::chrono::milliseconds(random.Below(150)));
    ::kill(pid, SIGKILL);
    ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  }
  Start();
  for (int i = 0; i < 4; ++i) AwaitPhase("p" + std::to_string(i), "Succeeded");
  std::string text = FileText("count");
  for (int i = 0; i < 4; ++i) {
    const std::string line = "p" + std::to_string(i) + "\n";
    const size_t at = text.find(line);
    ASSERT_NE(at, std::string::npos) << line;
    text.erase(at, line.size());
  }
  EXPECT_EQ(text, "") << "started twice, seed " << seed;
}

TEST_F(LocalClusterTest, ADeletedPodEndsGracefullyThenGoes) {
  Start();
  Create(Pod("a", "trap 'exit 143' TERM; echo ready; while :; do sleep 1000 & wait; done"));
  Await("ready", [&] { return ReadLog("a").find("ready") != std::string::npos; });
  const std::string uid = Get("a")["metadata"]["uid"];
  ASSERT_THAT(Api().Delete(PodPath("default", "a"), ""), IsOk());
  AwaitPhase("a", "gone");
  Await("its directory",
        [&] { return !disk_.Exists(options_.dir + "/pods/" + uid).value_or(true); });
}

TEST_F(LocalClusterTest, APodThatIsDeletedByForceIsKilled) {
  Start();
  Create(Pod("a", "trap '' TERM; echo ready; while :; do sleep 1000; done"));
  Await("ready", [&] { return ReadLog("a").find("ready") != std::string::npos; });
  const std::string uid = Get("a")["metadata"]["uid"];
  ASSERT_THAT(Api().Delete(PodPath("default", "a"), R"({"gracePeriodSeconds":0})"), IsOk());
  Await("its directory",
        [&] { return !disk_.Exists(options_.dir + "/pods/" + uid).value_or(true); });
}

TEST_F(LocalClusterTest, ForceAfterAGracePeriodKillsAtOnce) {
  Start();
  Json pod = Pod("a", "trap '' TERM; echo ready; while :; do sleep 1000; done");
  pod["spec"]["terminationGracePeriodSeconds"] = 3600;
  Create(pod);
  Await("ready", [&] { return ReadLog("a").find("ready") != std::string::npos; });
  const std::string uid = Get("a")["metadata"]["uid"];
  ASSERT_THAT(Api().Delete(PodPath("default", "a"), ""), IsOk());
  const std::string stop = cluster_->pod_dirs().Run(uid, "c", 0).stop;
  Await("the first stop", [&] { return disk_.Exists(stop).value_or(false); });
  ASSERT_THAT(Api().Delete(PodPath("default", "a"), R"({"gracePeriodSeconds":0})"), IsOk());
  Await("its directory",
        [&] { return !disk_.Exists(options_.dir + "/pods/" + uid).value_or(true); });
}

TEST_F(LocalClusterTest, GpuSlotsStayWithTheirPodsWhenTheClusterIsStartedAgain) {
  options_.fake_gpus = {.count = 2, .gibibytes = 80};
  const auto pod = [](const std::string& name, const char* gpus, const std::string& then) {
    Json out = Pod(name, "echo gpus $CUDA_VISIBLE_DEVICES; " + then);
    out["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = gpus;
    return out;
  };
  Start();
  Create(pod("stays", "1", "exec sleep 1000"));
  Await("slot 0", [&] { return ReadLog("stays").find("gpus 0\n") != std::string::npos; });
  // One that has ended gives its slot back, also to a node that did not see it run.
  Create(pod("ends", "1", "true"));
  AwaitPhase("ends", "Succeeded");
  EXPECT_THAT(ReadLog("ends"), HasSubstr("gpus 1\n"));
  Create(pod("a", "2", "true"));
  AwaitPhase("a", "Pending");
  cluster_.reset();
  options_.fake_gpus.count = 3;
  Start();
  AwaitPhase("a", "Succeeded");
  EXPECT_THAT(ReadLog("a"), HasSubstr("gpus 1,2\n"));
}

TEST_F(LocalClusterTest, GpusOfThisMachineAreTheFirstNodesByTheirIndices) {
  options_.gpus = {{.id = "GPU-a", .index = 0, .name = "NVIDIA H100 80GB HBM3",
                    .memory_total_mib = 81'559},
                   {.id = "GPU-b", .index = 1, .name = "NVIDIA H100 80GB HBM3"},
                   {.id = "GPU-d", .index = 3, .name = "NVIDIA H100 80GB HBM3"}};
  options_.nodes = 2;
  Start();
  const Json node = Json::parse(*Api().Get("/api/v1/nodes/local"));
  EXPECT_EQ(node["status"]["allocatable"]["nvidia.com/gpu"], "2") << "2 does not answer";
  const Json& labels = node["metadata"]["labels"];
  EXPECT_EQ(labels["nvidia.com/gpu.product"], "NVIDIA-H100-80GB-HBM3");
  EXPECT_EQ(labels["nvidia.com/gpu.count"], "2");
  EXPECT_EQ(labels["nvidia.com/gpu.memory"], "81559");
  const Json second = Json::parse(*Api().Get("/api/v1/nodes/local-2"));
  EXPECT_EQ(second["status"]["allocatable"].value("nvidia.com/gpu", "0"), "0");
  Json pod = Pod("a", "echo gpus $CUDA_VISIBLE_DEVICES by $CUDA_DEVICE_ORDER");
  pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "2";
  Create(pod);
  AwaitPhase("a", "Succeeded");
  EXPECT_THAT(ReadLog("a"), HasSubstr("gpus 0,1 by PCI_BUS_ID\n"));
}

// Symptom: one pod with a node of the user's choice and a count of GPUs that no node has grew the
// process until it was killed, and all jobs with it.
TEST_F(LocalClusterTest, APodThatAsksItsNodeForMoreGpusThanItHasFreeIsRefused) {
  options_.fake_gpus = {.count = 2, .gibibytes = 80};
  Start();
  const auto pod = [](const std::string& name, const char* gpus, const std::string& script) {
    Json out = Pod(name, script);
    out["spec"]["nodeName"] = "local";
    out["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = gpus;
    return out;
  };
  const auto why = [&](const std::string& name) {
    const Json status = Get(name)["status"];
    return status.value("reason", "") + ": " + status.value("message", "");
  };
  Create(pod("holds", "1", "exec sleep 1000"));
  AwaitPhase("holds", "Running");
  Create(pod("much", "1000000000000", "true"));
  AwaitPhase("much", "Failed");
  EXPECT_THAT(why("much"), HasSubstr("OutOfnvidia.com/gpu"));
  EXPECT_THAT(why("much"), HasSubstr("requested: 1000000000000, used: 1, capacity: 2"));
  Create(pod("two", "2", "true"));
  AwaitPhase("two", "Failed");
  EXPECT_THAT(why("two"), HasSubstr("requested: 2, used: 1, capacity: 2"));
  Create(pod("one", "1", "true"));
  AwaitPhase("one", "Succeeded");
}

// Symptom: a pod with a node of the user's choice got cpu and memory that the node does not have.
TEST_F(LocalClusterTest, APodThatAsksItsNodeForMoreThanIsFreeFailsAsAKubeletWouldSay) {
  Start();
  const auto pod = [](const std::string& name, const Json& requests) {
    Json out = Pod(name, "exec sleep 1000");
    out["spec"]["nodeName"] = "local";
    out["spec"]["containers"][0]["resources"]["requests"] = requests;
    return out;
  };
  const Json node = *Json::parse(Api().Get("/api/v1/nodes/local").value_or("{}")).find("status");
  const std::string cpu = node["allocatable"]["cpu"];
  Create(pod("holds", {{"cpu", "10m"}}));
  AwaitPhase("holds", "Running");
  Create(pod("all", {{"cpu", cpu}}));
  AwaitPhase("all", "Failed");
  Json status = Get("all")["status"];
  EXPECT_EQ(status["reason"], "OutOfcpu");
  EXPECT_THAT(status.value("message", ""),
              testing::StartsWith("Pod was rejected: Node didn't have enough resource: cpu, "));
  EXPECT_THAT(status.value("message", ""), HasSubstr("used: 10, capacity: "));
  // Else its reason would not stand in kubectl's column.
  EXPECT_FALSE(status.contains("containerStatuses")) << status.dump(1);
  Create(pod("much", {{"memory", "1000Ti"}}));
  AwaitPhase("much", "Failed");
  EXPECT_EQ(Get("much")["status"]["reason"], "OutOfmemory");
  std::string events;
  Await("the event", [&] {
    events = Api().Get("/api/v1/namespaces/default/events").value_or("");
    return events.find("OutOfmemory") != std::string::npos;
  });
  // What ran before is asked for no room again, and what it holds still counts.
  cluster_.reset();
  Start();
  Create(pod("again", {{"cpu", cpu}}));
  AwaitPhase("again", "Failed");
  EXPECT_EQ(Phase("holds"), "Running");
  ASSERT_THAT(Api().Delete("/api/v1/namespaces/default/pods/holds", R"({"gracePeriodSeconds":0})"),
              IsOk());
  AwaitPhase("holds", "gone");
  Create(pod("fits", {{"cpu", cpu}}));
  AwaitPhase("fits", "Running");
}

TEST_F(LocalClusterTest, APodWithAnOddStatusEndsNobody) {
  Start();
  Json odd = Pod("odd", "true");
  odd["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "100000";
  Create(odd);
  const auto refused = [&] {
    return Get("odd").dump().find("Insufficient cpu") != std::string::npos;
  };
  Await("the refusal", refused);
  for (const Json& status : {Json(), Json("odd"), Json{{"conditions", "odd"}}}) {
    Json object = Get("odd");
    object["status"] = status;
    (void)Api().Put(PodPath("default", "odd") + "/status", object.dump());
    Await("the refusal after " + status.dump(), refused);
  }
  Create(Pod("a", "true"));
  AwaitPhase("a", "Succeeded");
}

TEST_F(LocalClusterTest, PodsThatDoNotFitSayWhyAndRunWhenThereIsRoom) {
  options_.fake_gpus = {.count = 2, .gibibytes = 80};
  Start();
  Json first = Pod("a", "echo gpus $CUDA_VISIBLE_DEVICES; while [ ! -e " + options_.dir +
                            "/go ]; do sleep 0.05; done");
  first["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "2";
  Create(first);
  AwaitPhase("a", "Running");
  Json second = Pod("b", "echo gpus $CUDA_VISIBLE_DEVICES");
  second["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "1";
  Create(second);
  const auto message = [&] {
    for (const Json& condition : Get("b")["status"].value("conditions", Json::array())) {
      if (condition["type"] == "PodScheduled") return condition.value("message", "");
    }
    return std::string();
  };
  Await("the reason", [&] {
    return message() == "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.";
  });
  ASSERT_THAT(disk_.WriteAtomically(options_.dir + "/go", ""), IsOk());
  AwaitPhase("b", "Succeeded");
  EXPECT_THAT(ReadLog("a"), HasSubstr("gpus 0,1\n"));
  EXPECT_THAT(ReadLog("b"), HasSubstr("gpus 0\n"));
}

TEST_F(LocalClusterTest, AnImageWithoutACommandFailsWithASentence) {
  Start();
  Json pod = Pod("a", "");
  pod["spec"]["containers"][0].erase("command");
  Create(pod);
  AwaitPhase("a", "Failed");
  const Json terminated = Get("a")["status"]["containerStatuses"][0]["state"]["terminated"];
  EXPECT_EQ(terminated["reason"], "StartError");
  EXPECT_THAT(terminated.value("message", ""), HasSubstr("the local cluster pulls no images"));
}

// Symptom: a pod of 3 KB whose variables double took all memory: the cluster was gone, and died
// again at each start, so that nobody could delete the pod.
TEST_F(LocalClusterTest, AnEnvironmentThatDoublesFailsItsContainerAndNothingElse) {
  Start();
  const auto doubling = [](const std::string& name) {
    Json pod = Pod(name, "true");
    Json& env = pod["spec"]["containers"][0]["env"];
    env = Json::array({{{"name", "A0"}, {"value", std::string(64, 'x')}}});
    for (int i = 1; i < 40; ++i) {
      const std::string before = "$(A" + std::to_string(i - 1) + ")";
      env.push_back({{"name", "A" + std::to_string(i)}, {"value", before + before}});
    }
    return pod;
  };
  Create(doubling("never"));
  Json again = doubling("again");
  again["spec"]["restartPolicy"] = "Always";
  Create(again);
  AwaitPhase("never", "Failed");
  const Json terminated = Get("never")["status"]["containerStatuses"][0]["state"]["terminated"];
  EXPECT_EQ(terminated["reason"], "StartError");
  EXPECT_EQ(terminated["exitCode"], 128);
  EXPECT_THAT(terminated.value("message", ""), HasSubstr("the variable A11 has more than"));
  const auto waiting = [&] {
    return Get("again")["status"].value("/containerStatuses/0/state/waiting/reason"_json_pointer,
                                        "");
  };
  Await("the back-off", [&] { return waiting() == "CrashLoopBackOff"; });
  cluster_.reset();
  Start();
  Create(Pod("other", "true"));
  AwaitPhase("other", "Succeeded");
  for (const char* name : {"never", "again"}) {
    ASSERT_THAT(Api().Delete(PodPath("default", name), ""), IsOk());
    AwaitPhase(name, "gone");
  }
}

TEST_F(LocalClusterTest, VolumesAreBoundDirectoriesAndOnesOfTheCluster) {
  const std::string mine = options_.dir + "/mine";
  options_.volume_bindings["data"] = mine;
  ASSERT_THAT(disk_.MakeDirs(mine), IsOk());
  ASSERT_THAT(disk_.WriteAtomically(mine + "/in", "given\n"), IsOk());
  options_.dir += "/cluster";
  Start();
  Json pod = Pod("a", "cat /taas-data/in > /taas-out/copied");
  pod["spec"]["volumes"] =
      Json::array({{{"name", "d"}, {"persistentVolumeClaim", {{"claimName", "data"}}}},
                   {{"name", "o"}, {"persistentVolumeClaim", {{"claimName", "out"}}}}});
  pod["spec"]["containers"][0]["volumeMounts"] =
      Json::array({{{"name", "d"}, {"mountPath", "/taas-data"}, {"readOnly", true}},
                   {{"name", "o"}, {"mountPath", "/taas-out"}}});
  Create(pod);
  AwaitPhase("a", "Succeeded");
  EXPECT_EQ(FileText("volumes/default/out/copied"), "given\n");
}

TEST_F(LocalClusterTest, OnFailureRestartsTheContainerAndCountsIt) {
  Start();
  Json pod = Pod("a", "if [ -e " + options_.dir + "/second ]; then echo two; else touch " +
                          options_.dir + "/second; echo one; exit 1; fi");
  pod["spec"]["restartPolicy"] = "OnFailure";
  Create(pod);
  AwaitPhase("a", "Succeeded");
  EXPECT_EQ(Get("a")["status"]["containerStatuses"][0]["restartCount"], 1);
  EXPECT_THAT(ReadLog("a"), HasSubstr("two"));
}

// Symptom: a pod whose files could not be written was "ContainerCreating" for ever; only the log of
// the cluster knew why.
TEST_F(LocalClusterTest, APodWhoseFilesCannotBeWrittenSaysWhyAndIsTriedAgain) {
  Start();
  const std::string ns = "/api/v1/namespaces/default/";
  const std::string name(200, 'k');
  const Json map = {{"metadata", {{"name", "m"}}}, {"data", {{name, "x"}}}};
  ASSERT_THAT(Api().Post(ns + "configmaps", map.dump()), IsOk());
  Json pod = Pod("a", "exec sleep 1000");
  pod["spec"]["volumes"] = Json::array(
      {{{"name", "v"},
        {"configMap",
         {{"name", "m"}, {"items", Json::array({{{"key", name}, {"path", name + name}}})}}}}});
  pod["spec"]["containers"][0]["volumeMounts"] =
      Json::array({{{"name", "v"}, {"mountPath", "/etc/taas-test"}}});
  Create(pod);
  const auto waiting = [&](const std::string& field) {
    const Json::json_pointer at("/containerStatuses/0/state/waiting/" + field);
    return Get("a")["status"].value(at, "");
  };
  Await("the reason", [&] { return waiting("reason") == "CreateContainerError"; });
  EXPECT_THAT(waiting("message"), HasSubstr("File name too long"));
  Create(Pod("b", "true"));
  AwaitPhase("b", "Succeeded");
  ASSERT_THAT(Api().Delete(PodPath("default", "a"), ""), IsOk());
  AwaitPhase("a", "gone");
}

// Symptom: a container that put pipes or links where its log and its last words are read hung
// whoever read them, or showed other files.
TEST_F(LocalClusterTest, PipesAndLinksThatAContainerPutsInPlaceOfItsFilesAreNotRead) {
  Start();
  Create(Pod("pipes", "cd $TAAS_RUN_DIR; for f in log log.1 termination-log state.json; do "
                      "rm -f $f; mkfifo $f; done; exit 3"));
  Create(Pod("links", "cd $TAAS_RUN_DIR; for f in log log.1 termination-log; do "
                      "rm -f $f; ln -s /etc/passwd $f; done; exit 3"));
  Create(Pod("large", "truncate -s 1T $TAAS_TERMINATION_LOG; exit 3"));
  for (const char* name : {"pipes", "links", "large"}) {
    AwaitPhase(name, "Failed");
    const Json terminated = Get(name)["status"]["containerStatuses"][0]["state"]["terminated"];
    EXPECT_EQ(terminated["exitCode"], 3) << name;
    EXPECT_THAT(terminated.value("message", ""), testing::Not(HasSubstr("root"))) << name;
    EXPECT_EQ(ReadLog(name), "") << name;
    ASSERT_THAT(Api().Delete(PodPath("default", name), ""), IsOk());
    AwaitPhase(name, "gone");
  }
}

// Symptom: a container that crashes for a week filled the disk with the logs of all its runs.
TEST_F(LocalClusterTest, OfRunsBeforeThePreviousNoLogIsKept) {
  Start();
  Json pod = Pod("a", "echo run >> " + options_.dir + "/count; echo text; exit 1");
  pod["spec"]["restartPolicy"] = "Always";
  Create(pod);
  const PodDirs& dirs = cluster_->pod_dirs();
  const std::string uid = Get("a")["metadata"]["uid"];
  // The third run comes after the kubelet's first wait of ten seconds.
  Await("the third run", [&] { return FileText("count") == "run\nrun\nrun\n"; });
  Await("the first run's log to go",
        [&] { return !disk_.Exists(dirs.Run(uid, "c", 0).log).value_or(true); });
  EXPECT_TRUE(disk_.Exists(dirs.Run(uid, "c", 1).log).value_or(false));
  EXPECT_TRUE(disk_.Exists(dirs.Run(uid, "c", 0).exit).value_or(false)) << "it counts as a crash";
}

TEST_F(LocalClusterTest, ConfigMapsAndSecretsReachTheContainerAsSoonAsTheyExist) {
  Start();
  Json pod = Pod("a", "echo $LEVEL; cat /etc/taas-test/key; exit 0");
  Json& container = pod["spec"]["containers"][0];
  container["envFrom"] = Json::array({{{"configMapRef", {{"name", "m"}}}}});
  container["volumeMounts"] = Json::array({{{"name", "s"}, {"mountPath", "/etc/taas-test"}}});
  pod["spec"]["volumes"] = Json::array({{{"name", "s"}, {"secret", {{"secretName", "s"}}}}});
  Create(pod);
  const auto waiting = [&] {
    return Get("a")["status"].value("/containerStatuses/0/state/waiting/message"_json_pointer, "");
  };
  Await("the reason", [&] { return waiting() == "configmap \"m\" not found"; });
  const std::string ns = "/api/v1/namespaces/default/";
  ASSERT_THAT(Api().Post(ns + "configmaps",
                         R"({"metadata":{"name":"m"},"data":{"LEVEL":"debug"}})"),
              IsOk());
  ASSERT_THAT(Api().Post(ns + "secrets",
                         R"({"metadata":{"name":"s"},"stringData":{"key":"word\n"}})"),
              IsOk());
  AwaitPhase("a", "Succeeded");
  EXPECT_THAT(ReadLog("a"), HasSubstr("stdout F debug\n"));
  EXPECT_THAT(ReadLog("a"), HasSubstr("stdout F word\n"));
}

TEST_F(LocalClusterTest, InitContainersRunBeforeTheOthersAndEventsTellIt) {
  Start();
  const std::string count = options_.dir + "/count";
  Json pod = Pod("a", "echo main >> " + count);
  pod["spec"]["initContainers"] = Json::array(
      {{{"name", "first"},
        {"image", "own"},
        {"command", {"/bin/sh", "-c", "sleep 0.2; echo first >> " + count}}}});
  Create(pod);
  AwaitPhase("a", "Succeeded");
  EXPECT_EQ(FileText("count"), "first\nmain\n");
  std::string events;
  Await("the events", [&] {
    events = Api().Get("/api/v1/namespaces/default/events").value_or("");
    return events.find("Started container c") != std::string::npos;
  });
  EXPECT_THAT(events, HasSubstr("Successfully assigned default/a to local"));
  EXPECT_THAT(events, HasSubstr("Started container first"));
  EXPECT_THAT(events, HasSubstr("is not pulled"));
}

class ManyNodesTest : public LocalClusterTest {
 protected:
  ManyNodesTest() {
    options_.nodes = 2;
    options_.fake_gpus = {.count = 2, .gibibytes = 80};
    options_.trainer_path = "/bin/false";
  }
  static Json GpuPod(const std::string& name, int gpus) {
    Json pod = Pod(name, "echo slots=$CUDA_VISIBLE_DEVICES; exec sleep 600");
    pod["spec"]["containers"][0]["resources"] = {
        {"limits", {{"nvidia.com/gpu", std::to_string(gpus)}}}};
    return pod;
  }
  std::string NodeOf(const std::string& name) { return Get(name)["spec"].value("nodeName", ""); }
  std::string Refusal(const std::string& name) {
    for (const Json& condition : Get(name)["status"].value("conditions", Json::array())) {
      if (condition["type"] == "PodScheduled") return condition.value("message", "");
    }
    return "";
  }
  void PatchNode(const std::string& name, const Json& patch) {
    ASSERT_THAT(Api().Patch("/api/v1/nodes/" + name, patch.dump()), IsOk());
  }
};

TEST_F(ManyNodesTest, PodsSpreadGetSlotsOfTheirNodeAndSayWhenNoneIsLeft) {
  Start();
  for (const char* name : {"a", "b", "c", "d"}) Create(GpuPod(name, 1));
  std::map<std::string, int> nodes;
  for (const char* name : {"a", "b", "c", "d"}) {
    AwaitPhase(name, "Running");
    ++nodes[NodeOf(name)];
  }
  EXPECT_EQ(nodes["local"], 2);
  EXPECT_EQ(nodes["local-2"], 2);
  std::map<std::string, int> slots;
  for (const char* name : {"a", "b", "c", "d"}) {
    Await("the log", [&] { return ReadLog(name).find("slots=") != std::string::npos; });
    const std::string log = ReadLog(name);
    ++slots[NodeOf(name) + " " + log.substr(log.find("slots=") + 6, 1)];
  }
  EXPECT_EQ(slots.size(), 4u) << "each slot of each node is given once";
  Create(GpuPod("e", 1));
  Await("the refusal", [&] {
    return Refusal("e") == "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.";
  });
}

TEST_F(ManyNodesTest, ACordonedNodeGetsNoPodsAndATaintTakesThemOff) {
  Start();
  PatchNode("local", {{"spec", {{"unschedulable", true}}}});
  Create(GpuPod("a", 1));
  AwaitPhase("a", "Running");
  EXPECT_EQ(NodeOf("a"), "local-2");
  Json tolerant = GpuPod("b", 1);
  tolerant["spec"]["tolerations"] = Json::array({{{"operator", "Exists"}}});
  Create(tolerant);
  AwaitPhase("b", "Running");
  PatchNode("local-2", {{"spec", {{"taints", Json::array({{{"key", "lost"},
                                                           {"effect", "NoExecute"}}})}}}});
  AwaitPhase("a", "gone");
  EXPECT_EQ(Phase("b"), "Running");
  Create(GpuPod("c", 1));
  Await("the refusal", [&] {
    return Refusal("c") ==
           "0/2 nodes are available: 1 node(s) had untolerated taint {lost: }, 1 node(s) were "
           "unschedulable.";
  });
  PatchNode("local", {{"spec", {{"unschedulable", nullptr}}}});
  AwaitPhase("c", "Running");
}

TEST_F(ManyNodesTest, PodsOfANodeThatIsNoMoreAreTakenAwayAndTheLabelsOfTheOthersStay) {
  Start();
  PatchNode("local", {{"metadata", {{"labels", {{"nvidia.com/gpu.product", "H100"}}}}}});
  Json pod = GpuPod("a", 1);
  pod["spec"]["nodeSelector"] = {{"kubernetes.io/hostname", "local-2"}};
  Create(pod);
  AwaitPhase("a", "Running");
  cluster_.reset();
  options_.nodes = 1;
  Start();
  AwaitPhase("a", "gone");
  EXPECT_TRUE(absl::IsNotFound(Api().Get("/api/v1/nodes/local-2").status()));
  Json chosen = GpuPod("b", 1);
  chosen["spec"]["nodeSelector"] = {{"nvidia.com/gpu.product", "H100"}};
  Create(chosen);
  AwaitPhase("b", "Running");
}

TEST_F(LocalClusterTest, EndPodsLeavesNoProcess) {
  Start();
  Create(Pod("a", "trap '' TERM; echo ready; setsid sleep 1000 & while :; do sleep 1000; done"));
  Await("ready", [&] { return ReadLog("a").find("ready") != std::string::npos; });
  ASSERT_THAT(cluster_->EndPods(50ms), IsOk());
  EXPECT_EQ(KillLeftovers(disk_, options_.dir), 0);
}

}  // namespace
}  // namespace taas::localkube
