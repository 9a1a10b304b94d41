// Amounts of resources as Kubernetes writes them ("500m", "4Gi", 2), read and added up.
//
// One reader for all: of a quota, of the local cluster's API and of its scheduler. Thousandths in
// 64 bits: 9 PB, or as many cores, are the most that fits. Reading is exact, and of a fraction of a
// thousandth gives the next whole one, as Kubernetes rounds.
//
// Ownership: values. Threads: any. Errors: std::nullopt, or a kube-apiserver's words.
//
//   QuantityMilli("500m");  // 500
//   QuantityFlaw("4GB");    // "quantities must match the regular expression …"
//   MilliQuantity(1500);    // "1500m"

#ifndef OPERATOR_API_QUANTITY_H_
#define OPERATOR_API_QUANTITY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace taas {

// Negative amounts, larger ones and what is no quantity are none.
std::optional<int64_t> QuantityMilli(const std::string& text);
// Of a text that stands in an object, maybe between spaces: what does not fit is the largest or the
// smallest amount, and what is no quantity is 0.
int64_t SaturatedMilli(std::string_view text);
// Why the text, which may stand between spaces, is no quantity; empty: it is one.
std::string_view QuantityFlaw(std::string_view text);
// The shortest form without a suffix other than m.
std::string MilliQuantity(int64_t milli);

}  // namespace taas

#endif  // OPERATOR_API_QUANTITY_H_
