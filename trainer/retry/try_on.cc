#include "trainer/retry/try_on.h"

#include <optional>
#include <utility>

#include "operator/base/log.h"
#include "trainer/graph/machine_fault.h"

namespace taas {
namespace {

// Between two lines of the log about one trouble.
constexpr std::chrono::minutes kSayEvery{1};

std::optional<Clock::Duration> LimitOf(Patience patience, const TryLimits& limits) {
  switch (patience) {
    case Patience::kNone: return Clock::Duration(0);
    case Patience::kStart: return limits.start;
    case Patience::kRead: return limits.read;
    case Patience::kSave: return limits.save;
    case Patience::kAlways: break;
  }
  return std::nullopt;
}

// One thing that is tried until it went well or its time is over.
class Trouble {
 public:
  Trouble(const Tries& tries, ErrorAt at, const std::string& what)
      : tries_(tries), at_(at), what_(what) {}

  // OK if `error` is worth another try: then it was told, and a pause has passed.
  absl::Status Wait(const absl::Status& error) {
    const Reaction reaction = ReactionTo(error.code(), {tries_.limits.role, at_});
    // A device that is lost does not come back in this process.
    if (reaction.patience == Patience::kNone || IsMachineFault(error)) return error;
    const Clock::Time now = tries_.clock.Now();
    if (!since_) {
      since_ = now;
      before_ = tries_.board.snapshot();
    }
    const Clock::Duration waited = now - *since_;
    const std::optional<Clock::Duration> limit = LimitOf(reaction.patience, tries_.limits);
    const std::string cause(error.message());
    if (limit && waited >= *limit) {
      const std::string text = what_ + ", given up after " + SecondsOf(waited) + ": " + cause;
      return reaction.exit_code == kExitRestart ? absl::UnavailableError(text)
                                                : absl::FailedPreconditionError(text);
    }
    const std::string text = "trying again to " + what_ + " since " + SecondsOf(waited) +
                             (limit ? ", at most for " + SecondsOf(*limit) : "") + ": " + cause;
    Tell(text, now);
    if (tries_.stop.WaitFor(tries_.limits.pause)) {
      return absl::CancelledError("stopped while " + text);
    }
    return absl::OkStatus();
  }

  void Pass() {
    if (!since_) return;
    tries_.board.SetState(before_.state, before_.message);
    Log(LogLevel::kInfo, "went well after " + SecondsOf(tries_.clock.Now() - *since_),
        {{"what", what_}});
  }

 private:
  void Tell(const std::string& text, Clock::Time now) {
    const bool saves = at_ == ErrorAt::kSave || at_ == ErrorAt::kLastSave;
    tries_.board.SetState(saves ? RunState::kSaving : RunState::kWaitingForPeers, text);
    if (said_ && now - *said_ < kSayEvery) return;
    said_ = now;
    Log(LogLevel::kError, text);
  }

  const Tries& tries_;
  const ErrorAt at_;
  const std::string& what_;
  std::optional<Clock::Time> since_;
  std::optional<Clock::Time> said_;
  StatusBoard::Snapshot before_;
};

}  // namespace

std::string SecondsOf(Clock::Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(duration).count()) + " s";
}

absl::Status TryOn(const Tries& tries, ErrorAt at, const std::string& what,
                   const std::function<absl::Status()>& attempt) {
  Trouble trouble(tries, at, what);
  for (;;) {
    const absl::Status status = attempt();
    if (status.ok()) {
      trouble.Pass();
      return status;
    }
    const absl::Status over = trouble.Wait(status);
    if (!over.ok()) return over;
  }
}

}  // namespace taas
