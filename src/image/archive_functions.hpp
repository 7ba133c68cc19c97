#pragma once

#include <archive.h>
#include <archive_entry.h>

namespace autopack::image {

/// The functions in use, by their names without `archive_`.
#define AUTOPACK_ARCHIVE_FUNCTIONS(X) \
  X(entry_filetype);                  \
  X(entry_hardlink);                  \
  X(entry_pathname);                  \
  X(entry_perm);                      \
  X(entry_size);                      \
  X(entry_symlink);                   \
  X(error_string);                    \
  X(filter_bytes);                    \
  X(read_data);                       \
  X(read_free);                       \
  X(read_new);                        \
  X(read_next_header);                \
  X(read_open);                       \
  X(read_open_fd);                    \
  X(read_set_format_option);          \
  X(read_support_filter_gzip);        \
  X(read_support_filter_zstd);        \
  X(read_support_format_empty);       \
  X(read_support_format_raw);         \
  X(read_support_format_tar);         \
  X(set_error)

/// Pointers to the functions, under the same names; see base/library.hpp.
struct ArchiveFunctions {
// NOLINTBEGIN(bugprone-macro-parentheses): the argument is the name of a member.
#define AUTOPACK_MEMBER(name) \
  decltype(&archive_##name) name {}
  AUTOPACK_ARCHIVE_FUNCTIONS(AUTOPACK_MEMBER);
#undef AUTOPACK_MEMBER
  // NOLINTEND(bugprone-macro-parentheses)
};

/// Opens libarchive on the first call. Throws Error(environment) if it is not installed.
const ArchiveFunctions& libarchive();

}  // namespace autopack::image
