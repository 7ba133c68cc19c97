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
  library.find("archive_entry_filetype", functions.entry_filetype);
  library.find("archive_entry_hardlink", functions.entry_hardlink);
  library.find("archive_entry_pathname", functions.entry_pathname);
  library.find("archive_entry_perm", functions.entry_perm);
  library.find("archive_entry_size", functions.entry_size);
  library.find("archive_entry_symlink", functions.entry_symlink);
  library.find("archive_error_string", functions.error_string);
  library.find("archive_filter_bytes", functions.filter_bytes);
  library.find("archive_read_data", functions.read_data);
  library.find("archive_read_free", functions.read_free);
  library.find("archive_read_new", functions.read_new);
  library.find("archive_read_next_header", functions.read_next_header);
  library.find("archive_read_open", functions.read_open);
  library.find("archive_read_open_fd", functions.read_open_fd);
  library.find("archive_read_set_format_option", functions.read_set_format_option);
  library.find("archive_read_support_filter_gzip", functions.read_support_filter_gzip);
  library.find("archive_read_support_filter_zstd", functions.read_support_filter_zstd);
  library.find("archive_read_support_format_empty", functions.read_support_format_empty);
  library.find("archive_read_support_format_raw", functions.read_support_format_raw);
  library.find("archive_read_support_format_tar", functions.read_support_format_tar);
  library.find("archive_set_error", functions.set_error);
  return functions;
}

}  // namespace

const ArchiveFunctions& libarchive() {
  static const ArchiveFunctions functions = open_libarchive();
  return functions;
}

}  // namespace autopack::image
