// What the answer to a write means, in one table, and what the controller makes of it.
//
// Ownership: values. Threads: any. Errors: none.
//
//   switch (Classify(reply)) …
//   return done(Refused(reply, "create pod default/mnist-ps-0"));

#ifndef OPERATOR_CONTROLLER_WRITE_ANSWER_H_
#define OPERATOR_CONTROLLER_WRITE_ANSWER_H_

#include <chrono>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "operator/api/pod.h"
#include "operator/kube/pod_decoder.h"
#include "operator/kube/transport.h"

namespace taas {

struct WriteResult {
  enum class Kind {
    kDone,     // Applied; the view has the result.
    kReplan,   // Not applied, the world has moved on: look again.
    kTaken,    // The name belongs to somebody else.
    kRefused,  // Will not be applied however often it is tried: say so on the job.
    kLater,    // Not applied, or unknown; try again.
  };
  Kind kind = Kind::kDone;
  std::string message;             // What was attempted, on which object, and the cause.
  std::string reason;              // kRefused: the server's word, such as "Forbidden"; or empty.
  std::chrono::seconds after{0};   // kLater: not before.
  std::variant<std::monostate, Pod, OwnedObject, PodGroup> taken_by;  // kTaken.
  std::string warning = {};  // kDone: the header of this name; see warning_header.h.
};

enum class Answer { kDone, kExists, kConflict, kMissing, kUnknown, kLater, kRefused };

// The one table of what an answer to a write means.
Answer Classify(const absl::StatusOr<HttpReply>& reply);

// `what` was attempted; the server's or the connection's words follow.
std::string Cause(const absl::StatusOr<HttpReply>& reply, const std::string& what);
WriteResult Later(const absl::StatusOr<HttpReply>& reply, const std::string& what);
WriteResult Refused(const absl::StatusOr<HttpReply>& reply, const std::string& what);
// The write's object came back as something that cannot be read.
WriteResult Unreadable(const std::string& what, const absl::Status& why);

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_WRITE_ANSWER_H_
