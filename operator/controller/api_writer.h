// One write to the API server until its result is known: sends it, tells what each kind of answer
// means, and reads the object where the answer does not say enough.
//
// Every write here can be repeated harmlessly: names are deterministic, deletes carry uid and
// version, patches carry the version. A write whose reply was lost is followed by a read that says
// whether it was applied.
//
// Ownership: the transport must outlive it. Destroying it drops the replies that have not come.
// Threads: the executor's only. Errors: as WriteResult; see the table in operator/kube/README.md.
//
//   api.Write(request, {.what = "create pod default/mnist-ps-0", .take = …, .read_back = …,
//                       .done = done});

#ifndef OPERATOR_CONTROLLER_API_WRITER_H_
#define OPERATOR_CONTROLLER_API_WRITER_H_

#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "absl/status/statusor.h"
#include "operator/controller/write_answer.h"
#include "operator/kube/transport.h"

namespace taas {

using WriteDone = std::function<void(WriteResult)>;

inline constexpr char kMergePatch[] = "application/merge-patch+json";
inline constexpr char kStrategicMergePatch[] = "application/strategic-merge-patch+json";

class ApiWriter {
 public:
  using OnReply = std::function<void(absl::StatusOr<HttpReply>)>;

  // What the answers whose meaning depends on the verb lead to.
  struct Meaning {
    enum class Next { kReadBack, kDone, kReplan, kLater, kRefused };
    Next exists = Next::kReadBack;
    Next conflict = Next::kReadBack;
    Next missing = Next::kReadBack;
  };
  // What to make of the answers to one write.
  struct Attempt {
    std::string what;  // "create pod default/mnist-ps-0", for messages.
    Meaning meaning;
    // Takes the reply of a write that was applied. False: it does not say enough.
    std::function<bool(const HttpReply& reply)> take;
    // Finds out what came of it, by Read.
    std::function<void()> read_back;
    WriteDone done;
  };

  explicit ApiWriter(KubeTransport& transport) : transport_(transport) {}

  void Send(HttpRequest request, OnReply done);
  void Write(HttpRequest request, Attempt attempt);
  // A patch of an object that is none of the users'. Gone or changed meanwhile: look again.
  void Change(HttpRequest request, std::string what,
              std::function<bool(const HttpReply& reply)> take, WriteDone done);
  // `take` gets null for an object that is not there; any other trouble ends in `done`.
  void Read(HttpRequest request, const std::string& what, WriteDone done,
            std::function<void(const HttpReply* found)> take);

 private:
  KubeTransport& transport_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// The body of a request; bytes that are no UTF-8 are replaced.
std::string RequestBody(const nlohmann::json& value);

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_API_WRITER_H_
