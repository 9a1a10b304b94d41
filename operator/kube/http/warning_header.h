// What an API server has to say beside its answer: the header Warning.
//
// Ownership: values. Threads: any. Errors: none; a value of another form is one warning, as it is.
//
//   for (const std::string& text : ReadWarnings(reply.warning)) …

#ifndef OPERATOR_KUBE_HTTP_WARNING_HEADER_H_
#define OPERATOR_KUBE_HTTP_WARNING_HEADER_H_

#include <string>
#include <string_view>
#include <vector>

namespace taas {

// The texts of `299 - "TEXT"`, of several with commas between, in their order.
std::vector<std::string> ReadWarnings(std::string_view header);

}  // namespace taas

#endif  // OPERATOR_KUBE_HTTP_WARNING_HEADER_H_
