// The program `taas` with real processes: whole jobs on clusters of their own, and what is left of
// them.

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <set>

#include "cli/local/apply.h"
#include "cli/local/local_session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/node/api_calls.h"
#include "localkube/node/container_run.h"
#include "operator/base/clock.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr auto kPatience = 120s;
// Half a second each; TAAS_CHAOS_KILLS asks for more.
constexpr int kKills = 50;
// So that the job trains as long as it is disturbed: some 0.4 s for each kill.
constexpr int kStepsPerKill = 1000;

std::string RealPath(const char* path) {
  char* real = ::realpath(path, nullptr);
  const std::string out = real != nullptr ? real : path;
  std::free(real);
  return out;
}

std::string JobText(const std::string& name, const std::string& model, int steps) {
  Json job = Json::parse(R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob","spec":{"trainer":{
      "data":{"format":"generated",
              "generated":{"examples":2000,"testExamples":500,"features":64,"classes":10}},
      "strategy":{"type":"ParameterServer","mode":"Async"},
      "optimizer":{"name":"sgd","learningRate":0.1},"batchSize":100},
      "roles":{"chief":{"replicas":1},"ps":{"replicas":2},"worker":{"replicas":2}}}})");
  job["metadata"]["name"] = name;
  job["spec"]["trainer"]["model"] = Json::parse(model);
  job["spec"]["trainer"]["maxSteps"] = steps;
  return job.dump();
}

class LocalCiTest : public testing::Test {
 protected:
  LocalCiTest() : dir_(testing::TempDir() + "/ciXXXXXX") {
    EXPECT_NE(::mkdtemp(dir_.data()), nullptr);
    // As programs print it: TempDir ends with a slash.
    char* real = ::realpath(dir_.c_str(), nullptr);
    dir_ = real != nullptr ? real : dir_;
    std::free(real);
    EXPECT_THAT(disk_.MakeDirs(dir_ + "/tmp"), IsOk());
    ::setenv("TMPDIR", (dir_ + "/tmp").c_str(), 1);
  }
  ~LocalCiTest() override {
    EXPECT_THAT(localkube::EndAllRuns(disk_, clock_, localkube::PodDirs(dir_ + "/d/pods"), 0ms),
                IsOk());
    EXPECT_EQ(localkube::KillLeftovers(disk_, dir_), 0) << "processes were left";
  }

