#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/packaging_options.hpp"
#include "pipeline/locking.hpp"
#include "pipeline/scan.hpp"
#include "project/requirements/own_lock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::cli {

namespace {

class LockCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    flags.section("What to lock");
    flags.toggle("--check", check_, "compare only; status 3 and a diff when versions differ");
    flags.toggle("--upgrade", upgrades_, "choose all versions again, or with =PACKAGE one");
    flags.text("--exclude-newer", "DATE", exclude_newer_, "ignore files uploaded after DATE");
    flags.toggle("--force", force_, "replace a pylock.toml of another tool");
    add_packaging_flags(flags, packaging_);
    add_build_flags(flags, build_);
  }

  int run(Session& session) override {
    check_build_options(build_, session.flags);
    if (build_.dockerfile) {
      throw Error(ErrorKind::usage, "a Dockerfile of your own has no requirements to lock");
    }
    if (build_.resolver != "uv" && session.flags.is_typed("--resolver")) {
      throw Error(ErrorKind::usage,
                  "`--resolver=engine` chooses no versions before the build, "
                  "and a lock is these versions")
          .hint("leave out `--resolver`");
    }
    require_executor(packaging_, build_);
    auto request = package_request(packaging_, build_, session.flags, session.services.environment);
    if (request.is_from_git()) {
      throw Error(ErrorKind::usage,
                  "`--source` and `lock` exclude each other: a lock is written "
                  "beside the files of the working tree")
          .hint("leave out `--source`");
    }
    if (exclude_newer_ && !is_date(*exclude_newer_)) {
      throw Error(ErrorKind::usage, fmt::format("`--exclude-newer` is `{}`, which is not a date",
                                                printable(*exclude_newer_)))
          .hint("--exclude-newer=2026-11-01, or with a time: 2026-11-01T12:00:00Z");
    }
    request.project.lock = "none";
    const auto file = request.project.directory / project::own_lock_file;
    const auto before = read_file_if_exists(file);
    if (before && !project::is_own_lock(*before) && !force_) {
      throw Error(ErrorKind::usage, fmt::format("`{}` was not written by `autopack lock`",
                                                printable(file.lexically_normal().string())))
          .hint("`--force` replaces it");
    }
    const auto wanted = pipeline::scan_wanted(std::move(request));
    pipeline::report_choices(session.services, wanted.get(), wanted->inferred);
    const auto locked = pipeline::lock_requirements(session.services, wanted, choice(before));
    const auto path = file.lexically_normal().string();
    if (check_) {
      compare(session, before, locked);
    } else {
      report_changes(session, before, locked);
      write_file(file, locked.text);
      session.console.done("Wrote", printable(path));
    }
    if (session.format.kind != OutputFormat::Kind::text) {
      session.console.result(
          render(session, {{"lock", path}, {"packages", locked.versions}}, path));
    }
    return 0;
  }

private:
  /// Returns true for `2026-11-01`, also with a time (RFC 3339); uv checks the rest.
  static bool is_date(std::string_view text) {
    constexpr std::string_view form{"dddd-dd-dd"};
    const auto matches = [](char c, char of_form) {
      return of_form == 'd' ? is_digit(c) : c == of_form;
    };
    return text.size() >= form.size() &&
           std::ranges::equal(text.substr(0, form.size()), form, matches) &&
           (text.size() == form.size() || text[form.size()] == 'T');
  }

  build::LockChoice choice(const std::optional<std::string>& before) const {
    build::LockChoice choice{.before = before, .exclude_newer = exclude_newer_};
    for (const auto& name : upgrades_) {
      if (name.empty()) {
        choice.upgrades = true;
      } else {
        choice.upgraded.push_back(name);
      }
    }
    return choice;
  }

  static std::string lines_of(const std::vector<std::string>& versions) {
    return versions.empty() ? "" : join(versions, "\n") + "\n";
  }

  /// Throws Error(drift), and prints the difference, if the versions differ.
  static void compare(Session& session,
                      const std::optional<std::string>& before,
                      const build::Locked& locked) {
    const auto there = before ? build::locked_versions(*before) : std::vector<std::string>{};
    if (before && there == locked.versions) {
      session.console.done("Checked", fmt::format("{}: up to date", project::own_lock_file));
      return;
    }
    if (session.format.kind == OutputFormat::Kind::text) {
      session.console.result(unified_diff(lines_of(there), lines_of(locked.versions),
                                          project::own_lock_file,
                                          fmt::format("{} (resolved)", project::own_lock_file)));
    }
    throw Error(ErrorKind::drift, fmt::format("`{}` {}", project::own_lock_file,
                                              before ? "is out of date" : "does not exist"))
        .hint("autopack lock");
  }

  static void report_changes(Session& session,
                             const std::optional<std::string>& before,
                             const build::Locked& locked) {
    if (!before) {
      return;
    }
    const auto there = build::locked_versions(*before);
    std::vector<std::string> added;
    std::vector<std::string> removed;
    std::ranges::set_difference(locked.versions, there, std::back_inserter(added));
    std::ranges::set_difference(there, locked.versions, std::back_inserter(removed));
    const auto stay = locked.versions.size() - added.size();
    std::string text = added.empty() && removed.empty() ? "nothing" : "";
    if (!added.empty()) {
      text = "now " + join(added, ", ");
    }
    if (!removed.empty()) {
      text += fmt::format("{}no longer {}", text.empty() ? "" : "; ", join(removed, ", "));
    }
    session.console.done("Changed", fmt::format("{}; {} unchanged", text, stay));
  }

  PackagingOptions packaging_;
  BuildOptions build_;
  bool check_{false};
  bool force_{false};
  std::vector<std::string> upgrades_{};
  std::optional<std::string> exclude_newer_{};
};

}  // namespace

std::unique_ptr<Command> make_lock_command() {
  return std::make_unique<LockCommand>();
}

}  // namespace autopack::cli
