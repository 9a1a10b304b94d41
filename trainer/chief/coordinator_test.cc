// A coordinator over real parameter servers, asked by a test that speaks for the replicas.

#include "trainer/chief/coordinator.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/fault_file_system.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/frame.h"
#include "trainer/comm/listener.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/ps/shard.h"
#include "trainer/ps/shard_client.h"
#include "trainer/replica/replica_loop.h"
#include "trainer/task/model_task.h"
#include "trainer/testing/task_around.h"

namespace taas {
namespace {

using namespace std::chrono_literals;

constexpr int64_t kSteps = 20;

// Passes on what a chief asks a shard, call by call. The next request for a cut it loses, with the
// connection, if that was wished.
class Relay {
 public:
  explicit Relay(std::string shard)
      : shard_(std::move(shard)),
        listener_(*comm::Listener::Open({.host = "127.0.0.1"},
                                        [this](comm::Channel& chief) { Serve(chief); })) {}
  std::string address() const { return "127.0.0.1:" + std::to_string(listener_->port()); }

  std::function<void()> before_cut = [] {};  // Before a request for one is passed on.
  std::atomic<bool> lose_next_cut = false;
  std::atomic<int> lost = 0;

 private:
  static absl::StatusOr<comm::FrameType> Pass(comm::Channel& from, comm::Channel& to,
                                              const std::function<bool(comm::FrameType)>& lose) {
    auto head = from.ReceiveHead();
    if (!head.ok()) return head.status();
    std::vector<char> payload(head->payload_bytes);
    const comm::Block into{payload.data(), payload.size()};
    absl::Status status = from.ReceiveInto(std::span(&into, 1));
    if (status.ok() && lose(head->type)) status = absl::UnavailableError("lost");
    const comm::ConstBlock block{payload.data(), payload.size()};
    if (status.ok()) status = to.Send(*head, std::span(&block, 1));
    if (!status.ok()) return status;
    return head->type;
  }
  void Serve(comm::Channel& chief) {
    const auto shard = comm::Channel::Connect(shard_, {});
    if (!shard.ok()) return;
    for (;;) {
      const auto asked = Pass(chief, **shard, [this](comm::FrameType type) {
        if (type != comm::FrameType::kCut) return false;
        before_cut();
        if (!lose_next_cut.exchange(false)) return false;
        ++lost;
        return true;
      });
      if (!asked.ok()) return;
      if (*asked == comm::FrameType::kHello) continue;
      if (!Pass(**shard, chief, [](comm::FrameType) { return false; }).ok()) return;
    }
  }

  const std::string shard_;
  const std::unique_ptr<comm::Listener> listener_;
};

// A disk on which nothing is written while it hangs.
class HangingFiles : public FaultFileSystem {
 public:
  using FaultFileSystem::FaultFileSystem;
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenWrite(const std::string& path) override {
    if (hangs) writers.fetch_add(1);
    hangs.wait(true);
    return FaultFileSystem::OpenWrite(path);
  }
  void GoOn() {
    hangs = false;
    hangs.notify_all();
  }
  std::atomic<bool> hangs = false;
  std::atomic<int> writers = 0;
};

// What Run was to wait, in the order in which it was; it does not wait, but for the last.
class Pauses {
 public:
  decltype(Coordinator::Options::wait) wait() {
    return [this](const StopFlag& stop, std::chrono::milliseconds pause) {
      std::unique_lock lock(mutex_);
      pauses_.push_back(pause);
      const bool full = pauses_.size() >= kKept;
      lock.unlock();
      if (full) stop.WaitFor(1min);
    };
  }
  std::vector<std::chrono::milliseconds> all() const {
    std::lock_guard lock(mutex_);
    return pauses_;
  }

 private:
  // No test looks at more, and each has a line in the log.
  static constexpr size_t kKept = 100;
  mutable std::mutex mutex_;
  std::vector<std::chrono::milliseconds> pauses_;
};

class CoordinatorTest : public testing::Test {
 protected:
  void TearDown() override {
    disk_.GoOn();
    stop_.Stop();
    if (run_.joinable()) run_.join();
    for (const auto& shard : shards_) shard->Close();
  }

