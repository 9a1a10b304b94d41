#include "operator/api/ledger_size.h"

#include <string>

#include "gtest/gtest.h"
#include "operator/api/ledger_codec.h"

namespace taas {
namespace {

// All that can happen to replicas has happened to each of them.
Ledger Grown(int32_t workers, bool dispensable) {
  Ledger ledger;
  ledger.history.assign(kRestartHistoryMax, RestartRecord{.exit_code = 137,
                                                          .message = std::string(160, '\\'),
                                                          .node = std::string(253, 'n')});
  ledger.released_because = ledger.outcome_message = std::string(kLedgerTextMax, '"');
  for (int32_t i = 0; i < workers; ++i) {
    ledger.replicas[Role::kWorker][i] = {
        .pod_number = 999'999,
        .first_pod = 999'998,
        .own_restarts = dispensable ? 999'999 : 0,
        .quick_failures = kQuickFailuresMax,
        .not_before = Clock::WallTime(std::chrono::seconds(1'800'000'000))};
  }
  return ledger;
}

// Symptom: the ledger of a job of 10,000 workers that had each failed once was larger than an API
// server takes, and from then on nothing of the job was replaced any more.
TEST(LedgerSizeTest, TheNumberThatFitsDoesAndOneMoreDoesNotWhateverHappens) {
  for (const bool dispensable : {false, true}) {
    const LedgerShape shape{.replicas = {{Role::kWorker, 10'000}},
                            .dispensable = {{Role::kWorker, dispensable}}};
    EXPECT_GT(LedgerBytesMax(shape), kAnnotationBytesMax);
    const int32_t fit = ReplicasThatFit(shape, Role::kWorker, kAnnotationBytesMax);
    // What 120,000 bytes of TF_CONFIG allow stays possible.
    EXPECT_GT(fit, dispensable ? 1'900 : 2'300);
    EXPECT_LT(fit, 3'000);
    EXPECT_LE(EncodeLedger(Grown(fit, dispensable)).size(), kAnnotationBytesMax);
    LedgerShape at = shape;
    at.replicas[Role::kWorker] = fit;
    EXPECT_LE(LedgerBytesMax(at), kAnnotationBytesMax);
    at.replicas[Role::kWorker] = fit + 1;
    EXPECT_GT(LedgerBytesMax(at), kAnnotationBytesMax);
  }
}

TEST(LedgerSizeTest, EachReplicaTakesAsMuchAsItsEncoding) {
  const auto bytes = [](int32_t workers) {
    return LedgerBytesMax({.replicas = {{Role::kWorker, workers}}});
  };
  const auto grown = [](int32_t workers) { return EncodeLedger(Grown(workers, false)).size(); };
  for (const int32_t workers : {9, 10, 99, 100, 101, 1'000}) {
    EXPECT_EQ(bytes(workers + 1) - bytes(workers), grown(workers + 1) - grown(workers)) << workers;
  }
}

TEST(LedgerSizeTest, OtherAnnotationsAndPortsTakeTheirRoom) {
  Job job;
  job.other_annotation_bytes = 200'000;
  EXPECT_EQ(LedgerRoom(job), kAnnotationBytesMax - 200'000 - kLedgerAnnotation.size());
  job.other_annotation_bytes = 900'000;
  EXPECT_EQ(LedgerRoom(job), 0u);
  const LedgerShape shape{.replicas = {{Role::kPs, 4}, {Role::kWorker, 5'000}}};
  LedgerShape local = shape;
  local.ports = true;
  EXPECT_LT(ReplicasThatFit(local, Role::kWorker, kAnnotationBytesMax),
            ReplicasThatFit(shape, Role::kWorker, kAnnotationBytesMax));
  EXPECT_EQ(ReplicasThatFit(shape, Role::kWorker, 0), 0);
}

}  // namespace
}  // namespace taas
