// Amounts of resources as Kubernetes writes them ("500m", "4Gi", 2), added up.
//
// Thousandths in 64 bits: 9 PB, or as many cores, are the most that fits; what is more, or no
// quantity at all, is nothing.
//
// Ownership: values. Threads: any. Errors: std::nullopt.
//
//   QuantityMilli("500m");  // 500
//   MilliQuantity(1500);    // "1500m"

#ifndef OPERATOR_API_QUANTITY_H_
#define OPERATOR_API_QUANTITY_H_

#include <cstdint>
#include <optional>
#include <string>

namespace taas {

// Of a fraction of a thousandth the next whole one. Negative amounts are none.
std::optional<int64_t> QuantityMilli(const std::string& text);
// The shortest form without a suffix other than m.
std::string MilliQuantity(int64_t milli);

}  // namespace taas

#endif  // OPERATOR_API_QUANTITY_H_
