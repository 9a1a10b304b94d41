// For tests: how much of this process's memory is shared memory of payloads, its own and that of
// its peers (shared_area.h). What is mapped twice counts twice, as the kernel counts it.
//
// Ownership: none. Threads: any. Errors: 0 without /proc.
//
//   const size_t before = PayloadPages();
//   ASSERT_THAT(channel.ReceiveInto(blocks), IsOk());
//   EXPECT_EQ(PayloadPages(), before + bytes);

#ifndef TRAINER_COMM_PAYLOAD_PAGES_H_
#define TRAINER_COMM_PAYLOAD_PAGES_H_

#include <cstddef>
#include <fstream>
#include <string>

namespace taas::comm {

// In bytes.
inline size_t PayloadPages() {
  std::ifstream maps("/proc/self/smaps");
  size_t kilobytes = 0;
  bool counts = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' ')) counts = line.find("memfd:taas-payload") != line.npos;
    if (counts && line.starts_with("Rss:")) kilobytes += std::stoul(line.substr(4));
  }
  return kilobytes << 10;
}

}  // namespace taas::comm

#endif  // TRAINER_COMM_PAYLOAD_PAGES_H_
