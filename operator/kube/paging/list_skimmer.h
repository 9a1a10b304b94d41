// Reads a list of one object as a stream and keeps next to nothing of it: for an object that is too
// long to be held, which must not hide those that come after it.
//
// Ownership: keeps the list's metadata and the beginning of the object. Threads: one at a time.
// Errors: InvalidArgument for a text that is no list or is cut.
//
//   ListSkimmer skimmer;
//   … RETURN_IF_ERROR(skimmer.Add(chunk)); …
//   ASSIGN_OR_RETURN(const ListPage page, skimmer.Finish());

#ifndef OPERATOR_KUBE_PAGING_LIST_SKIMMER_H_
#define OPERATOR_KUBE_PAGING_LIST_SKIMMER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/kube/list_page.h"

namespace taas {

class ListSkimmer {
 public:
  // JSON, in pieces of any length.
  absl::Status Add(std::string_view chunk);
  // After the last piece.
  absl::StatusOr<ListPage> Finish() const;

  // Of the object, as far as its beginning tells; empty: it does not.
  struct Name {
    std::string ns, name;
  };
  Name object() const;
  size_t bytes() const { return bytes_; }

 private:
  absl::Status AddByte(char c);
  // Whether `c`, which is outside of texts, belongs to a member's value.
  bool TakeOutside(char c);
  absl::Status Keep(char c);

  size_t bytes_ = 0;
  int depth_ = 0;  // 1: in the list itself.
  bool in_text_ = false;
  bool escaped_ = false;
  bool in_value_ = false;  // Of the list's member `key_`.
  bool ended_ = false;
  std::string key_;
  std::string metadata_;  // Of the list.
  std::string head_;      // Of what stands in its items.
};

}  // namespace taas

#endif  // OPERATOR_KUBE_PAGING_LIST_SKIMMER_H_
