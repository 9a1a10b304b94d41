// An entry of a tar archive as `tar` writes it, for tests.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const std::string archive = TarEntry("set/a.bin", "abc") + kTarEnd;

#ifndef TRAINER_DATA_FETCH_TAR_ENTRY_H_
#define TRAINER_DATA_FETCH_TAR_ENTRY_H_

#include <cstdio>
#include <string>

namespace taas {

inline const std::string kTarEnd(1024, '\0');

inline std::string TarEntry(const std::string& name, const std::string& content,
                            char type = '0') {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  char size[13];
  std::snprintf(size, sizeof size, "%011o", static_cast<unsigned>(content.size()));
  header.replace(124, 11, size, 11);
  header.replace(148, 8, "        ");
  header[156] = type;
  header.replace(257, 5, "ustar");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  char text[8];
  std::snprintf(text, sizeof text, "%06o", sum & 0777777);
  header.replace(148, 7, text, 7);
  std::string entry = header + content;
  entry.resize((entry.size() + 511) / 512 * 512, '\0');
  return entry;
}

}  // namespace taas

#endif  // TRAINER_DATA_FETCH_TAR_ENTRY_H_
