// The operator's ledger, which stands in an annotation of a job: whoever may change jobs may write
// it. What is read is written, and read again, as the same.

#include <chrono>
#include <string>
#include <vector>

#include "operator/api/ledger_codec.h"
#include "operator/base/check.h"
#include "tools/fuzz/target.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  std::vector<std::string> seeds{EncodeLedger(Ledger()), "{}"};
  Ledger ledger;
  ledger.attempt = 2;
  ledger.start_time = Clock::WallTime() + std::chrono::seconds(5);
  ledger.replicas[Role::kWorker][1] = {};
  ledger.outcome = JobState::kFailed;
  ledger.outcome_message = "worker-1 failed";
  seeds.push_back(EncodeLedger(ledger));
  return seeds;
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto ledger = taas::DecodeLedger(taas::FuzzText(data, size));
  if (!ledger.ok()) return 0;
  const std::string text = taas::EncodeLedger(*ledger);
  const auto again = taas::DecodeLedger(text);
  CHECK(again.ok()) << text << ": " << again.status();
  CHECK(taas::EncodeLedger(*again) == text) << text;
  return 0;
}
