#include "cli/taas_app.h"

#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "cli/command_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/command_line.h"
#include "operator/kube/test_server.h"
#include "third_party/json.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string JobJson(const std::string& state, const std::string& message,
                    const std::string& ended = "") {
  return R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob","metadata":{"namespace":"team",)"
         R"("name":"mnist","uid":"u","resourceVersion":"5"},)"
         R"("spec":{"trainer":{},"roles":{"worker":{"replicas":1}}},"status":{"state":")" +
         state + R"(","history":[)" + ended + R"(],"ready":"1/1","message":")" + message + R"("}})";
}
std::string PodJson(const std::string& role, int index) {
  const std::string i = std::to_string(index);
  return R"({"metadata":{"namespace":"team","name":"mnist-)" + role + "-" + i + R"(","uid":")" +
         role + i + R"(","resourceVersion":"4","labels":{"taas.dev/job-name":"mnist",)" +
         R"("taas.dev/role":")" + role + R"(","taas.dev/index":")" + i +
         R"("}},"status":{"phase":"Running"}})";
}

class TaasAppTest : public CommandFixture {
 protected:
  TaasAppTest() : CommandFixture("cli") { UseServer(server_.url()); }

  bool Answer(const TestServer::Request& request, TestServer::Connection& to) {
    const std::string& target = request.target;
    const auto has = [&](const char* part) { return target.find(part) != std::string::npos; };
    if (has("watch=true")) {
      to.StartChunks(200);
      return to.WaitForClose();
    }
    if (request.method != "GET" && !warnings_.empty()) {
      return to.Reply(201, JobJson(state_, message_), warnings_);
    }
    if (request.method == "POST") return to.Reply(201, request.body);
    if (has("/metrics.k8s.io/")) return to.Reply(metrics_code_, metrics_body_);
    if (has("/api/v1/nodes")) return to.Reply(200, List(R"({"metadata":{"name":"n1"}})"));
    if (has("/log")) {
      if (has("worker-0")) return to.Reply(200, "2026-11-21T05:54:17.2Z w\n");
      return to.Reply(200, "2026-11-21T05:54:17.1Z p1\n2026-11-21T05:54:18Z p2\n");
    }
    if (has("/pods?") && !ended_.empty()) return to.Reply(200, List(""));
    if (has("/pods?")) return to.Reply(200, List(PodJson("worker", 0) + "," + PodJson("ps", 0)));
    if (has(("/trainingjobs/" + missing_).c_str())) {
      return to.Reply(404, R"({"reason":"NotFound","message":"no gone","code":404})");
    }
    if (has("/trainingjobs/")) return to.Reply(200, JobJson(state_, message_, ended_));
    if (has("/trainingjobs?")) return to.Reply(200, List(JobJson(state_, message_)));
    return to.Reply(404, "{}");
  }

  std::string state_ = "Running";
  std::string message_ = "worker-0 exited with 1";
  std::string missing_ = "gone";
  std::string ended_;  // A restart, of a job that has no pods now.
  std::string warnings_;  // Headers of what answers a write.
  // As a kube-apiserver answers for a group that nobody has registered.
  int metrics_code_ = 404;
  std::string metrics_body_ = "404 page not found\n";
  TestServer server_{[this](const TestServer::Request& request, TestServer::Connection& to) {
    return Answer(request, to);
  }};
};

