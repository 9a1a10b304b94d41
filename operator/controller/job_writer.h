// The controller's writes to the API server, one request each, with what every kind of answer
// means.
//
// All of them can be repeated harmlessly: names are deterministic, deletes carry uid and version,
// patches carry the version. A write whose reply was lost is followed by a read that says whether
// it was applied.
//
// Ownership: transport and view must outlive it. Destroying it drops the replies that have not
// come. Threads: the executor's only. Errors: as WriteResult; see the table in
// operator/kube/README.md.
//
//   writer.Create(job, pod, [](WriteResult result) { … });

#ifndef OPERATOR_CONTROLLER_JOB_WRITER_H_
#define OPERATOR_CONTROLLER_JOB_WRITER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "operator/base/executor.h"
#include "operator/base/random.h"
#include "operator/controller/cluster_view.h"
#include "operator/kube/transport.h"
#include "operator/plan/plan.h"

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
  std::optional<Pod> pod;          // kTaken, where it is a pod.
  std::string owner_uid;           // kTaken, where it is a service.
};

class JobWriter {
 public:
  using Done = std::function<void(WriteResult)>;

  JobWriter(KubeTransport& transport, Executor& executor, Random& random, ClusterView& view);
  ~JobWriter();

  void Create(const Job& job, const CreatePod& step, Done done);
  void Create(const Job& job, const CreateService& step, Done done);
  void Delete(const DeletePod& step, Done done);
  void PatchLedger(const Job& job, const Ledger& ledger, Done done);
  void PatchStatus(const Job& job, const JobStatus& status, Done done);
  // Only a sentence, on a job that cannot be read.
  void PatchMessage(const ObjectMeta& job, const std::string& message);
  // Sent once; an event that is lost is lost.
  void Event(const ObjectMeta& job, bool warning, const std::string& reason,
             const std::string& message);

 private:
  using OnReply = std::function<void(absl::StatusOr<HttpReply>)>;

  void Send(HttpRequest request, OnReply done);
  void ReadPodBack(const Job& job, const std::string& name, const std::string& what, Done done);
  void ReadServiceBack(const Job& job, const std::string& what, Done done);
  void ReadDeletedBack(const DeletePod& step, const std::string& what, Done done);
  void Patch(const Job& job, std::string path, std::string body, std::string what, Done done);
  void ReadJobBack(const ObjectMeta& job, const std::string& what, Done done);

  KubeTransport& transport_;
  Executor& executor_;
  Random& random_;
  ClusterView& view_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_JOB_WRITER_H_
