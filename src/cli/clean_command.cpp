#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/packaging_options.hpp"
#include "cli/project_images.hpp"
#include "inventory/cleaning.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

namespace autopack::cli {

namespace {

using inventory::Leftover;

const char* kind_of(const Leftover& leftover) {
  switch (leftover.kind) {
    case Leftover::Kind::image: return "image";
    case Leftover::Kind::container: return "container";
    default: return "cache";
  }
}

std::string text_of(const Leftover& leftover) {
  return leftover.kind == Leftover::Kind::container
             ? fmt::format("container {}", printable(leftover.name))
             : fmt::format("{} {} ({})", kind_of(leftover), printable(leftover.name),
                           human_size(leftover.size));
}

/// Returns `3 caches, 2 images`.
std::string counts_text(const std::map<std::string, std::size_t>& counts) {
  std::vector<std::string> texts;
  for (const auto& [kind, count] : counts) {
    texts.push_back(fmt::format("{} {}{}", count, kind, count == 1 ? "" : "s"));
  }
  return join(texts, ", ");
}

class CleanCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    flags.section("What goes");
    flags.toggle("--all", all_, "the images of every project, and all caches");
    flags.toggle("--old", old_, "only images that the files as they are do not give");
    flags.toggle("--dry-run", dry_run_, "print what would be removed, and remove nothing");
    add_packaging_flags(flags, packaging_);
    add_build_flags(flags, build_);
  }

  int run(Session& session) override {
    check_build_options(build_, session.flags);
    if (all_ && old_) {
      throw Error(ErrorKind::usage, "`--all` and `--old` are not for one command")
          .hint("`--old` keeps the current image of this project");
    }
    auto removed = nlohmann::json::array();
    auto kept = nlohmann::json::array();
    std::uint64_t bytes = 0;
    std::map<std::string, std::size_t> counts;
    for (const auto& leftover : inventory::find_leftovers(session.services, scope(session))) {
      session.services.cancellation->throw_if_requested();
      const nlohmann::json object{
          {"kind", kind_of(leftover)}, {"name", printable(leftover.name)}, {"size", leftover.size}};
      if (!dry_run_ && !try_to_remove(session, leftover)) {
        kept.push_back(object);
        continue;
      }
      session.console.done(dry_run_ ? "Would go" : "Removed", text_of(leftover));
      removed.push_back(object);
      bytes += leftover.size;
      ++counts[kind_of(leftover)];
    }
    const auto* const nothing = old_ ? "nothing that is out of date" : "nothing that autopack left";
    session.console.done(
        dry_run_ ? "Found" : "Cleaned",
        counts.empty() ? nothing
                       : fmt::format("{}, at most {}{}", counts_text(counts), human_size(bytes),
                                     counts.contains("image") ? ": images share layers" : ""));
    if (session.format.kind != OutputFormat::Kind::text) {
      session.console.result(render(session,
                                    {{"removed", std::move(removed)},
                                     {"kept", std::move(kept)},
                                     {"bytes", bytes},
                                     {"dryRun", dry_run_}},
                                    ""));
    }
    return 0;
  }

private:
  inventory::CleaningScope scope(Session& session) const {
    inventory::CleaningScope scope{.looks_into_engine = has_engine(session)};
    if (all_) {
      return scope;
    }
    const auto project =
        find_project_images(session, packaging_, build_, old_ ? Keys::known : Keys::open);
    scope.repositories = project.repositories;
    scope.directory = packaging_.texts.local_package_path.value_or(".");
    if (old_ && !project.image_key) {
      throw Error(ErrorKind::project,
                  "`--old` does not know the current image: the project cannot be packaged, or its "
                  "executor image was never used here")
          .hint("`autopack explain` shows the reason");
    }
    if (old_) {
      scope.kept_keys = {*project.image_key, project.dependency_key.value_or("")};
    }
    return scope;
  }

  /// Without an engine there are no images: the rest can be removed.
  static bool has_engine(Session& session) {
    try {
      session.services.docker().info();
      return true;
    } catch (const Error& error) {
      session.console.warn(
          Problem::warning({.message = "no engine answers, so images in an engine are not removed",
                            .hints = error.hints()}));
      return false;
    }
  }

  /// Returns false, and reports it, if something is in use.
  static bool try_to_remove(Session& session, const Leftover& leftover) {
    try {
      inventory::remove(session.services, leftover);
      return true;
    } catch (const Error& error) {
      session.console.warn(Problem::warning(
          {.message = fmt::format(
               "{} stays: {}", text_of(leftover),
               printable(error.causes().empty() ? error.message() : error.causes().back()))}));
      return false;
    }
  }

  PackagingOptions packaging_;
  BuildOptions build_;
  bool all_{false};
  bool old_{false};
  bool dry_run_{false};
};

}  // namespace

std::unique_ptr<Command> make_clean_command() {
  return std::make_unique<CleanCommand>();
}

}  // namespace autopack::cli
