#pragma once

#include <archive.h>
#include <archive_entry.h>

namespace autopack::image {

/// The libarchive functions in use, by their names without `archive_`; see base/library.hpp.
struct ArchiveFunctions {
  decltype(&archive_entry_filetype) entry_filetype{};
  decltype(&archive_entry_hardlink) entry_hardlink{};
  decltype(&archive_entry_pathname) entry_pathname{};
  decltype(&archive_entry_perm) entry_perm{};
  decltype(&archive_entry_size) entry_size{};
  decltype(&archive_entry_symlink) entry_symlink{};
  decltype(&archive_error_string) error_string{};
  decltype(&archive_filter_bytes) filter_bytes{};
  decltype(&archive_read_data) read_data{};
  decltype(&archive_read_free) read_free{};
  decltype(&archive_read_new) read_new{};
  decltype(&archive_read_next_header) read_next_header{};
  decltype(&archive_read_open) read_open{};
  decltype(&archive_read_open_fd) read_open_fd{};
  decltype(&archive_read_set_format_option) read_set_format_option{};
  decltype(&archive_read_support_filter_gzip) read_support_filter_gzip{};
  decltype(&archive_read_support_filter_zstd) read_support_filter_zstd{};
  decltype(&archive_read_support_format_empty) read_support_format_empty{};
  decltype(&archive_read_support_format_raw) read_support_format_raw{};
  decltype(&archive_read_support_format_tar) read_support_format_tar{};
  decltype(&archive_set_error) set_error{};
};

/// Opens libarchive on the first call. Throws Error(environment) if it is not installed.
const ArchiveFunctions& libarchive();

}  // namespace autopack::image
