// Makes, changes and removes what belongs to a job: pods, services, its PodGroup; and removes the
// job itself. One request each.
//
// Ownership: both arguments must outlive it. Threads: the executor's only. Errors: as ApiWriter's.
//
//   objects.Create(job.meta, pod, [](WriteResult result) { … });

#ifndef OPERATOR_CONTROLLER_OBJECT_WRITER_H_
#define OPERATOR_CONTROLLER_OBJECT_WRITER_H_

#include <string>

#include "absl/status/statusor.h"
#include "operator/controller/api_writer.h"
#include "operator/controller/cluster_view.h"
#include "operator/kube/transport.h"
#include "operator/plan/plan.h"

namespace taas {

class ObjectWriter {
 public:
  ObjectWriter(ApiWriter& api, ClusterView& view) : api_(api), view_(view) {}

  void Create(const ObjectMeta& job, const CreatePod& step, WriteDone done);
  void Create(const ObjectMeta& job, const CreateService& step, WriteDone done);
  void Create(const ObjectMeta& job, const CreatePodGroup& step, WriteDone done);
  // The view does not know it: that it is there is for the caller to remember.
  void Create(const CreateConfigMap& step, WriteDone done);
  void Update(const UpdatePodGroup& step, WriteDone done);
  void Release(const ReleasePod& step, WriteDone done);
  void TakeOver(const Adopt& step, WriteDone done);
  void Delete(const DeletePod& step, WriteDone done);
  void Delete(const DeleteService& step, WriteDone done);
  void Delete(const DeletePodGroup& step, WriteDone done);
  // In the background: its pods and services go by themselves.
  void Delete(const DeleteJob& step, WriteDone done);

 private:
  template <typename Object>
  struct New;
  struct Victim;

  template <typename Object>
  void Make(const ObjectMeta& job, New<Object> made, WriteDone done);
  template <typename Object>
  void ReadMadeBack(const ObjectMeta& job, const New<Object>& made, const WriteDone& done);
  // Shows the view an object that came back. False: it could not be read.
  template <typename Object>
  bool Observe(absl::StatusOr<Object> object);
  void Remove(Victim victim, WriteDone done);
  bool TakeRemoved(const Victim& victim, const HttpReply& reply);
  void ReadRemovedBack(const Victim& victim, const std::string& what, const WriteDone& done);

  ApiWriter& api_;
  ClusterView& view_;
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_OBJECT_WRITER_H_
