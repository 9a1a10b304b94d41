#include "trainer/ring/device_means.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/collective/plan.h"
#include "trainer/graph/machine_fault.h"

namespace taas {
namespace {

using collective::Group;
using collective::Place;
using collective::PlanAllReduce;
using collective::PlanBroadcast;
using collective::Turn;
using collective::Way;

// Vectors of an epoch beside those of ring_core.h, which are counted from 0 on.
constexpr uint64_t kId = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kRounds = kId - 1;  // And downwards.
constexpr char kSum[] = "sum the gradients between GPUs";

// The links of a process that was killed are closed by the kernel, which may take a moment longer
// than its device needs to be missed.
constexpr std::chrono::milliseconds kReasonMax{100};

// A mean of some kilobytes takes tens of microseconds: so long it is looked at without a pause.
constexpr std::chrono::microseconds kEagerly{100};
// A sixteenth of what it has taken is lost by pauses at most, and above this nobody notices.
constexpr int kShareOfPause = 16;
constexpr std::chrono::microseconds kPauseMax{1'000};

std::chrono::microseconds PauseAfter(Clock::Duration elapsed) {
  if (elapsed < kEagerly) return std::chrono::microseconds(0);
  return std::min(std::chrono::duration_cast<std::chrono::microseconds>(elapsed / kShareOfPause),
                  kPauseMax);
}

std::string SecondsOf(Clock::Duration duration) {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(duration);
  return milliseconds.count() % 1'000 == 0 ? std::to_string(milliseconds.count() / 1'000) + " s"
                                           : std::to_string(milliseconds.count()) + " ms";
}

constexpr char kSums = '+', kSumsNot = '-';

bool Sums(const std::string& note) { return !note.empty() && note.front() == kSums; }
std::string WordsOf(const std::string& note) { return note.empty() ? "nothing" : note.substr(1); }

}  // namespace

std::string NoteOfSums(bool sums, const std::string& words) {
  return (sums ? kSums : kSumsNot) + words;
}

absl::StatusOr<SumsAgreement> AgreeOnSums(const std::vector<std::string>& notes,
                                          const std::vector<std::string>& addresses, int own) {
  const auto name = [&](size_t rank) {
    return "rank " + std::to_string(rank) + " at " + addresses[rank];
  };
  const auto first = std::ranges::find_if(notes, Sums);
  if (first == notes.end()) return SumsAgreement{};
  const auto yardstick = static_cast<size_t>(first - notes.begin());
  std::optional<size_t> other;
  for (size_t rank = 0; rank < notes.size(); ++rank) {
    if (!Sums(notes[rank]) || notes[rank] == *first) continue;
    if (!other || rank == static_cast<size_t>(own)) other = rank;
  }
  if (other) {
    const bool is_own = *other == static_cast<size_t>(own);
    return absl::Status(
        is_own ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kFailedPrecondition,
        "sum gradients between GPUs: " + name(*other) + " has " + WordsOf(notes[*other]) +
            ", and " + name(yardstick) + " has " + WordsOf(*first) +
            ": ranks must have the same; give all of them one image");
  }
  const auto cannot = std::ranges::find_if_not(notes, Sums);
  if (cannot == notes.end()) return SumsAgreement{.by_devices = true, .words = WordsOf(*first)};
  const auto rank = static_cast<size_t>(cannot - notes.begin());
  return SumsAgreement{.words = name(rank) + " has " + WordsOf(*cannot)};
}

std::string DeviceMeans::note() const {
  if (failures_ < kFailuresMax) return NoteOfSums(true, device_.name());
  return NoteOfSums(false, "a GPU on which " + device_.name() + " has failed " +
                               std::to_string(failures_) + " times");
}

absl::Status DeviceMeans::Begin(Group& group, const Epoch& epoch) {
  group_ = &group;
  counted_ = false;
  round_.emplace(PlanAllReduce(Way::kDirect, group.place(), 1));
  std::string id;
  RETURN_IF_ERROR(ShareId(epoch, &id));
  absl::Status formed =
      device_.Form({.rank = epoch.rank, .ranks = epoch.ranks(), .id = std::move(id)});
  return formed.ok() ? formed : Failed(std::move(formed));
}

// As numbers, which is what links carry: the length, and each byte.
absl::Status DeviceMeans::ShareId(const Epoch& epoch, std::string* id) {
  std::vector<float> numbers(1 + DeviceGroup::kIdBytesMax);
  if (epoch.rank == 0) {
    absl::StatusOr<std::string> made = device_.DrawId();
    // Nobody is told: who was would leave, and end the epoch before this failure is counted.
    if (!made.ok()) return Failed(made.status());
    *id = *std::move(made);
    numbers[0] = static_cast<float>(id->size());
    std::ranges::transform(*id, numbers.begin() + 1, [](char byte) {
      return static_cast<float>(static_cast<unsigned char>(byte));
    });
  }
  std::vector<int> receivers(static_cast<size_t>(epoch.ranks()) - 1);
  std::iota(receivers.begin(), receivers.end(), 1);
  collective::Exchange exchange(PlanBroadcast(group_->place(), 0, receivers, numbers.size()));
  exchange.Begin({.epoch = epoch.number, .step = epoch.start.step, .vector = kId}, numbers);
  RETURN_IF_ERROR(group_->Run(exchange));
  if (epoch.rank == 0) return absl::OkStatus();
  const auto size = static_cast<size_t>(
      std::clamp(numbers[0], 0.0F, static_cast<float>(DeviceGroup::kIdBytesMax)));
  if (size == 0) return absl::InternalError("form a group of GPUs: rank 0 sent no id for it");
  for (const float number : std::span(numbers).subspan(1, size)) {
    id->push_back(static_cast<char>(static_cast<unsigned char>(std::clamp(number, 0.0F, 255.0F))));
  }
  return absl::OkStatus();
}

absl::Status DeviceMeans::AwaitFormed() {
  const Clock::Time begun = clock_.Now();
  return CountLate(begun, limits_.form,
                   Await("form a group of GPUs",
                         [](Stage stage) { return stage != Stage::kForms; }, limits_.form));
}

// Whose patience ends first ends the epoch for all, who would take it for that rank's failure: by
// turns, so that none fails three times for long.
absl::Status DeviceMeans::CountLate(Clock::Time begun, Clock::Duration limit,
                                    absl::Status ended) {
  const bool late = clock_.Now() - begun >= limit / 2;
  const bool of_group = !ended.ok() && !absl::IsAborted(ended) && !IsMachineFault(ended);
  if (of_group && late && !counted_) Count(ended);
  return ended;
}

void DeviceMeans::Count(const absl::Status& why) {
  counted_ = true;
  ++failures_;
  Log(LogLevel::kWarning,
      failures_ < kFailuresMax
          ? "GPUs did not sum gradients; the next epoch tries again"
          : "GPUs did not sum gradients; from now on these go through memory of the hosts",
      {{"why", std::string(why.message())}, {"failures", std::to_string(failures_)}});
}

absl::Status DeviceMeans::Make(Turn turn, const TensorRef& gradients, bool narrow) {
  const Clock::Time begun = clock_.Now();
  return CountLate(begun, limits_.mean, MakeOnce(turn, gradients, narrow));
}

absl::Status DeviceMeans::MakeOnce(Turn turn, const TensorRef& gradients, bool narrow) {
  if (absl::Status launched = device_.Launch(gradients, narrow); !launched.ok()) {
    return Failed(std::move(launched));
  }
  // Where it does not come the others miss this rank, and end the epoch.
  RETURN_IF_ERROR(Await(kSum, [](Stage stage) { return stage != Stage::kBegun; }, limits_.mean));
  const Clock::Time begun = clock_.Now();
  Clock::Duration patience{0};
  for (turn.vector = kRounds;; --turn.vector) {
    ASSIGN_OR_RETURN(const bool passed,
                     Comes(kSum, [](Stage stage) { return stage == Stage::kReady; }, patience));
    ASSIGN_OR_RETURN(const bool all, Tell(turn, passed));
    if (all) break;
    if (clock_.Now() - begun >= limits_.mean) return TooLate(kSum, limits_.mean);
    patience = limits_.round;
  }
  failures_ = 0;
  return absl::OkStatus();
}

absl::StatusOr<bool> DeviceMeans::Tell(Turn turn, bool passed) {
  float count = passed ? 1 : 0;
  round_->Begin(turn, {&count, 1});
  const absl::Status told = group_->RunWithin(*round_, limits_.arrival);
  if (told.ok()) return count == static_cast<float>(group_->place().ranks);
  if (!absl::IsDeadlineExceeded(told)) return told;
  absl::Status missing = absl::DeadlineExceededError(
      std::string(kSum) + ": " + std::string(told.message()) +
      " of this rank: its process has stopped, or its GPU hangs; its log and nvidia-smi there say "
      "more");
  Log(LogLevel::kWarning, std::string(missing.message()),
      {{"step", std::to_string(turn.step)}});
  return missing;
}

absl::Status DeviceMeans::Await(const char* what, absl::FunctionRef<bool(Stage)> there,
                                Clock::Duration patience) {
  ASSIGN_OR_RETURN(const bool came, Comes(what, there, patience));
  return came ? absl::OkStatus() : TooLate(what, patience);
}

absl::StatusOr<bool> DeviceMeans::Comes(const char* what, absl::FunctionRef<bool(Stage)> there,
                                        Clock::Duration patience) {
  const Clock::Time begun = clock_.Now();
  for (;;) {
    const absl::StatusOr<Stage> stage = device_.Look();
    if (!stage.ok()) return Failed(Annotate(stage.status(), what));
    if (there(*stage)) return true;
    const Clock::Duration elapsed = clock_.Now() - begun;
    if (elapsed >= patience) return false;
    RETURN_IF_ERROR(group_->Pause(PauseAfter(elapsed))).With(what);
  }
}

absl::Status DeviceMeans::TooLate(const char* what, Clock::Duration patience) {
  return Failed(absl::DeadlineExceededError(
      std::string(what) + ": it has not ended within " + SecondsOf(patience) +
      ", though all ranks are there: what connects their GPUs does not work (" + device_.name() +
      " says more with NCCL_DEBUG=INFO in the environment)"));
}

absl::Status DeviceMeans::Failed(absl::Status why) {
  if (!IsMachineFault(why)) {
    RETURN_IF_ERROR(group_->Pause(kReasonMax));
    Count(why);
  }
  group_->Abort();
  (void)group_->Pause(std::chrono::microseconds(0));  // Closes the links: all learn of it.
  return why;
}

void DeviceMeans::End() {
  if (std::exchange(group_, nullptr) == nullptr) return;
  device_.Abort();
  if (device_.Ended(limits_.end)) return;
  stuck_(MachineFault(absl::UnavailableError(
      "a sum of gradients between GPUs did not end within " + SecondsOf(limits_.end) +
      " of its abort: the GPU hangs, or " + device_.name() +
      " does; where this comes again on other nodes, it is not the GPU (NCCL_DEBUG=INFO in the "
      "environment says more)")));
}

}  // namespace taas