  std::string Write(const std::string& name, const std::string& text) {
    EXPECT_THAT(disk_.WriteAtomically(dir_ + "/" + name, text), IsOk());
    return dir_ + "/" + name;
  }
  std::string Read(const std::string& name) {
    return disk_.ReadAll(dir_ + "/" + name).value_or("");
  }
  pid_t StartTaas(std::vector<std::string> args) {
    args.insert(args.begin(), taas_);
    std::vector<char*> argv;
    for (std::string& arg : args) argv.push_back(arg.data());
    argv.push_back(nullptr);
    const std::string out = dir_ + "/out";
    const std::string err = dir_ + "/err";
    // What an earlier program said is not what this one says.
    EXPECT_THAT(disk_.Remove(out), IsOk());
    EXPECT_THAT(disk_.Remove(err), IsOk());
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int Join(pid_t pid) {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int Taas(const std::vector<std::string>& args) { return Join(StartTaas(args)); }
  void Await(const char* what, const std::function<bool()>& done) {
    const Clock::Time deadline = clock_.Now() + kPatience;
    while (!done()) {
      ASSERT_LT(clock_.Now(), deadline) << "waiting for " << what << "\n" << Read("err");
      clock_.SleepUntil(clock_.Now() + 20ms);
    }
  }
  bool TemporaryDirIsEmpty() {
    return disk_.List(dir_ + "/tmp").value_or(std::vector<std::string>{"?"}).empty();
  }

  RealClock clock_;
  PosixFileSystem disk_;
  std::string dir_;
  const std::string taas_ = RealPath("cli/taas");
  const std::string trainer_ = RealPath("trainer/cmd/taas-trainer");
};

TEST_F(LocalCiTest, AJobOfFiveReplicasSucceedsAndNothingIsLeft) {
  const std::string file =
      Write("job.json", JobText("small", R"({"name":"mlp","hidden":[32]})", 300));
  EXPECT_EQ(Taas({"local", "ci", "-f", file, "--timeout", "120", "--trainer", trainer_}), 0)
      << Read("err");
  const Json report = Json::parse(Read("out"));
  EXPECT_EQ(report["state"], "Succeeded");
  EXPECT_EQ(report["steps"], 300);
  EXPECT_EQ(report["restarts"]["total"], 0);
  EXPECT_EQ(report["replicas"], (Json{{"chief", 1}, {"ps", 2}, {"worker", 2}}));
  EXPECT_GT(report["accuracy"].get<double>(), 0.2);
  // Its own steps it may have none to show of: the workers may make all 300 meanwhile.
  EXPECT_THAT(Read("err"), HasSubstr("[chief-0] evaluation at step 300"));
  EXPECT_TRUE(TemporaryDirIsEmpty());
}

TEST_F(LocalCiTest, AJobThatFailsExitsOneAndShowsTheLastLinesOfItsPod) {
  const std::string file = Write("job.json", JobText("bad", R"({"name":"no-such-model"})", 300));
  EXPECT_EQ(Taas({"local", "ci", "-f", file, "--timeout", "120", "--trainer", trainer_}), 1);
  const Json report = Json::parse(Read("out"));
  EXPECT_EQ(report["state"], "Failed");
  EXPECT_THAT(report.value("message", ""), HasSubstr("no-such-model"));
  EXPECT_THAT(Read("err"), HasSubstr("last lines of pod bad-"));
  // Pods that had written nothing had headings, some without a name.
  EXPECT_THAT(Read("err"), Not(HasSubstr("last lines of pod :")));
}

// `taas local ci` kept to itself what kubectl says of a claim without data, and that no job names
// the claim of a --volume.
TEST_F(LocalCiTest, WarningsArePrinted) {
  Json job = Json::parse(JobText("small", R"({"name":"mlp","hidden":[32]})", 10));
  job["spec"]["volumes"] = Json::parse(R"([{"name":"data","mountPath":"/data","readOnly":true,
      "source":{"persistentVolumeClaim":{"claimName":"mnist-data"}}}])");
  const std::string file = Write("job.json", job.dump());
  EXPECT_EQ(Taas({"local", "ci", "-f", file, "--timeout", "120", "--trainer", trainer_, "--volume",
                  "mnist_data=" + dir_}),
            0)
      << Read("err");
  EXPECT_THAT(Read("err"), HasSubstr("Warning: spec.volumes[0]: the claim mnist-data"));
  EXPECT_THAT(Read("err"), HasSubstr("names no claim mnist_data; did you mean \"mnist-data\"?"));
}

TEST_F(LocalCiTest, AFileThatIsNotThereIsExitCodeThree) {
  EXPECT_EQ(Taas({"local", "ci", "-f", dir_ + "/none.yaml"}), 3);
  EXPECT_THAT(Json::parse(Read("out")).value("message", ""), HasSubstr("none.yaml"));
}

TEST_F(LocalCiTest, AManifestThatIsRefusedNamesItsField) {
  Json job = Json::parse(JobText("bad", R"({"name":"mlp"})", 10));
  job["spec"]["roles"]["worker"]["replicas"] = -1;
  EXPECT_EQ(Taas({"local", "ci", "-f", Write("job.json", job.dump())}), 1);
  EXPECT_EQ(Json::parse(Read("out"))["state"], "Rejected");
  EXPECT_THAT(Read("err"), HasSubstr("spec.roles.worker.replicas"));
}

