// What must hold while ranks train, checked at each thing that one of them does. What it finds
// first ends the run, with a sentence.
//
// Ownership: value type. Threads: one. Errors: a sentence in broken().
//
//   ledger.OnStep(rank, epoch, standing, model.Bits());
//   ASSERT_EQ(ledger.broken(), "");

#ifndef TRAINER_RING_TESTING_LEDGER_H_
#define TRAINER_RING_TESTING_LEDGER_H_

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "trainer/ring/epoch.h"
#include "trainer/ring/testing/tiny_model.h"

namespace taas::sim {

// An epoch of one of the chiefs that there were.
struct EpochName {
  int64_t chief = 0;  // Its pod.
  uint32_t number = 0;

  auto operator<=>(const EpochName&) const = default;
};

class Ledger {
 public:
  const std::string& broken() const { return broken_; }
  void Break(const std::string& why) {
    if (broken_.empty()) broken_ = why;
  }
  int64_t steps() const { return steps_; }

  // The chief has formed it, of so many where something is left to train; all before it are left by
  // their rank 0.
  struct Bounds {
    int min = 1, max = 1;
    int64_t max_steps = 0;
  };
  void OnFormed(const EpochName& name, const Epoch& epoch, const Bounds& bounds);
  // A chief has gone.
  void OnChiefGone() { LeaveAll(); }
  // A process has met the others, and the model is that of the start. `own`: where it stood before,
  // and with which model, if it had one that it was to keep.
  struct Own {
    Standing standing;
    ModelBits bits;
    bool receives = false;
  };
  void OnEntered(const std::string& process, const EpochName& name, const Epoch& epoch,
                 const Own& own, const ModelBits& now);
  void OnStep(const std::string& process, const EpochName& name, const Epoch& epoch,
              const Standing& standing, const ModelBits& now);
  // The chief has ended the job with this model.
  void OnEnd(const Standing& standing, int64_t max_steps, const ModelBits& bits);

 private:
  struct Model {
    Standing standing;
    ModelBits bits;
  };
  struct Record {
    bool left = false;  // By its rank 0.
    std::map<int64_t, Model> models;       // By step; the first is the start's.
    std::map<std::string, int> late_steps;  // By process, since it was left.
  };
  void LeaveAll() {
    for (auto& [name, record] : records_) record.left = true;
  }
  // The batches of a model are exactly these.
  void CheckBatches(const std::string& process, const Standing& standing, const ModelBits& bits);

  std::string broken_;
  int64_t steps_ = 0;
  uint32_t last_formed_ = 0;
  std::map<EpochName, Record> records_;
};

}  // namespace taas::sim

#endif  // TRAINER_RING_TESTING_LEDGER_H_
