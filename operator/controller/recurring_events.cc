#include "operator/controller/recurring_events.h"

#include <algorithm>

namespace taas {
namespace {

// Between two events of one job and cause, twice as long each time.
constexpr std::chrono::seconds kSpacingFirst{30};
constexpr std::chrono::minutes kSpacingMax{10};
// API servers forget events after an hour: what still stands then would be told nowhere.
constexpr std::chrono::minutes kTellAgain{30};
// Whatever did not come for so long begins anew.
constexpr std::chrono::hours kForget{1};
// Causes of one job: kubelets and API servers have some dozens of reasons.
constexpr size_t kCausesMax = 64;

}  // namespace

RecurringEvents::Entry* RecurringEvents::EntryOf(const std::string& cause, Clock::WallTime now) {
  const auto found = entries_.find(cause);
  if (found != entries_.end()) return &found->second;
  if (entries_.size() >= kCausesMax) return nullptr;
  Entry& entry = entries_[cause];
  entry.event.times = 0;
  entry.event.since = now;
  entry.spacing = kSpacingFirst;
  return &entry;
}

void RecurringEvents::Happens(const std::string& cause, const std::string& reason,
                              const std::string& message, Clock::WallTime now) {
  Entry* entry = EntryOf(cause, now);
  if (entry == nullptr) return;
  entry->event.reason = reason;
  entry->event.message = message;
  ++entry->event.times;
  entry->is_news = true;
}

void RecurringEvents::Repeats(const std::string& cause, const std::string& reason,
                              const std::string& message, Clock::Time now, Clock::WallTime wall) {
  Entry* entry = EntryOf(cause, wall);
  if (entry == nullptr) return;
  const bool known = entry->told.has_value() && !entry->is_news &&
                     now < *entry->told + kTellAgain;
  Happens(cause, reason, message, wall);
  if (known) entry->is_news = false;
}

void RecurringEvents::Stand(const std::vector<Hindrance>& hindrances, Clock::WallTime now) {
  for (auto& [cause, entry] : entries_) {
    const bool here = std::any_of(hindrances.begin(), hindrances.end(),
                                  [&](const Hindrance& h) { return h.cause == cause; });
    if (!entry.stands || here) continue;
    entry.stands = entry.is_news = false;
  }
  for (const Hindrance& hindrance : hindrances) {
    Entry* entry = EntryOf(hindrance.cause, now);
    if (entry == nullptr) continue;
    if (!entry->stands || entry->event.message != hindrance.message) {
      Happens(hindrance.cause, hindrance.reason, hindrance.message, now);
    }
    entry->stands = true;
  }
}

std::optional<Clock::Time> RecurringEvents::TimeOf(const Entry& entry) {
  if (entry.is_news) return entry.told.has_value() ? *entry.told + entry.spacing : Clock::Time();
  if (entry.stands && entry.told.has_value()) return *entry.told + kTellAgain;
  return std::nullopt;
}

std::vector<RecurringEvents::Due> RecurringEvents::Take(Clock::Time now) {
  std::vector<Due> due;
  for (auto item = entries_.begin(); item != entries_.end();) {
    Entry& entry = item->second;
    const std::optional<Clock::Time> time = TimeOf(entry);
    if (time.has_value() && *time <= now) {
      due.push_back(entry.event);
      if (entry.told.has_value()) {
        entry.spacing = std::min<Clock::Duration>(2 * entry.spacing, kSpacingMax);
      }
      entry.is_news = false;
      entry.told = now;
    }
    const bool over = !entry.stands && !entry.is_news &&
                      (!entry.told.has_value() || now >= *entry.told + kForget);
    item = over ? entries_.erase(item) : std::next(item);
  }
  return due;
}

std::optional<Clock::Duration> RecurringEvents::NextAfter(Clock::Time now) const {
  std::optional<Clock::Duration> next;
  for (const auto& [cause, entry] : entries_) {
    const std::optional<Clock::Time> time = TimeOf(entry);
    if (!time.has_value()) continue;
    const Clock::Duration after = std::max<Clock::Duration>(*time - now, Clock::Duration::zero());
    next = std::min(next.value_or(after), after);
  }
  return next;
}

}  // namespace taas
