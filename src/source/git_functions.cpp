#include "source/git_functions.hpp"

#include "base/library.hpp"

#include <array>

namespace autopack::source {

namespace {

GitFunctions open_libgit2() {
  const Library library{"libgit2.so." LIBGIT2_SOVERSION,
                        "install libgit2: `apt-get install libgit2-" LIBGIT2_SOVERSION "`"};
  GitFunctions functions;
  library.find("git_attr_get_many", functions.attr_get_many);
  library.find("git_attr_value", functions.attr_value);
  library.find("git_blob_free", functions.blob_free);
  library.find("git_blob_lookup", functions.blob_lookup);
  library.find("git_blob_rawcontent", functions.blob_rawcontent);
  library.find("git_blob_rawsize", functions.blob_rawsize);
  library.find("git_buf_dispose", functions.buf_dispose);
  library.find("git_commit_tree", functions.commit_tree);
  library.find("git_config_add_file_ondisk", functions.config_add_file_ondisk);
  library.find("git_config_entry_free", functions.config_entry_free);
  library.find("git_config_free", functions.config_free);
  library.find("git_config_get_bool", functions.config_get_bool);
  library.find("git_config_get_entry", functions.config_get_entry);
  library.find("git_config_get_path", functions.config_get_path);
  library.find("git_config_get_string_buf", functions.config_get_string_buf);
  library.find("git_describe_commit", functions.describe_commit);
  library.find("git_describe_format", functions.describe_format);
  library.find("git_describe_result_free", functions.describe_result_free);
  library.find("git_diff_free", functions.diff_free);
  library.find("git_diff_num_deltas", functions.diff_num_deltas);
  library.find("git_diff_tree_to_index", functions.diff_tree_to_index);
  library.find("git_error_last", functions.error_last);
  library.find("git_error_set_str", functions.error_set_str);
  library.find("git_filter_list_apply_to_blob", functions.filter_list_apply_to_blob);
  library.find("git_filter_list_free", functions.filter_list_free);
  library.find("git_filter_list_load", functions.filter_list_load);
  library.find("git_index_entry_stage", functions.index_entry_stage);
  library.find("git_index_entrycount", functions.index_entrycount);
  library.find("git_index_find", functions.index_find);
  library.find("git_index_free", functions.index_free);
  library.find("git_index_get_byindex", functions.index_get_byindex);
  library.find("git_index_get_bypath", functions.index_get_bypath);
  library.find("git_index_new", functions.index_new);
  library.find("git_index_open", functions.index_open);
  library.find("git_index_read_tree", functions.index_read_tree);
  library.find("git_libgit2_init", functions.libgit2_init);
  library.find("git_libgit2_opts", functions.libgit2_opts);
  library.find("git_object_free", functions.object_free);
  library.find("git_object_id", functions.object_id);
  library.find("git_object_lookup", functions.object_lookup);
  library.find("git_object_peel", functions.object_peel);
  library.find("git_odb_add_backend", functions.odb_add_backend);
  library.find("git_odb_free", functions.odb_free);
  library.find("git_odb_read_header", functions.odb_read_header);
  library.find("git_oid_tostr", functions.oid_tostr);
  library.find("git_reference_free", functions.reference_free);
  library.find("git_reference_lookup", functions.reference_lookup);
  library.find("git_reference_name_to_id", functions.reference_name_to_id);
  library.find("git_reference_symbolic_target", functions.reference_symbolic_target);
  library.find("git_remote_list", functions.remote_list);
  library.find("git_repository_commondir", functions.repository_commondir);
  library.find("git_repository_config", functions.repository_config);
  library.find("git_repository_config_snapshot", functions.repository_config_snapshot);
  library.find("git_repository_free", functions.repository_free);
  library.find("git_repository_is_shallow", functions.repository_is_shallow);
  library.find("git_repository_odb", functions.repository_odb);
  library.find("git_repository_open_bare", functions.repository_open_bare);
  library.find("git_repository_open_ext", functions.repository_open_ext);
  library.find("git_repository_path", functions.repository_path);
  library.find("git_repository_set_index", functions.repository_set_index);
  library.find("git_repository_set_workdir", functions.repository_set_workdir);
  library.find("git_repository_workdir", functions.repository_workdir);
  library.find("git_revparse_single", functions.revparse_single);
  library.find("git_status_foreach_ext", functions.status_foreach_ext);
  library.find("git_strarray_dispose", functions.strarray_dispose);
  library.find("git_tree_free", functions.tree_free);
  functions.libgit2_init();
  // git supports these extensions and libgit2 does not; here they affect only settings, which
  // add_worktree_settings reads.
  std::array<const char*, 3> extensions{"worktreeconfig", "partialclone", "preciousobjects"};
  functions.libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions.data(), extensions.size());
  return functions;
}

}  // namespace

const GitFunctions& git() {
  static const GitFunctions functions = open_libgit2();
  return functions;
}

}  // namespace autopack::source
