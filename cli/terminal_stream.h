// The seam where text goes to the terminal: a stream that passes all on through TerminalText.
//
// Ownership: `to` outlives it. Threads: one. Errors: those of `to`, in its own state.
//
//   TerminalStream out(std::cout);
//   out.stream() << job.status.message << "\n";

#ifndef CLI_TERMINAL_STREAM_H_
#define CLI_TERMINAL_STREAM_H_

#include <ostream>
#include <streambuf>

namespace taas {

class TerminalStream {
 public:
  explicit TerminalStream(std::ostream& to) : buffer_(to), stream_(&buffer_) {}
  TerminalStream(const TerminalStream&) = delete;
  TerminalStream& operator=(const TerminalStream&) = delete;

  std::ostream& stream() { return stream_; }

 private:
  // Keeps nothing back, so that what goes past it to `to` stays in its place.
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(std::ostream& to) : to_(to) {}

   protected:
    std::streamsize xsputn(const char* text, std::streamsize size) override;
    int_type overflow(int_type c) override;
    int sync() override;

   private:
    std::ostream& to_;
  };

  Buffer buffer_;
  std::ostream stream_;
};

}  // namespace taas

#endif  // CLI_TERMINAL_STREAM_H_
