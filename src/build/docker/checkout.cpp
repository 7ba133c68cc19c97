#include "build/docker/checkout.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/new_file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "image/new_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace autopack::build {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::minutes longest_clone{30};
constexpr std::uint64_t largest_clone{std::uint64_t{8} << 30U};
constexpr std::size_t most_files{1'000'000};

/// Returns git's errors as one line; lines of ssh end with a carriage return.
std::string said(std::string_view errors) {
  std::vector<std::string> lines;
  for (const auto& line : split(errors, '\n')) {
    if (const auto text = trim(line); !text.empty()) {
      lines.push_back(printable(text));
    }
  }
  return join(lines, "; ");
}

/// Runs the git of this machine, independent of the repository in which autopack was started.
class Git {
public:
  Git(const lock::LockedSource& source, const Cancellation* cancellation)
      : source_{source}, cancellation_{cancellation} {}

  /// `remedy`: a hint in case git fails.
  void run(const std::vector<std::string>& words, const std::string& remedy = "") const {
    std::vector<std::string> command{"env"};
    for (const char* variable : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX",
                                 "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE"}) {
      command.insert(command.end(), {"-u", variable});
    }
    command.emplace_back("git");
    command.insert(command.end(), words.begin(), words.end());
    // A prompt would wait until the timeout: ssh asks on the terminal by default.
    const auto result = run_process(command, "",
                                    {.environment = {{"GIT_TERMINAL_PROMPT", "0"},
                                                     {"SSH_ASKPASS", "false"},
                                                     {"SSH_ASKPASS_REQUIRE", "force"},
                                                     {"LC_ALL", "C"}},
                                     .timeout = longest_clone,
                                     .cancellation = cancellation_});
    constexpr int not_found{127};
    if (!result || result->status == not_found) {
      throw Error(ErrorKind::environment,
                  fmt::format("`{}` cannot be fetched: there is no git on this machine",
                              printable(source_.repository)))
          .hint("install git");
    }
    if (result->status != 0) {
      Error error(ErrorKind::remote, fmt::format("could not fetch `{}` of `{}`", source_.commit,
                                                 printable(source_.repository)));
      error.cause(redact_credentials(said(result->errors)));
      if (!remedy.empty()) {
        error.hint(remedy);
      }
      throw std::move(error);
    }
  }

private:
  const lock::LockedSource& source_;
  const Cancellation* cancellation_;
};

std::vector<fs::path> paths_below(const fs::path& root, const lock::LockedSource& source) {
  std::vector<fs::path> paths;
  std::uint64_t size = 0;
  for (const auto& entry : fs::recursive_directory_iterator{root}) {
    paths.push_back(entry.path());
    size += entry.is_regular_file() && !entry.is_symlink() ? entry.file_size() : 0;
    if (size > largest_clone || paths.size() > most_files) {
      throw Error(ErrorKind::project,
                  fmt::format("`{}` is too large to be built", printable(source.repository)))
          .cause(
              fmt::format("{} and {} files are the most", human_size(largest_clone), most_files));
    }
  }
  std::ranges::sort(paths);
  return paths;
}

bool is_program(const fs::path& path) {
  return (fs::status(path).permissions() & fs::perms::owner_exec) != fs::perms::none;
}

}  // namespace

void add_checkout(image::TarWriter& tar,
                  const std::string& name,
                  const lock::LockedSource& source,
                  const fs::path& directory,
                  const Cancellation* cancellation) {
  sweep_leftovers(directory);
  const image::NewDirectory scratch{directory};
  const auto place = scratch.path() / "clone";
  const Git git{source, cancellation};
  const std::string there = place.string();
  // The same as pip's clone.
  git.run(
      {"clone", "--quiet", "--filter=blob:none", "--no-checkout", "--", source.repository, there},
      fmt::format("see to it that `git ls-remote {}` answers here without a question: a key in the "
                  "SSH agent, a known host, a credential helper",
                  shell_quote(source.repository)));
  git.run({"-C", there, "-c", "advice.detachedHead=false", "checkout", "--quiet", "--detach",
           source.commit});
  git.run({"-C", there, "submodule", "--quiet", "update", "--init", "--recursive"});
  tar.add_directory(name);
  for (const auto& path : paths_below(place, source)) {
    const auto below = name + "/" + path.lexically_relative(place).string();
    if (fs::is_symlink(path)) {
      tar.add_symlink(below, fs::read_symlink(path).string());
    } else if (fs::is_directory(path)) {
      tar.add_directory(below);
    } else if (fs::is_regular_file(path)) {
      tar.add_file(below, image::file_mode(is_program(path)), fs::file_size(path),
                   [&](const image::TarWriter::Take& take) { read_in_pieces(path, take); });
    }
  }
}

}  // namespace autopack::build
