// What a caller says first on a connection: of which job and attempt it is, and the job's token.
//
//   text = job [ "\n" token ]
//
// Without a token anybody who knows the job is welcome, as in jobs that began before there were
// tokens. The token is compared in a time that says nothing about how much of it was right, and is
// in no message.
//
// Pure. Ownership: values. Threads: any. Errors: none; any text is a greeting.
//
//   channel.Send({.type = FrameType::kHello}, GreetingText({.job = "uid/2", .token = token}));
//   if (!IsWelcome(own, ParseGreeting(text))) Refuse(channel);

#ifndef TRAINER_COMM_GREETING_H_
#define TRAINER_COMM_GREETING_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace taas::comm {

// Of a token; one of ours has 32.
constexpr size_t kTokenBytesMax = 256;

// Under which calls to the chief carry it, in their metadata.
inline constexpr char kTokenHeader[] = "taas-job-token";

struct Greeting {
  std::string job;
  std::string token;  // Empty: none.

  bool operator==(const Greeting&) const = default;
};

std::string GreetingText(const Greeting& greeting);
Greeting ParseGreeting(std::string_view text);

// Whether `own`, who listens, serves `caller`. Who listens without a job serves anybody.
bool IsWelcome(const Greeting& own, const Greeting& caller);

// Takes as long for any `said` of one length.
bool IsSameSecret(std::string_view own, std::string_view said);

// Printable, without spaces, and not too long: it travels in headers and lines.
bool IsToken(std::string_view text);

}  // namespace taas::comm

#endif  // TRAINER_COMM_GREETING_H_