TEST_F(TaasAppTest, ListPrintsATableOfTheContextsNamespace) {
  EXPECT_EQ(Run({"list"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("NAME "), HasSubstr("mnist   Running   1/1")));
  EXPECT_THAT(server_.requests()[0].target, HasSubstr("/namespaces/team/trainingjobs?"));
}

TEST_F(TaasAppTest, ListOfAllNamespacesAndOtherFormats) {
  EXPECT_EQ(Run({"list", "-A"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("NAMESPACE"));
  EXPECT_THAT(server_.requests()[0].target, Not(HasSubstr("namespaces")));
  EXPECT_EQ(Run({"list", "-o", "name"}), 0);
  EXPECT_EQ(out_.str(), "trainingjob.taas.dev/mnist\n");
  EXPECT_EQ(Run({"list", "-o", "json"}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("\"kind\": \"List\""), HasSubstr("\"name\": \"mnist\"")));
}

TEST_F(TaasAppTest, LogsOfAllReplicasAreMergedInTheOrderOfTime) {
  EXPECT_EQ(Run({"logs", "mnist"}), 0) << err_.str();
  EXPECT_EQ(out_.str(), "[ps-0] p1\n[worker-0] w\n[ps-0] p2\n");
}

TEST_F(TaasAppTest, LogsOfOneRole) {
  EXPECT_EQ(Run({"logs", "mnist", "--role", "worker", "--index", "0"}), 0) << err_.str();
  EXPECT_EQ(out_.str(), "[worker-0] w\n");
}

// Symptom: between two pods of a job that is killed again and again it said "No pods" and no more.
TEST_F(TaasAppTest, LogsBetweenTwoPodsSayHowTheLastOneEnded) {
  ended_ = R"({"role":"worker","index":0,"attempt":1,"podNumber":2,"cause":"outOfMemory",)"
           R"("exitCode":137,"message":"killed","time":"2026-11-21T05:54:17Z"})";
  EXPECT_EQ(Run({"logs", "mnist"}), 0) << err_.str();
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("No pods of job team/mnist.\nworker-0 ended "),
                                HasSubstr(" ago (outOfMemory, exit code 137).\n")));
}

TEST_F(TaasAppTest, AJobThatIsNotThereIsExitCodeThree) {
  EXPECT_EQ(Run({"logs", "gone"}), 3);
  EXPECT_THAT(err_.str(), HasSubstr("get job team/gone: 404 NotFound"));
  EXPECT_EQ(Run({"wait", "gone"}), 3);
  EXPECT_THAT(err_.str(), Not(HasSubstr("did you mean")));
}

// Symptom: `taas get mnst` named no job that there is.
TEST_F(TaasAppTest, AJobThatIsNotThereIsToldWithTheOneThatWasProbablyMeant) {
  missing_ = "mnst";
  EXPECT_EQ(Run({"get", "mnst"}), 3);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("get job team/mnst: 404"),
                                HasSubstr("did you mean \"mnist\"?")));
  EXPECT_EQ(Run({"describe", "tj/mnst"}), 3);
  EXPECT_THAT(err_.str(), HasSubstr("did you mean \"mnist\"?"));
}

TEST_F(TaasAppTest, WaitEndsWhenTheStateIsThere) {
  state_ = "Succeeded";
  EXPECT_EQ(Run({"wait", "mnist"}), 0) << err_.str();
  EXPECT_EQ(Run({"wait", "mnist", "--for", "Ended"}), 0) << err_.str();
}

TEST_F(TaasAppTest, WaitFailsWhenTheJobEndedOtherwiseAndSaysWhy) {
  state_ = "Failed";
  EXPECT_EQ(Run({"wait", "mnist"}), 1);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("ended as Failed"), HasSubstr("worker-0 exited with 1")));
  EXPECT_EQ(Run({"wait", "mnist", "--for", "Failed"}), 0) << err_.str();
}

