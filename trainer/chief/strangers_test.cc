// What a job does when others come to its chief's port than its replicas.

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <future>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/cluster/chief_client.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/ps/ledger_check.h"
#include "trainer/task/model_task.h"
#include "trainer/testing/job_in_threads.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

// Bytes that are no calls; returns when the chief has closed or taken them.
void SendRaw(int port, const std::string& bytes) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
  // The chief may have closed before all is sent.
  send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  close(fd);
}

struct Stranger {
  const char* name;
  const char* uid;
  int64_t attempt;
  const char* role;
  int index;
  const char* sentence;
};

TEST(StrangersTest, StrangersAndNonsenseAtTheChiefsPortAreRefusedAndTrainingGoesOn) {
  const auto config = ParseTrainerConfig(R"({
      "model": {"name": "softmax"}, "batchSize": 6, "maxSteps": 40, "strategy": {"mode": "Sync"},
      "data": {"format": "generated", "generated":
        {"examples": 100, "testExamples": 60, "features": 9, "classes": 4}}})");
  ASSERT_THAT(config, IsOk());
  PosixFileSystem files;
  const auto make_task = [&] { return *ModelTask::Make(CpuRuntime(), files, *config); };
  const auto task = make_task();
  JobInThreads job({.config = *config, .workers = 1, .make_task = make_task}, *task);
  const auto intrude = [&] {
    ChiefClient client("127.0.0.1:" + std::to_string(job.port()));
    for (const Stranger& stranger : {
             Stranger{"AnotherJob", "other", 1, "worker", 1, "this is the chief of another job"},
             Stranger{"PastAttempt", "uid", 0, "worker", 1, "attempt 0 is over"},
             Stranger{"NegativeIndex", "uid", 1, "worker", -1, "is not in the chief's TF_CONFIG"},
             Stranger{"NoSuchShard", "uid", 1, "ps", 7, "is not in the chief's TF_CONFIG"},
             Stranger{"NoSuchRole", "uid", 1, "king", 0, "is not in the chief's TF_CONFIG"},
             Stranger{"SecondChief", "uid", 1, "chief", 0, "two processes have one identity"},
             // Pod 0 of a place that pod 1 has.
             Stranger{"DuplicateIndex", "uid", 1, "worker", 0, "was replaced by pod 1"}}) {
      wire::JoinRequest request;
      request.mutable_identity()->set_job_uid(stranger.uid);
      request.mutable_identity()->set_attempt(stranger.attempt);
      request.mutable_identity()->set_role(stranger.role);
      request.mutable_identity()->set_index(stranger.index);
      request.set_config_hash(ConfigHash(*config));
      const auto reply = client.Join(request);
      ASSERT_THAT(reply, IsOk()) << stranger.name;
      EXPECT_NE(reply->verdict(), wire::JoinReply::ACCEPTED) << stranger.name;
      EXPECT_THAT(reply->sentence(), HasSubstr(stranger.sentence)) << stranger.name;
      wire::BeatRequest beat;
      *beat.mutable_identity() = request.identity();
      beat.set_wanted(16);
      const auto answer = client.Beat(beat);
      ASSERT_THAT(answer, IsOk()) << stranger.name;
      EXPECT_NE(answer->verdict(), wire::BeatReply::KNOWN) << stranger.name;
    }
    wire::JoinRequest huge;
    huge.set_config_hash(std::string(8 << 20, 'x'));
    EXPECT_FALSE(client.Join(huge).ok());
    SeededRandom random(1);
    std::string garbage(4096, '\0');
    for (char& byte : garbage) byte = static_cast<char>(random.Below(256));
    SendRaw(job.port(), garbage);
    SendRaw(job.port(), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + garbage);
  };
  std::promise<void> worker_there;
  ReplicaObserver worker;
  worker.on_gradient = [&, first = true](int64_t) mutable {
    if (std::exchange(first, false)) worker_there.set_value();
  };
  ReplicaObserver chief;
  chief.on_step = [&](const StepResult& step) {
    if (step.step != 5) return;
    worker_there.get_future().wait();
    intrude();
  };
  job.StartServers();
  job.StartChief(chief);
  job.StartWorker(0, worker);
  ASSERT_THAT(job.Finish(), IsOk());
  EXPECT_THAT(ps::CheckLedgers({job.records(0), job.records(1)},
                               {.steps = config->max_steps, .aggregate = 2}),
              IsOk());
}

}  // namespace
}  // namespace taas