TEST_F(LocalCiTest, TimeoutAndSignalsTakeEverythingDown) {
  const std::string file =
      Write("job.json", JobText("long", R"({"name":"mlp","hidden":[256]})", 100'000'000));
  // Its last line of help says "4 timed out", and it was 1.
  EXPECT_EQ(Taas({"local", "ci", "-f", file, "--timeout", "3", "--trainer", trainer_}), 4);
  EXPECT_EQ(Json::parse(Read("out"))["state"], "TimedOut");
  EXPECT_EQ(localkube::KillLeftovers(disk_, dir_), 0);
  const pid_t pid = StartTaas({"local", "ci", "-f", file, "--trainer", trainer_});
  Await("training", [&] { return Read("err").find("step ") != std::string::npos; });
  ::kill(pid, SIGTERM);
  EXPECT_EQ(Join(pid), 1);
  EXPECT_EQ(Json::parse(Read("out"))["state"], "Interrupted");
  EXPECT_TRUE(TemporaryDirIsEmpty());
}

TEST_F(LocalCiTest, UpStatusAndDownInTheBackground) {
  const std::string d = dir_ + "/d";
  EXPECT_EQ(Taas({"local", "status", "--dir", d}), 3);
  EXPECT_EQ(Taas({"local", "up", "--dir", d, "--detach"}), 0) << Read("err");
  EXPECT_THAT(Read("out"), HasSubstr("export KUBECONFIG=" + d + "/kubeconfig"));
  EXPECT_EQ(Taas({"local", "status", "--dir", d, "-o", "json"}), 0);
  EXPECT_EQ(Json::parse(Read("out"))["running"], true);
  EXPECT_EQ(Taas({"local", "up", "--dir", d}), 1);
  EXPECT_THAT(Read("err"), HasSubstr("another `taas local` is at work there"));
  EXPECT_EQ(Taas({"local", "down", "--dir", d}), 0);
  EXPECT_FALSE(localkube::IsLocked(d + "/lock").value_or(true));
}

// Symptom: `taas local up --dir D` again had lost nodes, GPUs and volumes of last time, and the
// next job of the same manifest failed without its data.
TEST_F(LocalCiTest, UpAgainIsTheSameClusterAndSaysSo) {
  const std::string d = dir_ + "/d";
  const std::vector<std::string> up = {"local", "up", "--dir", d, "--detach", "--no-dashboard"};
  const auto again = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = up;
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(Taas(arguments), 0) << Read("err");
    const std::string said = Read("out");
    EXPECT_EQ(Taas({"local", "down", "--dir", d}), 0) << Read("err");
    return said;
  };
  const std::string volume = "data=" + dir_;
  EXPECT_THAT(again({"--nodes", "3", "--fake-gpus", "2x80", "--volume", volume}),
              testing::Not(HasSubstr("As last time")));
  EXPECT_THAT(again({}), HasSubstr(": --nodes 3 --fake-gpus 2x80 --volume " + volume + "\n"));
  EXPECT_THAT(again({"--nodes", "1", "--volume", "data="}), HasSubstr(": --fake-gpus 2x80\n"));
  EXPECT_THAT(again({}), HasSubstr(": --fake-gpus 2x80\n"));
  EXPECT_EQ(Taas({"local", "ci", "-f", "x", "--volume", "data="}), 2) << "there is no last time";
}

// Symptom: of a container that was restarted in place, and of init containers, no log was told.
TEST_F(LocalCiTest, InitContainersAndEachRunOfAContainerAreTold) {
  Json job = Json::parse(R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob",
      "metadata":{"name":"again"},"spec":{"tfReplicaSpecs":{"Worker":{"replicas":1,
      "restartPolicy":"OnFailure","template":{"spec":{
      "initContainers":[{"name":"fetch","image":"own","command":["/bin/sh","-c","echo fetched"]}],
      "containers":[{"name":"tensorflow","image":"own"}]}}}}}})");
  const std::string second = dir_ + "/second";
  job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["command"] = {
      "/bin/sh", "-c",
      "[ -e " + second + " ] && exec echo run two; touch " + second + "; echo run one; exit 1"};
  const std::string file = Write("job.json", job.dump());
  EXPECT_EQ(Taas({"local", "ci", "-f", file, "--timeout", "120", "--trainer", trainer_}), 0)
      << Read("err");
  const std::string said = Read("err");
  EXPECT_THAT(said, HasSubstr("\n[worker-0/fetch] fetched\n"));
  EXPECT_THAT(said, HasSubstr("\n[worker-0] run one\n"));
  EXPECT_THAT(said, HasSubstr("\n[worker-0] run two\n"));
}