TEST_F(TaasAppTest, WaitGivesUpAfterItsTimeout) {
  EXPECT_EQ(Run({"wait", "mnist", "--timeout", "1s"}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("not Succeeded after 1 s"));
}

// Of a job whose status cannot be read `taas list` said nothing but an error, with exit code 0, and
// `taas suspend` and `taas delete` failed.
TEST_F(TaasAppTest, AJobWhoseStatusCannotBeReadIsListedWithTheReasonAndObeys) {
  state_ = R"(Running","attempt":"first)";
  const auto reason = HasSubstr("decode TrainingJob team/mnist: status.attempt: ");
  EXPECT_EQ(Run({"list"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("mnist   Unreadable   -"));
  EXPECT_THAT(err_.str(), reason);
  EXPECT_EQ(Run({"list", "-o", "wide"}), 0);
  EXPECT_THAT(out_.str(), reason);
  EXPECT_EQ(Run({"list", "--state", "Running", "-o", "name"}), 0);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(), reason) << "it may be one of these";
  EXPECT_EQ(Run({"list", "--state", "Unreadable", "-o", "name"}), 0);
  EXPECT_EQ(out_.str(), "trainingjob.taas.dev/mnist\n");
  EXPECT_EQ(Run({"get", "mnist", "-o", "json"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("\"attempt\": \"first\""));
  EXPECT_EQ(Run({"describe", "mnist"}), 0);
  EXPECT_THAT(out_.str(), testing::StartsWith("mnist cannot be read: decode TrainingJob"));
  EXPECT_EQ(Run({"wait", "mnist"}), 1);
  EXPECT_THAT(err_.str(), reason);
  EXPECT_EQ(Run({"wait", "mnist", "--for", "Deleted", "--timeout", "1s"}), 4) << err_.str();
  EXPECT_EQ(Run({"logs", "mnist"}), 0) << err_.str();
  EXPECT_EQ(Run({"top", "jobs"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("mnist   TrainingJob   Unreadable"));
  EXPECT_EQ(Run({"scale", "mnist", "--replicas", "2"}), 0) << err_.str();
  EXPECT_EQ(Run({"suspend", "mnist"}), 0) << err_.str();
  EXPECT_EQ(server_.requests().back().method, "PATCH");
  EXPECT_EQ(Run({"delete", "mnist", "--no-wait"}), 0) << err_.str();
  EXPECT_EQ(server_.requests().back().method, "DELETE");
}

// `taas submit` kept to itself what `kubectl apply` says: that the claim had no data.
TEST_F(TaasAppTest, WarningsOfTheServerArePrintedByEveryVerbThatWrites) {
  warnings_ = "Warning: 299 - \"the claim data is empty\"\r\nWarning: 299 - \"and old\"\r\n";
  const std::string said = "Warning: the claim data is empty\nWarning: and old\n";
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"submit", "--detach", "--name", "mnist", "--image", "i", "--workers", "1"},
           {"submit", "--dry-run", "server", "--name", "mnist", "--image", "i", "--workers", "1"},
           {"suspend", "mnist"},
           {"scale", "mnist", "--replicas", "7"},
           {"delete", "mnist", "--no-wait"}}) {
    EXPECT_EQ(Run(words), 0) << words[0] << err_.str();
    EXPECT_THAT(err_.str(), HasSubstr(said)) << words[0];
  }
  EXPECT_EQ(Run({"delete", "mnist", "mnist", "--no-wait"}), 0);
  EXPECT_EQ(err_.str(), said) << "each once";
}

// What a program told at /status set the title of the terminal of whoever described the job.
TEST_F(TaasAppTest, NothingThatATenantWroteIsCarriedOutByTheTerminal) {
  message_ = R"(\u001b]0;title\u0007 \u202egnp\r\u0000 \u009b31m)";
  state_ = "Failed";
  const std::string shown = "\\u001b]0;title\\u0007 \\u202egnp\\u000d\\u0000 \\u009b31m";
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"list", "-o", "wide"}, {"describe", "mnist"}, {"wait", "mnist"},
           {"get", "mnist", "-o", "json"}, {"get", "mnist", "-o", "yaml"}}) {
    Run(words);
    const std::string all = out_.str() + err_.str();
    EXPECT_THAT(all, HasSubstr("title")) << words[0];
    for (const char* bad : {"\033", "\a", "\r", "\u202E", "\xC2\x9B"}) {
      EXPECT_THAT(all, Not(HasSubstr(bad))) << words[0];
    }
    EXPECT_EQ(all.find('\0'), std::string::npos) << words[0];
    if (words[0] == "get") continue;
    EXPECT_THAT(all, HasSubstr(shown)) << words[0];
  }
  // What is data goes on being that data.
  const std::string message = std::string("\033]0;title\a \u202Egnp\r\0 \xC2\x9B"
                                          "31m", 25);
  Run({"get", "mnist", "-o", "json"});
  EXPECT_EQ(nlohmann::json::parse(out_.str())["status"]["message"], message);
  Run({"get", "mnist", "-o", "yaml"});
  EXPECT_THAT(out_.str(), HasSubstr("message: \"\\u001b]0;title\\u0007 \\u202egnp"));
}

