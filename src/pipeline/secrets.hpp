#pragma once

#include "base/error.hpp"
#include "plan/plan.hpp"
#include "source/selection.hpp"
#include "source/tree.hpp"

#include <type_traits>
#include <utility>

namespace autopack::pipeline {

/// Returns the findings of the secret firewall about the files that `plan` sends: an error for each
/// secret that the project's `.autopack-allow-secrets` does not allow, with file, line and kind but
/// never the value; a warning for each unused line of that file. Does not read files again that the
/// plan's hashing cleared.
Problems find_secrets(const plan::ReadablePlan& plan);

/// The same for the files of `tree` that `selection` includes, for a project that cannot be
/// planned. Reads at most some thousand files, and none over a megabyte.
Problems find_secrets(const source::Tree& tree, const source::Selection& selection);

/// Returns the result of `task`. If it throws a user's Error, adds the secrets in the files that
/// `select` returns, so that one error does not hide another.
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
