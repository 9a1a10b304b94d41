// Gives back what only the start of a process needed of its program and libraries: symbol tables,
// relocations, code that runs once. While they are mapped these pages count as the process's
// memory in use; afterwards the kernel keeps them as long as nobody needs the room.
//
// Threads: any, and others may run meanwhile: a page that is needed again is mapped again, from
// the kernel's cache or the file. Nothing that was written is touched. Errors: none; whatever
// cannot be given back stays. What debuggers and tracers wrote into code that is given back is
// lost.
//
//   if (synced) GiveBackFilePages();

#ifndef OPERATOR_BASE_FILE_PAGES_H_
#define OPERATOR_BASE_FILE_PAGES_H_

namespace taas {

void GiveBackFilePages();

}  // namespace taas

#endif  // OPERATOR_BASE_FILE_PAGES_H_
