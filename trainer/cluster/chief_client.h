// Calls to the chief.
//
// Ownership: owns its connection. Threads: any. Errors: Unavailable with gRPC's own words and the
// address (not reachable yet, gone, no answer in time, cancelled): try again. Names are resolved
// anew when a connection breaks.
//
//   ChiefClient chief("mnist-chief-0.mnist.default.svc:2222");
//   ASSIGN_OR_RETURN(wire::JoinReply reply, chief.Join(request));

#ifndef TRAINER_CLUSTER_CHIEF_CLIENT_H_
#define TRAINER_CLUSTER_CHIEF_CLIENT_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/proto/chief.pb.h"

namespace taas {

// What a call does about a chief that cannot be reached.
enum class Absent { kWait, kFail };

// A call that the chief may hold for a heartbeat (2 s), and which may have to wait for the chief
// first.
constexpr std::chrono::milliseconds kBeatPatience{5'000};

class ChiefClient {
 public:
  // `token`: the job's, if it has one.
  explicit ChiefClient(const std::string& address, const std::string& token = "",
                       std::chrono::milliseconds beat_patience = kBeatPatience);
  ~ChiefClient();

  const std::string& address() const { return address_; }

  absl::StatusOr<wire::JoinReply> Join(const wire::JoinRequest& request);
  absl::StatusOr<wire::BeatReply> Beat(const wire::BeatRequest& request,
                                       Absent absent = Absent::kWait);
  absl::Status Leave(const wire::LeaveRequest& request,
                     std::chrono::milliseconds patience = std::chrono::seconds(1));
  // Ends the calls that are under way; later ones fail at once.
  void Cancel();

 private:
  struct State;
  const std::string address_;
  const std::chrono::milliseconds beat_patience_;
  std::unique_ptr<State> state_;
};

}  // namespace taas

#endif  // TRAINER_CLUSTER_CHIEF_CLIENT_H_