// `truncate -s 10T f; taas validate -f f` took memory until it was killed, `KUBECONFIG=f taas list`
// died of std::bad_alloc.
TEST_F(TaasAppTest, AFileWithoutEndIsAMessage) {
  const std::string path = Write("endless", "");
  ASSERT_EQ(::truncate(path.c_str(), int64_t{1} << 40), 0);
  EXPECT_EQ(Run({"validate", "-f", path}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("endless: longer than 64 MiB"));
  EXPECT_EQ(Run({"submit", "-f", "/dev/zero"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("/dev/zero: longer than 64 MiB"));
  EXPECT_EQ(Run({"list", "--kubeconfig", path}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("endless: longer than 8 MiB"));
  const std::string config = Write("tokens",
                                   "current-context: c\n"
                                   "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                                   "users: [{name: u, user: {tokenFile: " +
                                       path + "}}]\nclusters: [{name: c, cluster: {server: \"" +
                                       server_.url() + "\"}}]\n");
  EXPECT_EQ(Run({"list", "--kubeconfig", config}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("endless: longer than 1 MiB"));
}

TEST_F(TaasAppTest, MemoryThatIsNotThereIsAnErrorLikeOthers) {
  const auto hungry = [](Command& app, int*) {
    app.AddCommand({.name = "hungry", .about = ""}).OnRun([] { throw std::bad_alloc(); });
  };
  EXPECT_EQ(RunTaas({"hungry"}, io_, hungry), 1);
  EXPECT_THAT(err_.str(), HasSubstr("not enough memory"));
}

// All of these said "A subcommand is required".
TEST_F(TaasAppTest, WhoNamesNoVerbIsToldWhichThereAre) {
  EXPECT_EQ(Run({"lits"}), 2);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("there is no command lits; did you mean \"list\"?"),
                                HasSubstr("Commands: submit, list, ")));
  EXPECT_EQ(Run({"top", "gpu"}), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("taas top: there is no command gpu\nCommands: node, job, pod\n"));
  EXPECT_EQ(Run({}), 0) << "as kubectl";
  EXPECT_THAT(out_.str(), HasSubstr("Exit codes: 0 ok"));
  EXPECT_EQ(Run({"help"}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("Exit codes: 0 ok"), HasSubstr("data ")));
  EXPECT_EQ(Run({"help", "wait"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("--for"));
  for (const char* many : {"nodes", "jobs", "pods"}) {
    EXPECT_EQ(Run({"top", many}), 0) << many << err_.str();
  }
}

// It stopped at the first that was there already, and said nothing of the others.
TEST_F(TaasAppTest, OneJobThatCannotBeMadeKeepsNoOther) {
  const std::string job =
      "apiVersion: taas.dev/v1\nkind: TrainingJob\nmetadata: {name: NAME, namespace: SPACE}\n"
      "spec: {roles: {worker: {template: {spec: {containers: [{name: trainer, image: i}]}}}}}\n";
  const auto of = [&](const std::string& name, const std::string& ns) {
    std::string text = job;
    text.replace(text.find("NAME"), 4, name);
    return text.replace(text.find("SPACE"), 5, ns);
  };
  const std::string path =
      Write("several.yaml",
            of("a", "team") + "---\n" + of("b", "other") + "---\n" + of("c", "team"));
  EXPECT_EQ(Run({"submit", "-f", path, "-n", "team", "--detach"}), 1);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("/a created"), HasSubstr("the namespace is other"),
                                HasSubstr("/c created"),
                                HasSubstr("1 of 3 jobs were not created")));
}

TEST_F(TaasAppTest, WrongUsageIsExitCodeTwo) {
  EXPECT_EQ(Run({"dance"}), 2);
  EXPECT_EQ(Run({"list", "-o", "xml"}), 2);
  EXPECT_EQ(Run({"wait", "mnist", "--timeout", "soon"}), 2);
  EXPECT_EQ(Run({"--help"}), 0);
}

TEST_F(TaasAppTest, NoClusterIsSaidWithWhatToDo) {
  EXPECT_EQ(Run({"list", "--kubeconfig", "/nonexistent"}), 3);
  EXPECT_THAT(err_.str(), HasSubstr("/nonexistent"));
}

// taas died of SIGABRT: null is what a template leaves where it had no value.
TEST_F(TaasAppTest, AMemberOfTheMetadataThatIsNullIsAbsent) {
  const auto manifest = [this](const std::string& metadata) {
    return Write("null.yaml", "apiVersion: taas.dev/v1\nkind: TrainingJob\nmetadata: {" + metadata +
                                  "}\nspec: {roles: {worker: {template: {spec: {containers: "
                                  "[{name: trainer, image: i}]}}}}}\n");
  };
  EXPECT_EQ(Run({"validate", "-f", manifest("generateName:")}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("name or generateName is required"));
  EXPECT_EQ(Run({"validate", "-f", manifest("name:, generateName:")}), 1);
  EXPECT_EQ(Run({"submit", "--detach", "-f", manifest("name: a, namespace:, generateName:")}), 0)
      << err_.str();
  EXPECT_THAT(server_.requests()[0].target, HasSubstr("/namespaces/team/trainingjobs?"));
  EXPECT_THAT(err_.str(), HasSubstr("/a created"));
}

TEST_F(TaasAppTest, AnObjectOfAFormThatNobodyForesawIsAnErrorLikeOthers) {
  const auto surprise = [](Command& app, int*) {
    app.AddCommand({.name = "surprise", .about = ""}).OnRun([] {
      nlohmann::json({{"spec", nullptr}}).at("spec").at("roles");
    });
  };
  EXPECT_EQ(RunTaas({"surprise"}, io_, surprise), 1);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("taas: read an object: "), HasSubstr("null")));
}

TEST_F(TaasAppTest, VersionIsPrinted) {
  EXPECT_EQ(Run({"version"}), 0);
  const std::string said = out_.str();
  EXPECT_THAT(said, testing::MatchesRegex("taas [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  out_.str("");
  EXPECT_EQ(Run({"--version"}), 0);
  EXPECT_EQ(out_.str(), said);
}

TEST_F(TaasAppTest, TopGoesWithoutUsageWhereNobodyMeasuresIt) {
  EXPECT_EQ(Run({"top", "node", "--details"}), 0);
  EXPECT_EQ(err_.str(), "") << "a cluster without metrics-server is a usual one";
  EXPECT_THAT(out_.str(), HasSubstr("n1          Unknown     -          0            0           "
                                    "0            0           -           0            0           "
                                    "-           0\n"));
  EXPECT_EQ(Run({"top", "job"}), 0);
  EXPECT_EQ(err_.str(), "");
  EXPECT_THAT(out_.str(), HasSubstr("mnist   TrainingJob   Running   0/0    0             0     "
                                    "       0           0           -           -\n"));
}

TEST_F(TaasAppTest, TopSaysWhyItGoesWithoutUsage) {
  metrics_code_ = 403;
  metrics_body_ =
      R"({"reason":"Forbidden","message":"pods.metrics.k8s.io is forbidden","code":403})";
  EXPECT_EQ(Run({"top", "job"}), 0) << "the table is there all the same";
  EXPECT_THAT(out_.str(), HasSubstr("mnist   TrainingJob"));
  EXPECT_THAT(err_.str(), HasSubstr("pods.metrics.k8s.io is forbidden; CPU(USED) and MEM(USED)"));
}

}  // namespace
}  // namespace taas
