// The thread that does all of cpprestsdk's work in this process: its I/O and its tasks.
//
// Ownership: the library's, until the process ends. Threads: any. Errors: none; where a program has
// given the library another number of threads before, that stays.

#ifndef OPERATOR_KUBE_CPPREST_IO_H_
#define OPERATOR_KUBE_CPPREST_IO_H_

namespace boost::asio {
class io_context;
}  // namespace boost::asio

namespace taas {

boost::asio::io_context& CpprestIo();

}  // namespace taas

#endif  // OPERATOR_KUBE_CPPREST_IO_H_
