#pragma once

#include "base/error.hpp"
#include "plan/plan.hpp"
#include "source/selection.hpp"
#include "source/tree.hpp"

#include <type_traits>
#include <utility>

namespace autopack::pipeline {

/// What the secret firewall says of the files that `plan` sends: an error for each secret that the
/// project's `.autopack-allow-secrets` does not allow, with file, line and kind but never the
/// value; a warning for each line of that file which allows nothing any more. Files that the plan's
/// hashing cleared are not read again.
Problems find_secrets(const plan::ReadablePlan& plan);

/// The same of the files of `tree` that `selection` takes in, for a project that cannot be planned.
/// At most some thousand files, and none of over a megabyte.
Problems find_secrets(const source::Tree& tree, const source::Selection& selection);

/// What `task` returns. An Error of the user's that it throws goes on with the secrets of the files
/// that `select` returns, so that one error does not hide another.
template <class Select, class Task>
std::invoke_result_t<Task&> with_secrets(const source::Tree& tree, Select select, Task task) {
  try {
    return task();
  } catch (const Error& error) {
    const bool is_of_user = error.kind() == ErrorKind::project || error.kind() == ErrorKind::usage;
    auto secrets = is_of_user ? find_secrets(tree, select()) : Problems{};
    if (!has_errors(secrets)) {
      throw;
    }
    auto problems = error.as_problems();
    append(problems, std::move(secrets));
    throw Error(error.kind(), std::move(problems));
  }
}

}  // namespace autopack::pipeline
