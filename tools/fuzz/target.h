// What a fuzz target is: a file of its own beside the reader of foreign bytes, NAME_fuzz.cc, with
// the two functions below. It gives the bytes to the reader and the decoded objects to nobody.
//
// The same file is linked twice (fuzz.bzl): with fuzz_main.cc into the test of its folder, and with
// LLVM's libFuzzer by `make fuzz`. What a target needs is made once, in a static; it keeps nothing
// from one input to the next.
//
// Ownership: the bytes are the caller's. Threads: one. Errors: none: what a reader refuses is well,
// and what breaks an invariant ends the process, by CHECK.
//
//   extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
//     (void)taas::ParseTfConfig(taas::FuzzText(data, size));
//     return 0;
//   }
//   std::vector<std::string> taas::FuzzSeeds() { return {R"({"task": {"type": "chief"}})"}; }

#ifndef TOOLS_FUZZ_TARGET_H_
#define TOOLS_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Renamed by fuzz.bzl where several are linked together.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace taas {

// Inputs to begin with, small and good: each form that the reader knows at least once.
std::vector<std::string> FuzzSeeds();

inline std::string_view FuzzText(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Of readers that take several: the input is `count` parts, each but the last behind its length in
// two bytes. Any bytes are some parts.
std::vector<std::string_view> FuzzParts(std::string_view input, size_t count);
// The same in the other direction, for seeds. All but the last have less than 64 KiB.
std::string JoinFuzzParts(std::initializer_list<std::string_view> parts);

// Of a test of several targets.
struct FuzzTarget {
  const char* name;
  int (*run)(const uint8_t* data, size_t size);
  std::vector<std::string> (*seeds)();
};
// The table that fuzz.bzl makes, and the folder that it is of.
std::span<const FuzzTarget> FuzzTargets();
extern const char* const kFuzzFolder;

}  // namespace taas

#endif  // TOOLS_FUZZ_TARGET_H_
