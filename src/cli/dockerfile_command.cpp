#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/named_files.hpp"
#include "cli/packaging_options.hpp"
#include "pipeline/dockerfile.hpp"
#include "pipeline/scan.hpp"

#include <fmt/format.h>

namespace autopack::cli {

namespace {

class DockerfileCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    flags.section("What to do with the text");
    flags.text("-o,--output", "FILE", output_, "write FILE and FILE.dockerignore");
    flags.text("--check", "FILE", check_, "compare FILE; status 3 and a diff when it drifted");
    flags.toggle("--force", force_, "with -o: replace a file that was edited by hand");
    flags.toggle("--pin", build_.pin, "name the executor image by its digest");
    add_packaging_flags(flags, packaging_);
    add_build_flags(flags, build_);
  }

  int run(Session& session) override {
    check_build_options(build_, session.flags);
    if (build_.dockerfile) {
      throw Error(ErrorKind::usage, "`--dockerfile` names a file that is there already");
    }
    if (!output_.empty() && !check_.empty()) {
      throw Error(ErrorKind::usage, "`--output` and `--check` exclude each other");
    }
    require_directory_of("--output", output_);
    require_executor(packaging_, build_);
    const auto request =
        package_request(packaging_, build_, session.flags, session.services.environment);
    pipeline::CommittedText before;
    if (!check_.empty()) {
      before.dockerfile = committed(request);
      before.dockerignore = pipeline::read_from_source(request, ignore_file(check_));
    }
    const auto text = pipeline::write_dockerfile(session.services, request, build_.pin, before);
    if (before.dockerfile) {
      return compare(session, request, text, *before.dockerfile);
    }
    if (!output_.empty()) {
      save(session, text);
      return 0;
    }
    session.console.result(text.dockerfile);
    return 0;
  }

private:
  static std::string ignore_file(const std::string& file) { return file + ".dockerignore"; }

  /// Returns the text of the file to check, from the index or the commit if the project comes from
  /// there.
  std::string committed(const packaging::Request& request) const {
    if (auto text = pipeline::read_from_source(request, check_)) {
      return *text;
    }
    throw Error(ErrorKind::usage,
                fmt::format("`--check` names `{}`, which does not exist{}", printable(check_),
                            build_.source == source::worktree_source
                                ? ""
                                : fmt::format(" in `--source={}`", printable(build_.source))))
        .hint(fmt::format("`autopack dockerfile -o {}` writes it", printable(shell_quote(check_))));
  }

  int compare(Session& session,
              const packaging::Request& request,
              const pipeline::DockerfileText& text,
              const std::string& there) const {
    std::string diff = unified_diff(there, text.dockerfile, check_, check_ + " (generated)");
    const std::string ignore = ignore_file(check_);
    if (const auto ignored = pipeline::read_from_source(request, ignore)) {
      diff += unified_diff(*ignored, text.dockerignore, ignore, ignore + " (generated)");
    }
    if (diff.empty()) {
      session.console.done("Checked", fmt::format("{}: up to date", check_));
      return 0;
    }
    if (session.format.kind == OutputFormat::Kind::text) {
      session.console.result(diff);
    }
    // Names the file that differs, because the Dockerfile itself may be current.
    const std::string drifted = there == text.dockerfile ? ignore : check_;
    throw Error(ErrorKind::drift,
                fmt::format("`{}` is not what autopack would write", printable(drifted)))
        .hint(writing_command(session));
  }

  /// Returns true if a person's own file would be overwritten.
  static bool is_edited(const std::string& file) {
    const auto there = read_file_if_exists(file);
    return there && !pipeline::is_unedited(*there);
  }

  /// Returns the command that writes the checked files, because the check may be in a hook. Uses
  /// text instead if the flags contain URLs, which may contain logins.
  std::string writing_command(const Session& session) const {
    std::string command = "autopack dockerfile";
    for (const auto& flag : session.flags.help()) {
      const bool says_what = flag.section != "General" || flag.long_name == "--directory";
      if (!session.flags.is_typed(flag.long_name) || !says_what || flag.long_name == "--check") {
        continue;
      }
      for (const auto& value : session.flags.given(flag.long_name).front().values) {
        command += fmt::format(" {}={}", flag.long_name, shell_quote(value.text()));
      }
    }
    if (command.find("://") != std::string::npos) {
      return "the same command with `-o` instead of `--check` writes it again";
    }
    const std::string ignore = ignore_file(check_);
    command += " -o " + shell_quote(check_);
    if (is_edited(check_) || is_edited(ignore)) {
      command += " --force";
    }
    if (build_.source == source::index_source) {
      command += fmt::format(" && git add {} {}", shell_quote(check_), shell_quote(ignore));
    }
    return command;
  }

  void save(Session& session, const pipeline::DockerfileText& text) const {
    for (const auto& file : {output_, ignore_file(output_)}) {
      if (!force_ && is_edited(file)) {
        throw Error(
            ErrorKind::usage,
            fmt::format("`{}` was not written by autopack, or was edited since", printable(file)))
            .hint("`--force` replaces it");
      }
    }
    write_file(output_, text.dockerfile);
    write_file(ignore_file(output_), text.dockerignore);
    session.console.done("Wrote", fmt::format("{} and {}", output_, ignore_file(output_)));
  }

  PackagingOptions packaging_;
  BuildOptions build_;
  std::string output_;
  std::string check_;
  bool force_{false};
};

}  // namespace

std::unique_ptr<Command> make_dockerfile_command() {
  return std::make_unique<DockerfileCommand>();
}

}  // namespace autopack::cli
