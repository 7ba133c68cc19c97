#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/emphasis.hpp"
#include "cli/packaging_options.hpp"
#include "compare/contents.hpp"
#include "compare/difference.hpp"
#include "executor/executor_image.hpp"
#include "pipeline/planning.hpp"
#include "pipeline/scan.hpp"
#include "source/git.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>

namespace autopack::cli {

namespace {

/// On the screen, for each kind of change.
constexpr std::size_t most_reported{40};

/// One side: an existing image, or a planned project.
struct Side {
  std::optional<image::Source> image{};
  std::optional<packaging::Packaging> work{};
};

class DiffCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    flags.section("Comparison");
    flags.toggle("--whole", whole_, "read layers that both images have, too");
    add_packaging_flags(flags, packaging_);
    add_build_flags(flags, build_);
  }

  int run(Session& session) override {
    check_build_options(build_, session.flags);
    if (session.arguments.empty()) {
      throw Error(ErrorKind::usage, "`autopack diff` compares two things, and none is named")
          .hint("`autopack diff HEAD` compares the last commit with the files as they are")
          .hint("`autopack diff IMAGE IMAGE` compares two images");
    }
    const auto& named = session.arguments;
    const auto name_after = named.size() > 1 ? named[1] : std::string{"."};
    const auto before = find(session, named[0]);
    const auto after = find(session, name_after);
    const auto shared = whole_ ? std::set<Digest>{} : shared_layers(before, after);
    const auto old_contents = read(session, before, named[0], shared);
    const auto new_contents = read(session, after, name_after, shared);
    auto found = compare::difference(old_contents, new_contents);
    if (before.work && after.work) {
      found.requirements = compare::installation_changes(*before.work, *after.work);
    }
    if (new_contents.unread_layers > 0 && !whole_) {
      session.console.detail(
          fmt::format("{} layers that both images have were not read: what they hold and one side "
                      "replaces counts as new there; `--whole` reads them",
                      new_contents.unread_layers));
    }
    const auto most = session.console.is_verbose() ? std::size_t{0} : most_reported;
    report_result(session, compare::to_json(found, old_contents, new_contents),
                  with_changes(compare::to_text(found, old_contents, new_contents, most),
                               session.console.output_paint()));
    return 0;
  }

private:
  Side find(Session& session, const std::string& name) const {
    Side side;
    if (const auto source = source_of(session, name)) {
      side.work = plan(session, *source);
    } else {
      side.image = compare::find_image(session.services, name, build_.platform);
    }
    return side;
  }

  /// Returns the `--source` that `name` means; nothing if it does not name a project's files.
  std::optional<std::string> source_of(Session& session, const std::string& name) const {
    if (name == "." || name == source::worktree_source) {
      return std::string{source::worktree_source};
    }
    const auto directory = packaging_.texts.local_package_path.value_or(".");
    const auto& environment = session.services.environment;
    if (is_head(name) && !source::is_in_git(directory, environment)) {
      throw Error(ErrorKind::usage, fmt::format("`{}` names a commit, and `{}` is not in a git "
                                                "repository",
                                                printable(name), printable(directory)))
          .hint("`autopack diff IMAGE` compares an image with the files as they are");
    }
    if (name.starts_with("oci:") || name.starts_with("tar:") || name.starts_with("sha256:") ||
        !source::is_in_git(directory, environment)) {
      return std::nullopt;
    }
    try {
      source::make_git_tree(directory, name, environment);
      return name;
    } catch (const Error& error) {
      if (is_head(name)) {
        throw Error(ErrorKind::usage,
                    fmt::format("`{}` names no commit: {}", printable(name), error.message()))
            .hint("`autopack diff` compares with commits: git commit");
      }
      session.console.detail(
          fmt::format("`{}` is taken for an image: {}", printable(name), error.message()));
      return std::nullopt;
    }
  }

  /// Matches `HEAD`, `HEAD~2` and `HEAD^`, which no image has as a name.
  static bool is_head(const std::string& name) {
    return name == "HEAD" || name.starts_with("HEAD~") || name.starts_with("HEAD^");
  }

  packaging::Packaging plan(Session& session, const std::string& source) const {
    auto build = build_;
    build.source = source;
    const auto wanted = pipeline::scan_wanted(
        package_request(packaging_, build, session.flags, session.services.environment));
    return pipeline::plan_packaging(session.services, wanted,
                                    executor::facts_offline(session.services, wanted->request));
  }

  static std::set<Digest> shared_layers(const Side& before, const Side& after) {
    std::set<Digest> shared;
    if (before.image && after.image) {
      std::set<Digest> first;
      for (const auto& layer : compare::layers_of(*before.image)) {
        first.insert(layer.digest);
      }
      for (const auto& layer : compare::layers_of(*after.image)) {
        if (first.contains(layer.digest)) {
          shared.insert(layer.digest);
        }
      }
    }
    return shared;
  }

  static compare::Contents read(Session& session,
                                const Side& side,
                                const std::string& name,
                                const std::set<Digest>& shared) {
    auto contents = side.image
                        ? compare::read_image(*session.services.cancellation, *side.image, shared)
                        : compare::contents_of(*side.work, name);
    contents.name = name;
    return contents;
  }

  PackagingOptions packaging_;
  BuildOptions build_;
  bool whole_{false};
};

}  // namespace

std::unique_ptr<Command> make_diff_command() {
  return std::make_unique<DiffCommand>();
}

}  // namespace autopack::cli
