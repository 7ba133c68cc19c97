#pragma once

#include <git2.h>
// Declares git_error_set_str since libgit2 1.8.
#if __has_include(<git2/sys/errors.h>)
#include <git2/sys/errors.h>
#endif
#include <git2/sys/repository.h>

namespace autopack::source {

/// The functions in use, by their names without `git_`.
#define AUTOPACK_GIT_FUNCTIONS(X) \
  X(attr_get_many);               \
  X(attr_value);                  \
  X(blob_free);                   \
  X(blob_lookup);                 \
  X(blob_rawcontent);             \
  X(blob_rawsize);                \
  X(buf_dispose);                 \
  X(commit_tree);                 \
  X(config_add_file_ondisk);      \
  X(config_entry_free);           \
  X(config_free);                 \
  X(config_get_bool);             \
  X(config_get_entry);            \
  X(config_get_path);             \
  X(config_get_string_buf);       \
  X(describe_commit);             \
  X(describe_format);             \
  X(describe_result_free);        \
  X(diff_free);                   \
  X(diff_num_deltas);             \
  X(diff_tree_to_index);          \
  X(error_last);                  \
  X(error_set_str);               \
  X(filter_list_apply_to_blob);   \
  X(filter_list_free);            \
  X(filter_list_load);            \
  X(index_entry_stage);           \
  X(index_entrycount);            \
  X(index_find);                  \
  X(index_free);                  \
  X(index_get_byindex);           \
  X(index_get_bypath);            \
  X(index_new);                   \
  X(index_open);                  \
  X(index_read_tree);             \
  X(libgit2_init);                \
  X(libgit2_opts);                \
  X(object_free);                 \
  X(object_id);                   \
  X(object_lookup);               \
  X(object_peel);                 \
  X(odb_add_backend);             \
  X(odb_free);                    \
  X(odb_read_header);             \
  X(oid_tostr);                   \
  X(reference_free);              \
  X(reference_lookup);            \
  X(reference_name_to_id);        \
  X(reference_symbolic_target);   \
  X(remote_list);                 \
  X(repository_commondir);        \
  X(repository_config);           \
  X(repository_config_snapshot);  \
  X(repository_free);             \
  X(repository_is_shallow);       \
  X(repository_odb);              \
  X(repository_open_bare);        \
  X(repository_open_ext);         \
  X(repository_path);             \
  X(repository_set_index);        \
  X(repository_set_workdir);      \
  X(repository_workdir);          \
  X(revparse_single);             \
  X(status_foreach_ext);          \
  X(strarray_dispose);            \
  X(tree_free)

/// Pointers to the functions, under the same names; see base/library.hpp.
struct GitFunctions {
// NOLINTBEGIN(bugprone-macro-parentheses): the argument is the name of a member.
#define AUTOPACK_MEMBER(name) \
  decltype(&git_##name) name {}
  AUTOPACK_GIT_FUNCTIONS(AUTOPACK_MEMBER);
#undef AUTOPACK_MEMBER
  // NOLINTEND(bugprone-macro-parentheses)
};

/// Returns libgit2, opened and initialised at the first call. Throws Error(environment) if it is
/// not installed.
const GitFunctions& git();

}  // namespace autopack::source
