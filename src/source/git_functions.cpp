#include "source/git_functions.hpp"

#include "base/library.hpp"

#include <array>

namespace autopack::source {

namespace {

GitFunctions open_libgit2() {
  const Library library{"libgit2.so." LIBGIT2_SOVERSION,
                        "install libgit2: `apt-get install libgit2-" LIBGIT2_SOVERSION "`"};
  GitFunctions functions;
#define AUTOPACK_FIND(name) library.find("git_" #name, functions.name)
  AUTOPACK_GIT_FUNCTIONS(AUTOPACK_FIND);
#undef AUTOPACK_FIND
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
