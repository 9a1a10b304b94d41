// Random schedules: three processes that freeze, die, come back and lose their network, each with a
// clock of its own, while all that lead write.

#include <algorithm>
#include <cstdlib>

#include "gtest/gtest.h"
#include "operator/kube/lease_elector.h"
#include "operator/kube/lease_fixture.h"

namespace taas {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr int kProcesses = 3;
constexpr int kSeeds = 150;
constexpr auto kLife = 600s;
// A write that has left is at the server within this; above, epochs and preconditions have to help.
// With clocks that are a tenth apart from true time the margin of 5 s shrinks to
// 15 s / 1.1 - 10 s / 0.9 = 2.5 s.
constexpr milliseconds kWriteDelayMax{2400};

class Schedule {
 public:
  explicit Schedule(uint64_t seed) : seed_(seed), world_(seed) {
    for (int i = 0; i < kProcesses; ++i) StartProcess(i);
  }

  void Run() {
    const Clock::Time end = world_.now() + kLife;
    while (world_.now() < end && !testing::Test::HasFailure()) {
      world_.RunFor(milliseconds(1 + Below(200)));
      CheckGates();
      for (int i = 0; i < kProcesses; ++i) Write(i);
      if (Below(40) == 0) Disturb();
    }
    CheckHistory();
    Heal();
  }
  size_t writes() const { return history_.size(); }
  int leaders() const { return leaders_; }

 private:
  struct Slot {
    Candidate* process = nullptr;
    int64_t counted = 0;  // Its epoch, when it was counted as a leader.
  };

  uint64_t Below(uint64_t limit) { return world_.random.Below(limit); }

  // The successor of one that ended; what the old one had under way stays under way.
  void StartProcess(int i) {
    const double rate = 0.9 + 0.2 * world_.random.Unit();
    const std::string name = std::to_string(i) + "-" + std::to_string(++starts_);
    slots_[i] = {.process = &world_.Add(name, {}, rate)};
    slots_[i].process->link.faults().random_loss = Below(3) == 0 ? 0.2 : 0;
  }

  // What a supervisor does with a process that has ended.
  void Replace(int i) {
    slots_[i].process->process.Kill();
    StartProcess(i);
  }

  void Write(int i) {
    Candidate& process = *slots_[i].process;
    const bool ended = !process.lost.empty() || !process.released.empty();
    if (ended && process.process.runs()) return Replace(i);
    if (process.leads() && slots_[i].counted == 0) {
      slots_[i].counted = process.epoch;
      ++leaders_;
    }
    // The gate is asked also in a frozen process: its write is past all but this.
    auto pass = process.gate.Enter();
    if (!pass.ok()) return;
    const milliseconds delay(Below(static_cast<uint64_t>(kWriteDelayMax.count())));
    world_.executor.PostAfter(
        delay, [this, epoch = process.epoch,
                under_way = std::make_shared<WriteGate::Pass>(*std::move(pass))] {
          history_.push_back(epoch);
        });
  }

  void Disturb() {
    Candidate& process = *slots_[Below(kProcesses)].process;
    const auto time = milliseconds(Below(40'000));
    switch (Below(8)) {
      case 0:
        process.process.Freeze();
        world_.executor.PostAfter(time, [&process] { process.process.Thaw(); });
        return;
      case 1:
        process.link.faults().cut = true;
        world_.executor.PostAfter(time, [&process] { process.link.faults().cut = false; });
        return;
      case 2:
        process.link.faults().hangs = true;
        world_.executor.PostAfter(time, [&process] { process.link.faults().hangs = false; });
        return;
      case 3:
        process.link.faults().loses_replies = true;
        world_.executor.PostAfter(time,
                                  [&process] { process.link.faults().loses_replies = false; });
        return;
      case 4:
        process.link.faults().delay_max = milliseconds(1 + Below(4000));
        return;
      case 5:
        process.process.set_wall_offset(time * 1000);
        return;
      case 6:
        if (process.process.runs()) process.Release();
        return;
      default:
        for (int i = 0; i < kProcesses; ++i) {
          if (slots_[i].process == &process) Replace(i);
        }
    }
  }

  void CheckGates() {
    int open = 0;
    for (const auto& process : world_.candidates) open += process->gate.Check().ok() ? 1 : 0;
    EXPECT_LE(open, 1) << "seed " << seed_;
  }

  void CheckHistory() {
    int64_t last = 0;
    for (const int64_t epoch : history_) {
      EXPECT_GE(epoch, last) << "seed " << seed_;
      last = std::max(last, epoch);
    }
  }

  // Once nothing disturbs any more somebody leads.
  void Heal() {
    world_.RunFor(60s);
    for (int i = 0; i < kProcesses; ++i) {
      slots_[i].process->link.faults() = {};
      const bool ended =
          !slots_[i].process->lost.empty() || !slots_[i].process->released.empty();
      if (ended) Replace(i);
      slots_[i].process->process.Thaw();
    }
    const auto somebody = [this] {
      for (const Slot& slot : slots_) {
        if (slot.process->leads()) return true;
      }
      return false;
    };
    EXPECT_TRUE(world_.RunUntil(somebody, 60s)) << "seed " << seed_;
  }

  const uint64_t seed_;
  LeaseWorld world_;
  Slot slots_[kProcesses];
  int starts_ = 0;
  int leaders_ = 0;
  std::vector<int64_t> history_;  // Epochs of writes as they arrived.
};

TEST(LeaseScheduleTest, OneGateIsOpenAtATimeAndTheEpochsOfWritesThatArriveNeverFall) {
  const char* given = std::getenv("TAAS_SEED");
  const uint64_t first = given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
  const uint64_t last = given == nullptr ? kSeeds : first;
  size_t writes = 0;
  int leaders = 0;
  for (uint64_t seed = first; seed <= last && !HasFailure(); ++seed) {
    Schedule schedule(seed);
    schedule.Run();
    writes += schedule.writes();
    leaders += schedule.leaders();
  }
  if (given != nullptr) return;
  EXPECT_GE(writes, 100'000u) << "the schedules hardly let anybody write";
  EXPECT_GE(leaders, 1'000) << "the schedules hardly hand over";
}

}  // namespace
}  // namespace taas