TEST_F(LocalCiTest, AManifestThroughAPipeWithoutANameRunsBelowARelativeTemporaryDirectory) {
  Json job = Json::parse(JobText("small", R"({"name":"mlp","hidden":[32]})", 100));
  job["metadata"] = {{"generateName", "small-"}};
  const std::string text = job.dump();
  const int cwd = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::chdir(dir_.c_str()), 0);
  ::setenv("TMPDIR", "tmp", 1);
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  const int saved = ::dup(STDIN_FILENO);
  ::dup2(fds[0], STDIN_FILENO);
  const pid_t pid =
      StartTaas({"local", "ci", "-f", "-", "--timeout", "120", "--trainer", trainer_});
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ::close(fds[0]);
  ASSERT_EQ(::write(fds[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(fds[1]);
  EXPECT_EQ(Join(pid), 0) << Read("err");
  EXPECT_EQ(::fchdir(cwd), 0);
  ::close(cwd);
  EXPECT_EQ(Json::parse(Read("out"))["steps"], 100);
  EXPECT_TRUE(TemporaryDirIsEmpty());
}

// Symptom: "Address already in use", and not which of the flags had named the address.
TEST_F(LocalCiTest, APortInUseIsSaidWithItsNumberAndItsFlag) {
  const int holder = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(holder, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(holder, 1), 0);
  ASSERT_EQ(::getsockname(holder, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  for (const std::string flag : {"--port", "--dashboard-port"}) {
    const auto said = AllOf(HasSubstr(flag), HasSubstr("listen on 127.0.0.1:" + port));
    EXPECT_EQ(Taas({"local", "up", "--dir", dir_ + "/d", flag, port}), 1);
    EXPECT_THAT(Read("err"), said);
    EXPECT_EQ(Taas({"local", "up", "--dir", dir_ + "/d", flag, port, "--detach"}), 1);
    EXPECT_THAT(Read("err"), said);
  }
  ::close(holder);
  EXPECT_FALSE(localkube::IsLocked(dir_ + "/d/lock").value_or(true));
}

TEST_F(LocalCiTest, AnEphemeralClusterRemovesItsDirectory) {
  const std::string d = dir_ + "/d";
  EXPECT_EQ(Taas({"local", "up", "--dir", d + "/", "--ephemeral", "--detach"}), 0) << Read("err");
  EXPECT_EQ(Taas({"local", "down", "--dir", d}), 0) << Read("err");
  EXPECT_FALSE(disk_.Exists(d).value_or(true));
}

TEST_F(LocalCiTest, DownSignalsNoProcessThatIsNotTaas) {
  const std::string d = dir_ + "/d";
  ASSERT_THAT(disk_.MakeDirs(d), IsOk());
  const auto lock = localkube::TakeLock(d + "/lock");
  ASSERT_THAT(lock, IsOk());
  const pid_t other = ::fork();
  if (other == 0) {
    ::execl("/bin/sleep", "sleep", "1000", nullptr);
    ::_exit(127);
  }
  Await("the program", [&] {
    return disk_.ReadAll("/proc/" + std::to_string(other) + "/comm").value_or("") == "sleep\n";
  });
  Write("d/pid", std::to_string(other));
  EXPECT_EQ(Taas({"local", "down", "--dir", d}), 1);
  EXPECT_THAT(Read("err"), HasSubstr("not taas"));
  EXPECT_EQ(::waitpid(other, nullptr, WNOHANG), 0) << "it was ended";
  ::kill(other, SIGKILL);
  EXPECT_EQ(::waitpid(other, nullptr, 0), other);
  ::close(*lock);
}

constexpr char kModel[] = R"({"name":"mlp","hidden":[500]})";
constexpr char kClaims[] = "/api/v1/namespaces/default/persistentvolumeclaims";

// `taas local` that also applies `job` (unless empty) and makes claims as fast as it can, and
// writes the name of each to `told` once it was acknowledged.
[[noreturn]] void WriteUntilKilled(const localkube::LocalCluster::Options& options,
                                   const std::string& job, const std::string& prefix, int told) {
  auto session = LocalSession::Start(options, {});
  if (!session.ok()) ::_exit(1);
  localkube::ApiCalls calls((*session)->cluster().server().api());
  if (!job.empty()) {
    absl::StatusOr<Manifest> manifest = ReadManifest(job, "job");
    if (!manifest.ok() || !ApplyManifest(&*manifest, calls).ok()) ::_exit(1);
  }
  for (int i = 0;; ++i) {
    const std::string name = prefix + std::to_string(i) + "\n";
    const Json claim = {{"apiVersion", "v1"},
                        {"kind", "PersistentVolumeClaim"},
                        {"metadata", {{"name", name.substr(0, name.size() - 1)}}},
                        {"spec", {{"accessModes", {"ReadWriteOnce"}}}}};
    if (!calls.Post(kClaims, claim.dump()).ok()) ::_exit(2);
    if (::write(told, name.data(), name.size()) < 0) ::_exit(3);
  }
}

TEST_F(LocalCiTest, KillsOfTaasLocalDuringAJobLoseNoWriteAndRunNoPodTwice) {
  const char* kills_text = std::getenv("TAAS_CHAOS_KILLS");
  const int kills = kills_text != nullptr ? std::atoi(kills_text) : kKills;
  const int steps = kills * kStepsPerKill;
  const uint64_t seed = 20261121;
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRandom random(seed);
  const localkube::LocalCluster::Options options = {
      .dir = dir_ + "/d", .trainer_path = trainer_, .shim_path = taas_};
  const std::string job = "/apis/taas.dev/v1/namespaces/default/trainingjobs/chaos";
  std::set<std::string> acknowledged;
  for (int kill = 0; kill < kills; ++kill) {
    int fds[2];
    ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      WriteUntilKilled(options, kill == 0 ? JobText("chaos", kModel, steps) : "",
                       "w-" + std::to_string(kill) + "-", fds[1]);
    }
    ::close(fds[1]);
    char buffer[4096];
    std::string text;
    // The first acknowledged write says that the cluster is up; then a time that the seed decides.
    const ssize_t first = ::read(fds[0], buffer, sizeof buffer);
    ASSERT_GT(first, 0) << "taas local did not start again after " << kill << " kills";
    text.append(buffer, static_cast<size_t>(first));
    clock_.SleepUntil(clock_.Now() + std::chrono::milliseconds(random.Below(400)));
    ::kill(pid, SIGKILL);
    for (ssize_t got = 0; (got = ::read(fds[0], buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<size_t>(got));
    }
    ::close(fds[0]);
    EXPECT_EQ(Join(pid), 128 + SIGKILL);
    for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      acknowledged.insert(text.substr(begin, end - begin));
    }
  }
  auto session = LocalSession::Start(options, {});
  ASSERT_THAT(session, IsOk());
  localkube::ApiCalls calls((*session)->cluster().server().api());
  for (const std::string& name : acknowledged) {
    EXPECT_THAT(calls.Get(std::string(kClaims) + "/" + name), IsOk()) << "acknowledged and lost";
  }
  Json status;
  Await("the end of the job", [&] {
    const auto text = calls.Get(job);
    status = text.ok() ? Json::parse(*text).value("status", Json::object()) : Json::object();
    return status.value("state", "") == "Succeeded" || status.value("state", "") == "Failed";
  });
  EXPECT_EQ(status.value("state", ""), "Succeeded") << status.dump();
  EXPECT_EQ(status["progress"]["step"], steps);
  EXPECT_EQ(status.value("restarts", Json::object()).size(), 0u)
      << "pods went on without taas local";
  // One pod per replica, each of them run once.
  const localkube::PodDirs& dirs = (*session)->cluster().pod_dirs();
  const auto uids = dirs.Pods(disk_);
  ASSERT_THAT(uids, IsOk());
  EXPECT_EQ(uids->size(), 5u);
  for (const std::string& uid : *uids)
    EXPECT_EQ(dirs.LatestRun(disk_, uid, "trainer").value_or(-1), 0);
  EXPECT_THAT((*session)->EndPods(2s), IsOk());
}

}  // namespace
}  // namespace taas
