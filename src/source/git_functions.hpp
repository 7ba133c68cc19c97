#pragma once

#include <git2.h>
// Declares git_error_set_str since libgit2 1.8.
#if __has_include(<git2/sys/errors.h>)
#include <git2/sys/errors.h>
#endif
#include <git2/sys/repository.h>

namespace autopack::source {

/// The functions of libgit2 in use, by their names without `git_`; see base/library.hpp.
struct GitFunctions {
  decltype(&git_attr_get_many) attr_get_many{};
  decltype(&git_attr_value) attr_value{};
  decltype(&git_blob_free) blob_free{};
  decltype(&git_blob_lookup) blob_lookup{};
  decltype(&git_blob_rawcontent) blob_rawcontent{};
  decltype(&git_blob_rawsize) blob_rawsize{};
  decltype(&git_buf_dispose) buf_dispose{};
  decltype(&git_commit_tree) commit_tree{};
  decltype(&git_config_add_file_ondisk) config_add_file_ondisk{};
  decltype(&git_config_entry_free) config_entry_free{};
  decltype(&git_config_free) config_free{};
  decltype(&git_config_get_bool) config_get_bool{};
  decltype(&git_config_get_entry) config_get_entry{};
  decltype(&git_config_get_path) config_get_path{};
  decltype(&git_config_get_string_buf) config_get_string_buf{};
  decltype(&git_describe_commit) describe_commit{};
  decltype(&git_describe_format) describe_format{};
  decltype(&git_describe_result_free) describe_result_free{};
  decltype(&git_diff_free) diff_free{};
  decltype(&git_diff_num_deltas) diff_num_deltas{};
  decltype(&git_diff_tree_to_index) diff_tree_to_index{};
  decltype(&git_error_last) error_last{};
  decltype(&git_error_set_str) error_set_str{};
  decltype(&git_filter_list_apply_to_blob) filter_list_apply_to_blob{};
  decltype(&git_filter_list_free) filter_list_free{};
  decltype(&git_filter_list_load) filter_list_load{};
  decltype(&git_index_entry_stage) index_entry_stage{};
  decltype(&git_index_entrycount) index_entrycount{};
  decltype(&git_index_find) index_find{};
  decltype(&git_index_free) index_free{};
  decltype(&git_index_get_byindex) index_get_byindex{};
  decltype(&git_index_get_bypath) index_get_bypath{};
  decltype(&git_index_new) index_new{};
  decltype(&git_index_open) index_open{};
  decltype(&git_index_read_tree) index_read_tree{};
  decltype(&git_libgit2_init) libgit2_init{};
  decltype(&git_libgit2_opts) libgit2_opts{};
  decltype(&git_object_free) object_free{};
  decltype(&git_object_id) object_id{};
  decltype(&git_object_lookup) object_lookup{};
  decltype(&git_object_peel) object_peel{};
  decltype(&git_odb_add_backend) odb_add_backend{};
  decltype(&git_odb_free) odb_free{};
  decltype(&git_odb_read_header) odb_read_header{};
  decltype(&git_oid_tostr) oid_tostr{};
  decltype(&git_reference_free) reference_free{};
  decltype(&git_reference_lookup) reference_lookup{};
  decltype(&git_reference_name_to_id) reference_name_to_id{};
  decltype(&git_reference_symbolic_target) reference_symbolic_target{};
  decltype(&git_remote_list) remote_list{};
  decltype(&git_repository_commondir) repository_commondir{};
  decltype(&git_repository_config) repository_config{};
  decltype(&git_repository_config_snapshot) repository_config_snapshot{};
  decltype(&git_repository_free) repository_free{};
  decltype(&git_repository_is_shallow) repository_is_shallow{};
  decltype(&git_repository_odb) repository_odb{};
  decltype(&git_repository_open_bare) repository_open_bare{};
  decltype(&git_repository_open_ext) repository_open_ext{};
  decltype(&git_repository_path) repository_path{};
  decltype(&git_repository_set_index) repository_set_index{};
  decltype(&git_repository_set_workdir) repository_set_workdir{};
  decltype(&git_repository_workdir) repository_workdir{};
  decltype(&git_revparse_single) revparse_single{};
  decltype(&git_status_foreach_ext) status_foreach_ext{};
  decltype(&git_strarray_dispose) strarray_dispose{};
  decltype(&git_tree_free) tree_free{};
};

/// Returns libgit2, opened and initialised at the first call. Throws Error(environment) if it is
/// not installed.
const GitFunctions& git();

}  // namespace autopack::source
