#include "operator/api/ledger_size.h"

#include <algorithm>
#include <string>

#include "operator/api/ledger_codec.h"

namespace taas {
namespace {

// As many pods or restarts as one replica can have: with one a second it lasts for 11 days, and
// after some failures in a row there is one in 5 minutes.
constexpr int32_t kOfOneReplica = 999'999;
// A time with nanoseconds, of which the last digit is not left out.
constexpr Clock::WallTime kLongTime{std::chrono::nanoseconds(1'800'000'000'123'456'789)};
constexpr Clock::WallTime kTime{std::chrono::seconds(1'800'000'000)};
constexpr size_t kNodeNameMax = 253;
constexpr size_t kNodesMax = 16;

// Each character of it takes two bytes in JSON.
std::string LongText(size_t bytes) { return std::string(bytes, '"'); }

// Everything but the replicas.
Ledger Fullest() {
  Ledger ledger;
  ledger.attempt = ledger.releases = ledger.ran_attempt = kCountMax;
  ledger.token = std::string(kJobTokenMax, 'f');
  ledger.start_time = ledger.pending_since = ledger.released_until = kLongTime;
  ledger.finishing_since = ledger.taken_over = ledger.outcome_time = kLongTime;
  ledger.suspended = true;
  ledger.released_because = ledger.outcome_message = LongText(kLedgerTextMax);
  ledger.outcome_remark = ledger.outcome_message;
  ledger.outcome_reason = "PendingDeadlineExceeded";
  ledger.outcome = JobState::kSucceeded;
  ledger.group = {.attempt = kCountMax, .replicas = kCountMax, .pods = kCountMax};
  ledger.bad_nodes.assign(kNodesMax, {std::string(kNodeNameMax, 'n'), kLongTime});
  ledger.history.assign(kRestartHistoryMax,
                        RestartRecord{.role = Role::kEvaluator,
                                      .index = kOfOneReplica,
                                      .attempt = kCountMax,
                                      .pod_number = kOfOneReplica,
                                      .cause = RestartCause::kOutOfMemory,
                                      .exit_code = INT32_MIN,
                                      .message = LongText(kRestartMessageMax),
                                      .node = std::string(kNodeNameMax, 'n'),
                                      .time = kLongTime});
  for (const RestartCause cause :
       {RestartCause::kUserError, RestartCause::kOutOfMemory, RestartCause::kKilled,
        RestartCause::kPreempted, RestartCause::kNodeLost, RestartCause::kBadNode}) {
    ledger.restarts[cause] = 3 * kCountMax;
  }
  for (const Role role : {Role::kChief, Role::kPs, Role::kWorker, Role::kEvaluator}) {
    ledger.replicas[role];
  }
  return ledger;
}

// The time before which the next pod is not made and the restarts of the present one are never
// there together, and one that has ended for good has neither.
size_t BytesOfOne(bool dispensable, bool ports) {
  LedgerReplica waits{.pod_number = kOfOneReplica,
                      .first_pod = kOfOneReplica,
                      .own_restarts = dispensable ? kOfOneReplica : 0,
                      .quick_failures = kQuickFailuresMax,
                      .not_before = kTime};
  if (ports) waits.port = waits.status_port = 65'535;
  LedgerReplica restarts = waits;
  restarts.not_before.reset();
  restarts.restarts_in_place = kOfOneReplica;
  size_t bytes = 0;
  for (const LedgerReplica& replica : {waits, restarts}) {
    Ledger ledger;
    const size_t none = EncodeLedger(ledger).size();
    ledger.replicas[Role::kPs] = {};
    const size_t frame = EncodeLedger(ledger).size() - none;
    ledger.replicas[Role::kPs][0] = replica;
    // With a comma and without the index' only digit.
    bytes = std::max(bytes, EncodeLedger(ledger).size() - none - frame);
  }
  return bytes;
}

// Of all numbers below `count`.
size_t DigitsBelow(int32_t count) {
  size_t digits = 0;
  for (int64_t from = 0, power = 10, length = 1; from < count; from = power, power *= 10) {
    digits += static_cast<size_t>((std::min<int64_t>(count, power) - from) * length++);
  }
  return digits;
}

}  // namespace

size_t LedgerBytesMax(const LedgerShape& shape) {
  static const size_t fixed = EncodeLedger(Fullest()).size();
  // By whether it is dispensable.
  static const size_t plain[] = {BytesOfOne(false, false), BytesOfOne(true, false)};
  static const size_t with_ports[] = {BytesOfOne(false, true), BytesOfOne(true, true)};
  size_t bytes = fixed;
  for (const auto& [role, count] : shape.replicas) {
    const auto own = shape.dispensable.find(role);
    const bool dispensable = own != shape.dispensable.end() && own->second;
    const size_t each = (shape.ports ? with_ports : plain)[dispensable ? 1 : 0];
    bytes += static_cast<size_t>(std::max(0, count)) * each + DigitsBelow(count);
  }
  return bytes;
}

size_t LedgerRoom(const Job& job) {
  const size_t others = job.other_annotation_bytes + kLedgerAnnotation.size();
  return kAnnotationBytesMax - std::min(kAnnotationBytesMax, others);
}

int32_t ReplicasThatFit(const LedgerShape& shape, Role role, size_t room) {
  LedgerShape tried = shape;
  const auto fits = [&](int32_t count) {
    tried.replicas[role] = count;
    return LedgerBytesMax(tried) <= room;
  };
  int32_t low = 0;
  int32_t high = shape.replicas.count(role) > 0 ? shape.replicas.at(role) : 0;
  if (fits(high)) return high;
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace taas
