// How many objects the next page of a list is asked for: fewer after a page that was too long, more
// again after short ones.
//
// An object has up to 1.5 MB where etcd is at its defaults, so 500 of them can be 750 MB, and one
// user's large objects must not keep everybody from reading the list that they are in.
//
// Ownership: value type. Threads: one at a time. Errors: none.
//
//   PageSize size;
//   Ask(size.limit(), kPageBytesMax);
//   if (too_long) size.Shrink() ? AskAgain() : SkipTheOne();

#ifndef OPERATOR_KUBE_PAGING_PAGE_SIZE_H_
#define OPERATOR_KUBE_PAGING_PAGE_SIZE_H_

#include <algorithm>
#include <cstddef>

namespace taas {

// Of one page: 500 ordinary pods of 30 KB each are 15 MB, and ten of the largest objects.
inline constexpr size_t kPageBytesMax = 16 << 20;

class PageSize {
 public:
  explicit PageSize(int most = 500) : most_(most), limit_(most) {}

  int limit() const { return limit_; }
  // The page was longer than it may be. False: it had one object already.
  bool Shrink() {
    if (limit_ <= 1) return false;
    limit_ /= 2;
    return true;
  }
  // It came, and had so many bytes. Twice as many objects of its like would be half a page.
  void Read(size_t bytes) {
    if (bytes <= kPageBytesMax / 4) limit_ = std::min(most_, limit_ * 2);
  }

 private:
  const int most_;
  int limit_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_PAGING_PAGE_SIZE_H_