  // Of as many parameter servers and two workers, none of which has joined.
  void Start(int ps, const std::string& more = "") {
    ClusterSpec cluster;
    cluster.self = {"chief", 0};
    cluster.addresses["chief"] = {"127.0.0.1:1"};
    cluster.addresses["ps"] = std::vector<std::string>(static_cast<size_t>(ps), "127.0.0.1:1");
    cluster.addresses["worker"] = {"127.0.0.1:1", "127.0.0.1:1"};
    auto config = ParseTrainerConfig(R"({
        "model": {"name": "softmax"}, "batchSize": 2, "maxSteps": )" + std::to_string(kSteps) +
                                     more + R"(,
        "data": {"format": "generated", "generated":
          {"examples": 20, "testExamples": 20, "features": 9, "classes": 4}}})");
    ASSERT_THAT(config, IsOk());
    config_ = *config;
    auto task = ModelTask::Make(CpuRuntime(), files_, config_);
    ASSERT_THAT(task, IsOk());
    task_ = *std::move(task);
    if (!config_.checkpoint_dir.empty()) {
      const auto shape = ShapeOf(task_->session(), config_);
      ASSERT_THAT(shape, IsOk());
      auto store = SnapshotStore::Open(disk_, clock_, {.dir = config_.checkpoint_dir,
                                                       .job = "default/test",
                                                       .uid = "uid",
                                                       .shape = *shape});
      ASSERT_THAT(store, IsOk());
      store_ = *std::move(store);
    }
    coordinator_ = std::make_unique<Coordinator>(
        clock_,
        Coordinator::Options{.config = config_, .cluster = cluster, .job = {"uid", 1},
                             .self = {1, 1}, .wait = wait_},
        board_, *task_, store_.get());
    run_ = std::thread([this] { ended_ = coordinator_->Run(stop_); });
  }
  // A parameter server that serves; where.
  std::string Serve() {
    shards_.push_back(std::make_unique<ps::Shard>(ps::Shard::Options{.job = "uid/1"}));
    ps::Shard& shard = *shards_.back();
    listeners_.push_back(*comm::Listener::Open(
        {.host = "127.0.0.1"}, [&shard](comm::Channel& channel) { shard.Serve(channel); }));
    return "127.0.0.1:" + std::to_string(listeners_.back()->port());
  }
  static wire::Identity IdentityOf(const ReplicaId& replica, int pod = 1) {
    wire::Identity identity;
    identity.set_job_uid("uid");
    identity.set_role(replica.role);
    identity.set_index(replica.index);
    identity.set_attempt(1);
    identity.set_pod_number(pod);
    identity.set_start(static_cast<uint64_t>(100 * pod + 10 * replica.index));
    return identity;
  }
  void Join(const ReplicaId& replica, const std::string& address = "", int pod = 1) {
    wire::JoinRequest request;
    *request.mutable_identity() = IdentityOf(replica, pod);
    request.set_config_hash(ConfigHash(config_));
    request.set_bulk_address(address);
    ASSERT_EQ(coordinator_->desk().Join(request).verdict(), wire::JoinReply::ACCEPTED);
  }
  wire::BeatReply Beat(const ReplicaId& replica,
                       const std::function<void(wire::BeatRequest&)>& more = [](auto&) {}) {
    wire::BeatRequest request;
    *request.mutable_identity() = IdentityOf(replica);
    more(request);
    return coordinator_->desk().Beat(request);
  }
  static void WantToGo(wire::BeatRequest& request) { request.set_wants_to_go(true); }
  // As a worker that has done what it had.
  wire::BeatReply AskForBatches(int worker) {
    return Beat({"worker", worker}, [this](wire::BeatRequest& request) {
      request.set_wanted(16);
      request.set_lease_sequence(++lease_sequence_);
    });
  }
  // A field of the configuration: checkpoints in a directory of that name, so often.
  static std::string Checkpoints(const std::string& every, const std::string& name) {
    return R"(, "checkpoint": {)" + every + R"(, "dir": ")" + std::getenv("TEST_TMPDIR") + "/" +
           name + "\"}";
  }
  // Asks without pause until it is so; false after ten seconds.
  bool Until(const std::function<bool()>& so) {
    const Clock::Time deadline = clock_.Now() + 10s;
    while (!so()) {
      if (clock_.Now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  RealClock clock_;
  PosixFileSystem files_;
  HangingFiles disk_{files_};
  StopFlag stop_;
  StatusBoard board_{StatusBoard::Identity{}};
  TrainerConfig config_;
  Pauses pauses_;
  decltype(Coordinator::Options::wait) wait_ = Coordinator::Options().wait;
  std::unique_ptr<ModelTask> task_;
  std::unique_ptr<SnapshotStore> store_;
  std::vector<std::unique_ptr<ps::Shard>> shards_;
  std::vector<std::unique_ptr<comm::Listener>> listeners_;
  std::unique_ptr<Coordinator> coordinator_;
  absl::Status ended_;
  uint64_t lease_sequence_ = 0;
  std::thread run_;
};

// Symptom: a worker whose listing of a pattern was out of date trained on other examples than its
// batches meant, and nobody saw it.
TEST_F(CoordinatorTest, AWorkerWithOtherDataIsRefusedAndBothAreNamed) {
  Start(/*ps=*/1);
  wire::JoinRequest request;
  *request.mutable_identity() = IdentityOf({"worker", 0});
  request.set_config_hash(ConfigHash(config_));
  request.set_data_identity("19 examples in 2 files, a to b");
  const wire::JoinReply refused = coordinator_->desk().Join(request);
  EXPECT_EQ(refused.verdict(), wire::JoinReply::REFUSED);
  EXPECT_THAT(refused.sentence(), testing::HasSubstr("worker-0 has other training data"));
  EXPECT_THAT(refused.sentence(), testing::HasSubstr("it has 19 examples in 2 files, a to b"));
  EXPECT_THAT(refused.sentence(), testing::HasSubstr("the chief has " + task_->data_identity()));
  request.set_data_identity(task_->data_identity());
  EXPECT_EQ(coordinator_->desk().Join(request).verdict(), wire::JoinReply::ACCEPTED);
}

// It served for twenty seconds with nobody to serve.
TEST_F(CoordinatorTest, AParameterServerMayGoWhileAnotherIsMissing) {
  Start(/*ps=*/2);
  Join({"ps", 0}, Serve());
  const Clock::Time told = clock_.Now();
  bool may_go = false;
  ASSERT_TRUE(Until([&] { return may_go = Beat({"ps", 0}, WantToGo).may_go(); }));
  EXPECT_LT(clock_.Now() - told, 2s);
}

// No work was given any more, though the parameter server had come back.
TEST_F(CoordinatorTest, WorkGoesOnAfterACutThatFailedWithItsConnection) {
  Start(/*ps=*/1);
  Relay relay(Serve());
  Join({"ps", 0}, relay.address());
  ASSERT_TRUE(Until([&] { return Beat({"ps", 0}).ready(); }));
  const int64_t generation = Beat({"ps", 0}).generation();
  relay.lose_next_cut = true;
  Beat({"ps", 0}, WantToGo);
  ASSERT_TRUE(Until([&] { return relay.lost == 1; }));
  ASSERT_TRUE(Until([&] { return Beat({"ps", 0}).ready(); }));
  EXPECT_EQ(Beat({"ps", 0}).generation(), generation);
  stop_.Stop();
  run_.join();
}

// The job failed for good: its parameter server had moved, and another program had its port.
TEST_F(CoordinatorTest, AnotherProgramOnThePortOfAParameterServerIsNoReasonToGiveUp) {
  const auto socket = comm::OpenListeningSocket("127.0.0.1", 0);
  ASSERT_THAT(socket, IsOk());
  std::thread web([listening = *socket] {
    for (;;) {
      const int client = accept(listening, nullptr, nullptr);
      if (client < 0) return;
      const std::string answer = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n" +
                                 std::string(200, ' ') + "\r\n\r\n";
      send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
      char request[1000];
      while (recv(client, request, sizeof(request), 0) > 0) continue;
      close(client);
    }
  });
  Start(/*ps=*/1);
  Join({"ps", 0}, "127.0.0.1:" + std::to_string(*comm::PortOfSocket(*socket)));
  Join({"worker", 0});
  ASSERT_TRUE(Until([&] { return Beat({"worker", 0}).generation() > 1; }));
  Join({"ps", 0}, Serve(), /*pod=*/2);
  EXPECT_TRUE(Until([&] { return Beat({"worker", 0}).ready(); }));
  shutdown(*socket, SHUT_RDWR);
  web.join();
  close(*socket);
}

// One I/O error of the chief's data was taken for a lost parameter server: the job began generation
// after generation, twenty times a second, for ever.
TEST_F(CoordinatorTest, AnErrorOfTheChiefsOwnTrainingEndsTheJobWhateverItsClass) {
  for (const absl::Status& own : {absl::UnavailableError("read /data/a: Input/output error"),
                                  absl::AbortedError("read /data/a: changed")}) {
    Start(/*ps=*/1);
    Join({"ps", 0}, Serve());
    Join({"worker", 0});
    ASSERT_TRUE(Until([&] { return Beat({"worker", 0}).ready(); }));
    coordinator_->desk().Fail(own);
    run_.join();
    EXPECT_EQ(ended_, own);
    EXPECT_EQ(Beat({"worker", 0}).generation(), 1);
  }
}

// Symptom: after a stranger's CONFIGURE of the last generation that there is, the chief tried
// twenty times a second to begin one, with a line in the log each time, until that parameter server
// was replaced.
TEST_F(CoordinatorTest, AttemptsToBeginAGenerationThatAreRefusedComeMoreAndMoreSeldom) {
  wait_ = pauses_.wait();
  const std::string taken = Serve();
  std::vector<float> weights(4);
  auto stranger = ps::ShardControl::Connect(taken, {.job = "uid/1"});
  ASSERT_THAT(stranger, IsOk());
  ASSERT_THAT((*stranger)->Configure({.generation = std::numeric_limits<uint32_t>::max(),
                                      .shard = 0,
                                      .shards = {taken},
                                      .pieces = {{.variable = 0, .offset = 0, .count = 4}},
                                      .optimizer = R"({"name": "sgd", "learningRate": 1})",
                                      .max_steps = kSteps},
                                     {{weights}, {}}),
              IsOk());
  Start(/*ps=*/1);
  Join({"ps", 0}, taken);
  ASSERT_TRUE(Until([&] { return pauses_.all().size() >= 8; }));
  std::vector<std::chrono::milliseconds> first = pauses_.all();
  first.resize(8);
  EXPECT_THAT(first, testing::ElementsAre(50ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 2s, 2s));
  // And a chief that was told to stop tried on without a pause.
  stop_.Stop();
  const Clock::Time told = clock_.Now();
  run_.join();
  EXPECT_THAT(ended_, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_LT(clock_.Now() - told, 5s);
}

// The pause of one trouble must not be that of the next.
TEST_F(CoordinatorTest, AParameterServerThatIsReplacedAfterAGenerationBeganIsTriedAtOnce) {
  wait_ = pauses_.wait();
  Start(/*ps=*/1);
  Join({"worker", 0});
  for (int pod = 1; pod <= 4; ++pod) {
    Join({"ps", 0}, Serve(), pod);
    ASSERT_TRUE(Until([&] {
      const wire::BeatReply reply = Beat({"worker", 0});
      return reply.ready() && reply.generation() == pod;
    }));
  }
  EXPECT_THAT(pauses_.all(), testing::ElementsAre(50ms, 50ms, 50ms));
}

// A task whose data cannot be read.
class UnreadableTask : public TaskAround {
 public:
  UnreadableTask(TrainingTask& task, absl::Status error)
      : TaskAround(task), error_(std::move(error)) {}
  absl::StatusOr<float> ComputeGradients(std::span<const int64_t>) override { return error_; }

 private:
  const absl::Status error_;
};

// It asked for the same batch again and again: the class was that of another generation.
TEST_F(CoordinatorTest, AReplicaEndsWithTheErrorOfItsTaskWhateverItsClass) {
  Start(/*ps=*/1);
  Join({"ps", 0}, Serve());
  for (const absl::Status& own : {absl::AbortedError("read /data/a: changed"),
                                  absl::FailedPreconditionError("open /data/a: it is a pipe")}) {
    UnreadableTask task(*task_, own);
    EXPECT_EQ(RunReplica(coordinator_->desk(), task, {}), own);
  }
}

// The last batches of a worker that was scaled away stayed lent to it until it was missed, ten
// seconds later.
TEST_F(CoordinatorTest, WhatAWorkerThatLeavesHasNotDoneIsLentToOthersAtOnce) {
  Start(/*ps=*/1);
  Join({"ps", 0}, Serve());
  Join({"worker", 0});
  Join({"worker", 1});
  std::set<int64_t> lent;
  ASSERT_TRUE(Until([&] {
    const wire::BeatReply reply = AskForBatches(0);
    lent.insert(reply.batches().begin(), reply.batches().end());
    return !lent.empty();
  }));
  wire::LeaveRequest leave;
  *leave.mutable_identity() = IdentityOf({"worker", 0});
  coordinator_->desk().Leave(leave);
  const Clock::Time left = clock_.Now();
  EXPECT_EQ(AskForBatches(0).batches_size(), 0);
  std::set<int64_t> others;
  EXPECT_TRUE(Until([&] {
    const wire::BeatReply reply = AskForBatches(1);
    others.insert(reply.batches().begin(), reply.batches().end());
    return std::includes(others.begin(), others.end(), lent.begin(), lent.end());
  }));
  EXPECT_LT(clock_.Now() - left, 5s);
}

// Symptom: a parameter server that was told to stop while a slow disk took a checkpoint ended after
// twenty seconds without a cut, and what it had learned since was lost.
TEST_F(CoordinatorTest, AParameterServerThatIsToldToStopDuringASaveMayGoWithACut) {
  Start(/*ps=*/1, Checkpoints(R"("everySeconds": 1)", "hanging"));
  disk_.hangs = true;
  Join({"ps", 0}, Serve());
  ASSERT_TRUE(Until([&] { return disk_.writers > 0; }));
  EXPECT_TRUE(Until([&] { return Beat({"ps", 0}, WantToGo).may_go(); }));
  EXPECT_TRUE(disk_.hangs);
}

// Symptom: /status of a job that was done said "step 19 of 20": the cut for the checkpoint of step
// 19 found step 20, after which nobody asked how far the parameter servers were.
TEST_F(CoordinatorTest, TheLastStepIsShownWhereACutForAnEarlierOneFindsIt) {
  Relay relay(Serve());
  // The cut waits for the last step, whose gradient waits for the cut to be asked for.
  std::promise<void> asked, last;
  relay.before_cut = [&, first = true]() mutable {
    if (!std::exchange(first, false)) return;
    asked.set_value();
    last.get_future().wait();
  };
  Start(/*ps=*/1, Checkpoints(R"("everySteps": 19)", "last"));
  Join({"ps", 0}, relay.address());
  ReplicaObserver observer;
  observer.on_gradient = [&](int64_t batch) {
    if (batch == kSteps - 1) asked.get_future().wait();
  };
  observer.on_step = [&](const StepResult& step) {
    if (step.step == kSteps) last.set_value();
  };
  EXPECT_THAT(RunReplica(coordinator_->desk(), *task_, observer), IsOk());
  run_.join();
  EXPECT_THAT(ended_, IsOk());
  EXPECT_EQ(board_.snapshot().progress.step, kSteps);
}

// And, told to stop at the same moment, the chief waited for its disk and let nobody go.
TEST_F(CoordinatorTest, AParameterServerMayGoWithACutWhileAChiefThatEndsWaitsForItsDisk) {
  Start(/*ps=*/1, Checkpoints(R"("everySeconds": 1)", "ending"));
  disk_.hangs = true;
  Join({"ps", 0}, Serve());
  ASSERT_TRUE(Until([&] { return disk_.writers > 0; }));
  stop_.Stop();
  EXPECT_TRUE(Until([&] { return Beat({"ps", 0}, WantToGo).may_go(); }));
  EXPECT_TRUE(disk_.hangs);
  disk_.GoOn();
  run_.join();
  EXPECT_THAT(ended_, StatusIs(absl::StatusCode::kCancelled));
}

// A generation begins beside a save, too.
TEST_F(CoordinatorTest, AParameterServerThatIsReplacedDuringASaveGetsTheLastCut) {
  Start(/*ps=*/1, Checkpoints(R"("everySeconds": 1)", "replaced"));
  disk_.hangs = true;
  Join({"ps", 0}, Serve());
  ASSERT_TRUE(Until([&] { return disk_.writers > 0; }));
  Join({"worker", 0});
  Join({"ps", 0}, Serve(), /*pod=*/2);
  EXPECT_TRUE(Until([&] {
    const wire::BeatReply reply = Beat({"worker", 0});
    return reply.ready() && reply.generation() == 2;
  }));
  EXPECT_TRUE(disk_.hangs);
}

// Symptom: who came while a slow disk took a checkpoint, and who was lost, was seen to afterwards.
TEST_F(CoordinatorTest, WorkersThatComeDuringASaveGetBatches) {
  Start(/*ps=*/1, Checkpoints(R"("everySeconds": 1)", "slow"));
  disk_.hangs = true;
  Join({"ps", 0}, Serve());
  ASSERT_TRUE(Until([&] { return disk_.writers > 0; }));
  Join({"worker", 0});
  EXPECT_TRUE(Until([&] { return AskForBatches(0).batches_size() > 0; }));
  EXPECT_TRUE(disk_.hangs);
}

// Symptom: what a killed worker had was lent to others when it had been silent for ten seconds,
// though its connection broke at once.
TEST_F(CoordinatorTest, WhatAWorkerHadWhoseConnectionBreaksIsLentToOthersAtOnce) {
  Start(/*ps=*/1);
  const std::string shard = Serve();
  Join({"ps", 0}, shard);
  Join({"worker", 0});
  Join({"worker", 1});
  wire::BeatReply lent;
  ASSERT_TRUE(Until([&] { return (lent = AskForBatches(0)).batches_size() > 0; }));
  // It takes the values, and is killed.
  const wire::Identity identity = IdentityOf({"worker", 0});
  auto channel = *comm::Channel::Connect(shard, {});
  ASSERT_THAT(channel->Send({.type = comm::FrameType::kHello}, "uid/1"), IsOk());
  ASSERT_THAT(channel->Send({.type = comm::FrameType::kPull,
                             .generation = static_cast<uint32_t>(lent.generation()),
                             .rank = 1,
                             .pod = static_cast<uint32_t>(identity.pod_number()),
                             .start = identity.start()}),
              IsOk());
  const auto values = channel->ReceiveHead();
  ASSERT_THAT(values, IsOk());
  ASSERT_EQ(values->type, comm::FrameType::kValues);
  channel.reset();
  std::set<int64_t> others;
  EXPECT_TRUE(Until([&] {
    // It is never silent: only its connection tells.
    EXPECT_EQ(Beat({"worker", 0}).verdict(), wire::BeatReply::KNOWN);
    const wire::BeatReply reply = AskForBatches(1);
    others.insert(reply.batches().begin(), reply.batches().end());
    return std::includes(others.begin(), others.end(), lent.batches().begin(),
                         lent.batches().end());
  }));
}

}  // namespace
}  // namespace taas
