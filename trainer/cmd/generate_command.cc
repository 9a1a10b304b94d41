#include "trainer/cmd/generate_command.h"

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <vector>

#include "operator/base/bounded_file.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/use/shown_text.h"

namespace taas {
namespace {

// A model sees the end of a prompt only; what is longer is a file given by mistake.
constexpr size_t kPromptBytesMax = 16 << 20;
// Above it a text is a file of a size that nobody waits for at a token per pass of the model.
constexpr int64_t kLengthMax = 100'000'000;
constexpr int64_t kCountMax = 1'000'000;

absl::StatusOr<std::string> ReadStandardInput() {
  std::string text(kPromptBytesMax + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::cin.gcount()));
  if (text.size() <= kPromptBytesMax) return text;
  return TooLong("standard input", kPromptBytesMax);
}

absl::StatusOr<std::string> ReadPrompt(const GenerateFlags& flags, FileSystem& files) {
  if (flags.prompt) return *flags.prompt;
  if (*flags.input == "-") return ReadStandardInput();
  return ReadBounded(files, *flags.input, kPromptBytesMax);
}

// What cannot be written any more (a full disk, a reader that has gone) ends the program.
absl::Status Flush() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return absl::OkStatus();
  return absl::UnavailableError("standard output cannot be written: is the disk full?");
}

void Write(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

absl::Status PrintAsItComes(Generator& generator, const std::string& prompt,
                            const GenerateOptions& options) {
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  ShownText shown;
  bool any = false;
  const absl::Status made = generator.Generate(prompt, options, [&](uint8_t token) {
    const char byte = static_cast<char>(token);
    any = true;
    Write(terminal ? shown.Add(byte) : std::string(1, byte));
    return Flush();
  });
  if (any) Write(shown.Rest() + "\n");
  const absl::Status written = Flush();
  return made.ok() ? written : made;
}

absl::Status PrintJson(Generator& generator, const std::string& prompt,
                       const GenerateOptions& options) {
  std::string text;
  std::vector<int> tokens;
  RETURN_IF_ERROR(generator.Generate(prompt, options, [&](uint8_t token) {
    text += static_cast<char>(token);
    tokens.push_back(token);
    return absl::OkStatus();
  }));
  const nlohmann::ordered_json json = {
      {"seed", options.seed}, {"text", text}, {"tokens", tokens}};
  // Bytes that are no UTF-8 are U+FFFD in the text; the tokens have them.
  Write(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return Flush();
}

}  // namespace

void AddGenerateOptions(Command& app, GenerateFlags* flags) {
  const Option prompt = app.AddOption("--prompt", &flags->prompt, "Text to continue");
  app.AddOption("--input", &flags->input, "File with the text to continue, or - for standard input")
      .Excludes(prompt);
  app.AddOption("--length", &flags->options.length, "Tokens to generate; a token is a byte")
      .Between(1, kLengthMax)
      .ShowDefault();
  app.AddOption("--temperature", &flags->options.sampling.temperature,
                "Divisor of the logits: 0 always takes the most likely token, above 1 less likely "
                "ones come more often")
      .NonNegative()
      .ShowDefault();
  app.AddOption("--top_k,--top-k", &flags->options.sampling.top_k,
                "Sample from the K most likely tokens only; 0: from all")
      .NonNegative()
      .ShowDefault();
  app.AddOption("--seed", &flags->seed, "Seed of the sampling; the same seed gives the same text")
      .NonNegative()
      .ShowDefault();
  app.AddOption("--count", &flags->count,
                "Number of texts, one for this seed and for each of the next ones")
      .Between(1, kCountMax)
      .ShowDefault();
  app.AddOption("-o,--output", &flags->output, "Format of the output: text or json")
      .OneOf({"text", "json"});
}

std::string WhatIsMissing(const GenerateFlags& flags) {
  if (flags.prompt || flags.input) return "";
  return "--prompt TEXT, or --input FILE (- for standard input), is required: the text to go on "
         "from";
}

absl::Status PrintTexts(const GenerateFlags& flags, FileSystem& files, TrainedModel& trained) {
  ASSIGN_OR_RETURN(const std::string prompt, ReadPrompt(flags, files));
  ASSIGN_OR_RETURN(const auto generator, Generator::Make(CpuRuntime(), trained));
  if (std::ssize(prompt) > generator->context()) {
    std::fprintf(stderr,
                 "generate: the prompt has %zu bytes, the model sees %lld: the last ones count\n",
                 prompt.size(), static_cast<long long>(generator->context()));
  }
  const auto print = flags.output == "json" ? PrintJson : PrintAsItComes;
  GenerateOptions options = flags.options;
  for (int64_t i = 0; i < flags.count; ++i) {
    options.seed = static_cast<uint64_t>(flags.seed) + static_cast<uint64_t>(i);
    RETURN_IF_ERROR(print(*generator, prompt, options));
  }
  return absl::OkStatus();
}

}  // namespace taas
