// What a large job costs the operator in memory.

#include <malloc.h>

#include <algorithm>

#include "gtest/gtest.h"
#include "operator/controller/controller_fixture.h"
#include "third_party/json.h"

namespace taas {
namespace {

using std::chrono::seconds;

size_t BytesInUse() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

// What making a job with this many workers takes at its peak, beside what the cluster keeps.
size_t PeakOfCreating(int workers) {
  SimCluster cluster(11);
  cluster.api().set_keeps_environments(false);
  cluster.RunFor(seconds(1));
  const size_t before = BytesInUse();
  size_t peak = before;
  cluster.CreateJob({.chiefs = 1, .workers = workers});
  EXPECT_TRUE(cluster.RunUntil(
      [&] {
        peak = std::max(peak, BytesInUse());
        return cluster.api().pod_creates().size() == static_cast<size_t>(workers) + 1;
      },
      seconds(60)));
  return peak - before;
}

// Symptom: a job of 1,000 replicas took the operator several times 1,000 copies of everything that
// names its 1,000 replicas, and with it the operator's memory limit.
TEST(ControllerMemoryTest, TwiceTheReplicasTakeAboutTwiceTheMemory) {
  const size_t half = PeakOfCreating(450);
  const size_t whole = PeakOfCreating(900);
  RecordProperty("half_bytes", static_cast<int>(half));
  RecordProperty("whole_bytes", static_cast<int>(whole));
  EXPECT_LE(static_cast<double>(whole), 2.3 * static_cast<double>(half))
      << half << " bytes for 450 workers, " << whole << " for 900";
}

}  // namespace
}  // namespace taas
