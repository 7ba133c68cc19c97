#pragma once

#include "plan/import_walk.hpp"
#include "plan/plan.hpp"
#include "project/program/system_needs.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::plan {

/// A syntax error that a Python reports.
struct SyntaxFault {
  int line{0};            ///< 1-based; 0 if unknown
  std::string message{};  ///< `invalid syntax`
  std::string python{};   ///< its version, such as `3.11`
};

/// By path in the image; only files that a Python has checked.
using SyntaxFaults = std::map<std::string, SyntaxFault>;

/// Reports each of the `reached` files that is not Python of the executor image: with a syntax
/// error, with print statements of Python 2, or with commands of a notebook. For files that no
/// Python has checked, the finding is uncertain.
Problems syntax_advice(const Plan& plan,
                       const std::vector<ReachedFile>& reached,
                       const SyntaxFaults& faults);

/// Returns whether the executor image contains each of some modules (`numpy`,
/// `google.cloud.storage`); omits unknown ones.
using BaseModules =
    std::function<std::map<std::string, bool>(const std::vector<std::string>& modules)>;

/// Returns the versions of the distributions in the executor image, by name; nothing if they are
/// not known.
using BaseVersions = std::function<std::optional<std::map<std::string, std::string>>()>;

/// Findings about a plan that can be built.
struct Advice {
  Problems warnings{};                 ///< probable failures, and avoidable costs
  std::vector<std::string> details{};  ///< possible failures, for -v
};

/// Reports local modules that are imported and not in the image of `plan`, imported packages that
/// nothing provides, files that are not Python of the executor image (`faults`), and requirements
/// that replace the base's framework. `imports` are those of the plan (see walk_imports). Calls
/// `in_base` (may be empty), which looks into the executor image, only if a package is imported
/// that no requirement names.
/// Calls `versions`, which may be empty too, only if a requirement lacks a hash.
Advice advice(const ReadablePlan& plan,
              const project::Project& project,
              ImportFindings imports,
              const BaseModules& in_base = {},
              const SyntaxFaults& faults = {},
              const BaseVersions& versions = {});

/// Only the part about imports.
Advice import_advice(const ReadablePlan& plan,
                     const project::Project& project,
                     ImportFindings imports,
                     const BaseModules& in_base = {});

/// Orders Plan::code, for a binary search by path.
bool comes_before(const ContextEntry& entry, const std::string& path);

/// Returns the entry of `plan` at `path` in the image's working directory; null if there is none.
const ContextEntry* entry_in_image(const Plan& plan, const std::string& path);

/// The same, following symbolic links on the way and at its end.
const ContextEntry* entry_behind_links(const Plan& plan, std::string path);

/// Returns true if Python would find something in the directory of the context; a directory of data
/// is not a module.
bool holds_python(const Plan& plan, const std::string& directory);

/// Returns the deep learning framework that the executor image contains according to its name, as a
/// distribution: `torch`, `tensorflow`; nothing if there is none.
std::optional<std::string> framework_in(const image::BaseFacts& base);

/// Warnings for paths in the `reached` files that work on the user's machine and not in the image:
/// spelled in another case, written with backslashes, a pointer of Git LFS, a directory to write to
/// that a rule leaves out. Each path once.
Problems path_advice(const ReadablePlan& plan,
                     const project::Project& project,
                     const std::vector<ReachedFile>& reached);

/// Warns about programs that files of the project start and that the image surely lacks: those of
/// Debian's packages, and `python`. Ignores programs that may only be for logs, such as git, and
/// functions that nothing surely mentions.
Problems program_advice(const ReadablePlan& plan,
                        const project::Project& project,
                        const ImportFindings& imports,
                        const BaseModules& in_base);

/// Returns whether the executor image contains each of some modules (`torch`), programs
/// (`program:git`) and libraries (`library:libGL.so.1`); omits unknown ones.
using BaseContents =
    std::function<std::map<std::string, bool>(const std::vector<std::string>& names)>;

/// Checks whether the program of `plan` can start: its launcher, a module or a program that is not
/// in the tree, and the commands of a shell script; and whether the system has the dependencies of
/// the installation. Failures of the build are errors; a certain failure of the program is a
/// warning that project::is_certain. Looks into the executor image only if one of these is in
/// question.
Problems start_advice(const ReadablePlan& plan,
                      const project::Project& project,
                      project::Installation installation,
                      const BaseContents& in_base);

/// Returns true if `text`, which is Python, sets `num_workers`: its data loader uses worker
/// processes, which need shared memory.
bool sets_data_workers(std::string_view text);

/// Returns a warning for the first of the `reached` files that imports torch and loads data in
/// worker processes; nothing if there is none.
std::optional<Problem> data_worker_advice(const ReadablePlan& plan,
                                          const std::vector<ReachedFile>& reached);

/// Returns where the program uses CUDA: `train.py:12`, in the files that it surely imports. Returns
/// nothing if none of them does.
std::optional<std::string> find_gpu_use(const ReadablePlan& plan, const project::Project& project);

/// Reports the conda packages of the environment file that neither a requirement nor the executor
/// image is known to provide; nothing if there are none.
std::optional<Problem> conda_advice(const ReadablePlan& plan,
                                    const project::Project& project,
                                    const BaseModules& in_base);

/// Returns where some of `modules`, which nothing provides, are in the pip part of an unused
/// environment file; nothing if there is none.
std::optional<std::string> unread_conda_hint(const ReadablePlan& plan,
                                             const project::Project& project,
                                             const std::vector<std::string>& modules);

}  // namespace autopack::plan
