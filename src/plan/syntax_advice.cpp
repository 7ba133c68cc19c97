#include "base/text.hpp"
#include "plan/advice.hpp"
#include "project/certain.hpp"

#include <fmt/format.h>

namespace autopack::plan {

namespace {

Problem doubt(std::string message, std::string hint) {
  return Problem::warning({.message = std::move(message), .hints = {std::move(hint)}});
}

Problem python2(const ReachedFile& file) {
  return doubt(fmt::format("`{}` is written for Python 2: line {} prints without parentheses",
                           printable(file.path), *file.python2_line),
               "`2to3 --write FILE...` of Python before 3.13 fixes most of it");
}

Problem notebook(const ReachedFile& file) {
  return doubt(
      fmt::format("`{}` line {} is a command of a notebook, which Python does not take",
                  printable(file.path), *file.notebook_line),
      "remove lines that begin with `!` or `%`; packages that they install belong into the "
      "requirements");
}

Problem fault(const Plan& plan, const ReachedFile& file, const SyntaxFault& found) {
  const bool is_base =
      (plan.base.python_version.value_or("") + ".").starts_with(found.python + ".");
  auto problem = doubt(
      fmt::format(
          "`{}`{} is not valid Python{}: {}{}", printable(file.path),
          found.line > 0 ? fmt::format(" line {}", found.line) : "",
          is_base ? " " + found.python : "", printable(found.message),
          is_base ? "" : fmt::format(" (according to Python {} of this machine)", found.python)),
      fmt::format("`python3 -m py_compile {}` checks it", shell_quote(file.path)));
  if (plan.notebook) {
    problem.hints.clear();  // the file may be only in the image
  }
  return problem;
}

}  // namespace

Problems syntax_advice(const Plan& plan,
                       const std::vector<ReachedFile>& reached,
                       const SyntaxFaults& faults) {
  Problems problems;
  bool is_python2_reported = false;
  for (const auto& file : reached) {
    const auto found = faults.find(file.path);
    const bool is_faulty = found != faults.end();
    if (file.python2_line && is_python2_reported) {
      continue;  // the others are probably just as old
    }
    if (!file.python2_line && !file.notebook_line && !is_faulty) {
      continue;
    }
    is_python2_reported = is_python2_reported || file.python2_line;
    auto problem = file.python2_line    ? python2(file)
                   : file.notebook_line ? notebook(file)
                                        : fault(plan, file, found->second);
    if (is_faulty && file.sure) {
      problem = project::certain(std::move(problem));
    }
    problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace autopack::plan
