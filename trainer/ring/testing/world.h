// What a simulated process of a ring's job sees of the rest: time, the network, the others, and who
// watches it.
//
// Ownership: an interface. Threads: one. Errors: none.

#ifndef TRAINER_RING_TESTING_WORLD_H_
#define TRAINER_RING_TESTING_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/random.h"
#include "trainer/cluster/tf_config.h"
#include "trainer/ring/testing/events.h"
#include "trainer/ring/testing/ledger.h"
#include "trainer/ring/testing/network.h"
#include "trainer/ring/testing/tiny_model.h"

namespace taas::sim {

class SimProcess;

// Where a process is when it is killed.
enum class Phase : uint8_t {
  kStarts,
  kJoined,
  kAsks,           // For an epoch.
  kTold,           // Of one.
  kMeets,          // Calls another rank.
  kMet,            // All of them.
  kGives,          // In the midst of an exchange of the model.
  kEntered,
  kComputes,
  kBeginsBucket,   // An exchange of gradients beside the computation of others,
  kInBucket,       // in its midst,
  kHasBucket,      // and after it, before the next.
  kBeginsRest,     // The exchange of losses and moments,
  kInRest,         // in its midst,
  kBeginsRows,     // Of tables that go by rows,
  kInRows,
  kBeginsGradients,  // The last of them.
  kInGradients,
  kHasSums,        // Before they are applied,
  kApplied,        // and after.
  kAllMade,
  kFinishes,       // The chief: evaluated and saved, about to say so.
  kSaysDone,       // It has said so.
  kDone,           // A worker that was told so.
  kPhases,
};
std::string_view NameOf(Phase phase);

struct Checkpoint {
  Standing standing;
  ModelBits bits;
};

struct JobShape {
  int replicas = 3;
  size_t min = 3, max = 3;
  int64_t max_steps = 50;
  // 0: none.
  int64_t checkpoint_steps = 0;
  // Of a gradient's exchange.
  size_t direct_elements_max = 0;
  size_t chunk_elements = 4;
  // Where buckets of gradients end, but the last.
  std::vector<size_t> bucket_ends{};
  // Bytes of a table's exchange from which on it goes by rows.
  size_t rows_saved_min = 0;

  ClusterSpec cluster() const;
};

class World {
 public:
  virtual ~World() = default;
  virtual Events& events() = 0;
  virtual Network& network() = 0;
  virtual Random& random() = 0;
  virtual Ledger& ledger() = 0;
  virtual const JobShape& shape() const = 0;
  virtual std::optional<Checkpoint>& checkpoint() = 0;
  // The process that has this address, or has had it.
  virtual std::shared_ptr<SimProcess> AtAddress(const std::string& address) = 0;
  virtual std::shared_ptr<SimProcess> Chief() = 0;
  // It has come there. It may be dead afterwards.
  virtual void Reaches(SimProcess& process, Phase phase) = 0;
  virtual void Exits(SimProcess& process, int code) = 0;
  // For who reads why something is broken.
  virtual void Tell(const std::string& what) = 0;
};

}  // namespace taas::sim

#endif  // TRAINER_RING_TESTING_WORLD_H_
