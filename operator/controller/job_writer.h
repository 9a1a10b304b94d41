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
//   writer.Create(job.meta, pod, [](WriteResult result) { … });

#ifndef OPERATOR_CONTROLLER_JOB_WRITER_H_
#define OPERATOR_CONTROLLER_JOB_WRITER_H_

#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "operator/base/executor.h"
#include "operator/base/random.h"
#include "operator/controller/cluster_view.h"
#include "operator/controller/kept_fields.h"
#include "operator/controller/write_answer.h"
#include "operator/kube/transport.h"
#include "operator/plan/plan.h"

namespace taas {

class JobWriter {
 public:
  using Done = std::function<void(WriteResult)>;

  JobWriter(KubeTransport& transport, Executor& executor, Random& random, ClusterView& view);
  ~JobWriter();

  void Create(const ObjectMeta& job, const CreatePod& step, Done done);
  void Create(const ObjectMeta& job, const CreateService& step, Done done);
  void Create(const ObjectMeta& job, const CreatePodGroup& step, Done done);
  void Update(const UpdatePodGroup& step, Done done);
  void Delete(const DeletePodGroup& step, Done done);
  void Release(const ReleasePod& step, Done done);
  void TakeOver(const Adopt& step, Done done);
  void Delete(const DeletePod& step, Done done);
  void Delete(const DeleteService& step, Done done);
  // In the background: its pods and services go by themselves.
  void Delete(const DeleteJob& step, Done done);
  void PatchLedger(const Job& job, const Ledger& ledger, Done done);
  // `kept`, which outlives the writer, learns from the answer.
  void PatchStatus(const Job& job, const JobStatus& status, KeptFields& kept, Done done);
  // Likewise, but of conditions and message alone: the rest is another controller's.
  void PatchRefusal(const Job& job, const JobStatus& status, KeptFields& kept, Done done);
  // Only a sentence, on a job that cannot be read.
  void PatchMessage(const ObjectMeta& job, JobKind kind, const std::string& message);
  // The condition Failed, with what is wrong, on a TFJob that was stored although it is invalid.
  void PatchInvalid(const ObjectMeta& job, JobKind kind, const std::string& message);
  // Sent once; an event that is lost is lost.
  void Event(const Job& job, bool warning, const std::string& reason, const std::string& message);

 private:
  using OnReply = std::function<void(absl::StatusOr<HttpReply>)>;
  struct Meaning;
  struct Attempt;
  struct Victim;

  void Send(HttpRequest request, OnReply done);
  void Write(HttpRequest request, Attempt attempt);
  void Read(std::string path, const std::string& what, Done done,
            std::function<void(const HttpReply* found)> take);
  void ReadPodBack(const ObjectMeta& job, const std::string& name, const std::string& what,
                   Done done);
  void ReadServiceBack(const ObjectMeta& job, const std::string& name, const std::string& what,
                       Done done);
  void ReadGroupBack(const ObjectMeta& job, const CreatePodGroup& step, const std::string& what,
                     Done done);
  // Changes an object that is none of the job's manifests. Gone or changed meanwhile: look again.
  void Change(HttpRequest request, std::string what,
              std::function<bool(const HttpReply& reply)> take, Done done);
  void Remove(Victim victim, Done done);
  void ReadRemovedBack(const Victim& victim, const std::string& what, Done done);
  void PatchFlaw(const ObjectMeta& job, JobKind kind, const nlohmann::json& status);
  void Patch(const Job& job, HttpRequest request, std::string what,
             std::function<void(const HttpReply& reply)> applied, Done done);
  void ReadJobBack(const ObjectMeta& job, JobKind kind, const std::string& what, Done done);

  KubeTransport& transport_;
  Executor& executor_;
  Random& random_;
  ClusterView& view_;
  bool events_refused_ = false;  // The last one was.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_JOB_WRITER_H_
