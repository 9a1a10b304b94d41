#include "trainer/ring/testing/sim_job.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

namespace taas::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// From the last fault to the end of the job: what is silent for longest, then what is found out by
// silence, and the steps.
constexpr seconds kEndsWithin{60};
constexpr size_t kStoryLines = 120;

constexpr std::array<std::string_view, static_cast<size_t>(Phase::kPhases)> kNames = {
    "starts",  "has joined", "asks for an epoch", "is told of one", "calls another rank",
    "has met all", "gives or is given the model", "has entered", "computes",
    "begins a bucket", "exchanges a bucket", "has exchanged a bucket",
    "begins the losses", "exchanges losses", "begins rows of tables",
    "exchanges rows of tables", "begins the gradients", "exchanges gradients",
    "has the sums", "has applied them", "has made all steps", "is about to end the job",
    "has ended the job", "was told of the end"};

}  // namespace

std::string_view NameOf(Phase phase) { return kNames[static_cast<size_t>(phase)]; }

ClusterSpec JobShape::cluster() const {
  ClusterSpec cluster;
  cluster.addresses["chief"] = {"host-0:2222"};
  for (int i = 1; i < replicas; ++i) {
    cluster.addresses["worker"].push_back("host-" + std::to_string(i) + ":2222");
  }
  cluster.self = {"chief", 0};
  return cluster;
}

SimJob::SimJob(uint64_t seed, const JobShape& shape, const Faults& faults)
    : shape_(shape),
      faults_(faults),
      random_(seed),
      events_(random_),
      network_(events_, random_),
      processes_(static_cast<size_t>(shape.replicas)),
      pods_(static_cast<size_t>(shape.replicas)),
      completed_(static_cast<size_t>(shape.replicas)) {}

SimJob::~SimJob() {
  events_.End();
  for (const auto& [address, process] : by_address_) process->Die();
}

void SimJob::Tell(const std::string& what) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(took()).count();
  story_.push_back(std::to_string(us) + " us: " + what);
  if (story_.size() > kStoryLines) story_.pop_front();
}

std::string SimJob::story() const {
  std::string text;
  for (const std::string& line : story_) text += line + "\n";
  return text;
}

std::shared_ptr<SimProcess> SimJob::AtAddress(const std::string& address) {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? nullptr : found->second;
}

void SimJob::StartProcess(int host) {
  const auto at = static_cast<size_t>(host);
  if (completed_[at] || ended_) return;
  auto process =
      std::make_shared<SimProcess>(*this, SimProcess::Options{.host = host, .pod = ++pods_[at]});
  processes_[at] = process;
  by_address_[process->address()] = process;
  Tell(process->name() + " starts");
  process->Start();
}

void SimJob::Run() {
  for (int host = 0; host < shape_.replicas; ++host) {
    events_.In(network_.Between(milliseconds(0), milliseconds(50)), [this, host] {
      StartProcess(host);
    });
  }
  events_.In(network_.Between(milliseconds(0), milliseconds(60)), [this] { PlanFault(); });
  end_plan_ = {.chief = AnyHost() == 0};
  if (end_plan_->chief) {
    constexpr std::array kEnds = {Phase::kAllMade, Phase::kFinishes, Phase::kSaysDone};
    end_plan_->phase = kEnds[random_.Below(kEnds.size())];
  } else {
    end_plan_->phase = network_.Chance(0.5) ? Phase::kAllMade : Phase::kDone;
  }
  while (!ended_ && ledger_.broken().empty()) {
    if (!events_.RunNext()) {
      ledger_.Break("nothing is to happen any more");
    } else if (last_fault_ && events_.now() > *last_fault_ + kEndsWithin) {
      for (const auto& process : processes_) Tell(process->Words());
      if (!HasLostItsEnd()) ledger_.Break("the job has not ended");
      ended_ = true;
    }
  }
}

bool SimJob::HasLostItsEnd() const {
  return shape_.checkpoint_steps == 0 &&
         std::ranges::any_of(completed_, [](bool completed) { return completed; }) &&
         std::ranges::none_of(processes_, [this](const auto& process) {
           return !process->dead() && process->core().standing().step == shape_.max_steps;
         });
}

void SimJob::PlanFault() {
  if (ended_) return;
  if (kills_ >= faults_.kills) {
    // It is to end now.
    if (!last_fault_) last_fault_ = events_.now();
    return;
  }
  if (network_.Chance(faults_.others)) OtherFault();
  PlanKill();
}

