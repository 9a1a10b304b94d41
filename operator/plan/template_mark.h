// What a pod keeps, in annotations, of the template that it was made from, so that a later look can
// tell whether the template has changed since and whether the pod asks for more than it would now.
//
// Ownership: values; TemplateChange borrows the snapshot. Threads: one at a time. Errors: none; of
// a pod whose annotations are not there or make no sense nothing is said.
//
//   TemplateChange change(snapshot);  // Of all the job's pods; hashes each role once.
//   if (change.IsOld(pod)) Say(change.HoldsMore());

#ifndef OPERATOR_PLAN_TEMPLATE_MARK_H_
#define OPERATOR_PLAN_TEMPLATE_MARK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "operator/plan/snapshot.h"

namespace taas {

struct TemplateMark {
  uint64_t hash = 0;     // Of the template's text.
  std::string requests;  // A core/v1 ResourceList of the whole pod; empty: it asks for nothing.
};
// Of the pods of a role that the job has. It reads the whole template.
TemplateMark MarkOf(const Snapshot& snapshot, Role role);

// Whether a pod of requests `a` takes more of anything than one of `b`.
bool AsksForMore(const std::string& a, const std::string& b);

class TemplateChange {
 public:
  explicit TemplateChange(const Snapshot& snapshot) : snapshot_(snapshot) {}

  // The template has changed since the pod was made, which changes no pod that is there.
  bool IsOld(const Pod& pod);
  // Pods of before that hold a place and ask for more than they would if they were made now.
  int64_t HoldsMore();
  // Templates that were read, for tests.
  int64_t reads() const { return reads_; }

 private:
  const TemplateMark* MarkOfRole(Role role);  // Null: the job has no such role any more.

  const Snapshot& snapshot_;
  std::map<Role, TemplateMark> marks_;
  std::optional<int64_t> holds_more_;
  int64_t reads_ = 0;
};

}  // namespace taas

#endif  // OPERATOR_PLAN_TEMPLATE_MARK_H_
