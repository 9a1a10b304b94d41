// The release that all programs of this tree are of: what `--version` prints and requests carry.
// The file VERSION at the top says the same for what is not C++; //e2e:versions_test compares them.
//
// Ownership: a constant. Threads: any. Errors: none.
//
//   out << "taas-operator " << kVersion << "\n";

#ifndef OPERATOR_BASE_VERSION_H_
#define OPERATOR_BASE_VERSION_H_

namespace taas {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace taas

#endif  // OPERATOR_BASE_VERSION_H_