void SimJob::PlanKill() {
  Plan plan{.chief = AnyHost() == 0, .number = ++plans_};
  do {
    plan.phase = static_cast<Phase>(random_.Below(static_cast<uint64_t>(Phase::kAllMade)));
  } while (plan.chief && (plan.phase == Phase::kJoined || plan.phase == Phase::kMeets));
  plan.times = 1 + static_cast<int>(random_.Below(plan.phase == Phase::kGives ||
                                                          plan.phase == Phase::kInBucket ||
                                                          plan.phase == Phase::kInRest ||
                                                          plan.phase == Phase::kInGradients
                                                      ? 12
                                                      : 2));
  plan_ = plan;
  // A moment that does not come is not waited for.
  events_.In(network_.Between(milliseconds(5), milliseconds(400)), [this, number = plan.number] {
    if (!plan_ || plan_->number != number) return;
    for (int tries = 0; tries < 10; ++tries) {
      const auto& process = processes_[static_cast<size_t>(AnyHost())];
      if (process == nullptr || process->dead()) continue;
      return Kill(*process, Phase::kPhases, false);
    }
    PlanKill();
  });
}

void SimJob::Reaches(SimProcess& process, Phase phase) {
  const bool chief = process.host() == 0;
  if (end_plan_ && end_plan_->chief == chief && end_plan_->phase == phase &&
      kills_ < faults_.kills) {
    end_plan_.reset();
    return Kill(process, phase, true);
  }
  if (!plan_ || plan_->chief != chief || plan_->phase != phase) return;
  if (--plan_->times == 0) Kill(process, phase, true);
}

void SimJob::Kill(SimProcess& process, Phase phase, bool planned) {
  plan_.reset();
  ++kills_;
  if (planned) ++killed_[{process.host() == 0, phase}];
  Tell("kill of " + process.name() +
       (planned ? ", which " + std::string(NameOf(phase)) : std::string()));
  const int host = process.host();
  process.Die();
  const bool late = network_.Chance(0.1);
  events_.In(late ? network_.Between(milliseconds(200), seconds(3))
                  : network_.Between(milliseconds(1), milliseconds(100)),
             [this, host] { StartProcess(host); });
  // Some hit what follows from this one.
  events_.In(network_.Between(milliseconds(0), milliseconds(network_.Chance(0.5) ? 30 : 120)),
             [this] { PlanFault(); });
}

void SimJob::OtherFault() {
  const int host = AnyHost();
  const std::string name = "host " + std::to_string(host);
  const bool one_sided = network_.Chance(0.3);
  // Seldom longer than what is found out by silence.
  const Clock::Duration long_one =
      network_.Chance(0.03) ? network_.Between(seconds(5), seconds(16))
                            : network_.Between(milliseconds(5), milliseconds(600));
  const auto silence = [&](int other) {
    network_.Silence(host, other, long_one);
    if (!one_sided) network_.Silence(other, host, long_one);
  };
  const std::string length =
      " for " + std::to_string(std::chrono::duration_cast<milliseconds>(long_one).count()) + " ms";
  switch (random_.Below(5)) {
    case 0:
      if (network_.CutOneSided(host)) Tell("a connection is cut at " + name);
      return;
    case 1:
      Tell(name + (one_sided ? " is not heard" : " hears nobody and is not heard") + length);
      for (int other = 0; other < shape_.replicas; ++other) {
        if (other != host) silence(other);
      }
      return;
    case 2: {
      const int other = AnyHost();
      if (other == host) return;
      Tell(name + " and host " + std::to_string(other) + " are silent" + length);
      silence(other);
      return;
    }
    case 3:
      if (const auto& process = processes_[static_cast<size_t>(host)];
          process != nullptr && !process->dead()) {
        Tell(process->name() + " is frozen" + length);
        process->Freeze(long_one);
      }
      return;
    default:
      Tell("messages are slow" + length);
      network_.Slow(long_one);
  }
}

void SimJob::Exits(SimProcess& process, int code) {
  if (process.dead()) return;
  Tell(process.name() + " exits with " + std::to_string(code));
  const int host = process.host();
  const bool present = processes_[static_cast<size_t>(host)].get() == &process;
  process.Die();
  if (code != 0 && present) {
    ledger_.Break(process.name() + " ends the job with " + std::to_string(code));
  }
  if (code != 0) return;
  // What has ended well is not started again.
  completed_[static_cast<size_t>(host)] = true;
  if (host == 0) ended_ = true;
}

}  // namespace taas::sim
