#include "image/archive_functions.hpp"

#include "base/library.hpp"

namespace autopack::image {

namespace {

ArchiveFunctions open_libarchive() {
  // The soname since libarchive 3.1 (2013).
  const Library library{
      "libarchive.so.13",
      "install libarchive: `apt-get install libarchive13t64`, before Debian 13 `libarchive13`"};
  ArchiveFunctions functions;
#define AUTOPACK_FIND(name) library.find("archive_" #name, functions.name)
  AUTOPACK_ARCHIVE_FUNCTIONS(AUTOPACK_FIND);
#undef AUTOPACK_FIND
  return functions;
}

}  // namespace

const ArchiveFunctions& libarchive() {
  static const ArchiveFunctions functions = open_libarchive();
  return functions;
}

}  // namespace autopack::image
