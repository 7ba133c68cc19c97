#include "build/docker/wheel_policy.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/new_file.hpp"
#include "base/process.hpp"
#include "base/report.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "build/docker/docker_build.hpp"
#include "executor/probe.hpp"
#include "image/archive_reader.hpp"
#include "image/new_directory.hpp"
#include "image/tar.hpp"
#include "lock/locked_set.hpp"
#include "plan/install_record.hpp"
#include "publish/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::build {

namespace {

namespace fs = std::filesystem;
using image::ArchiveEntry;
using packaging::Packaging;

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

/// Clones `source`, a commit of a repository, with git and the logins of this machine, and writes
/// its files to `tar` below `name`, including `.git` and submodules. Uses `place` for the clone.
/// Throws Error(environment) without git, Error(remote) if it fails, and Error(project) if the
/// clone is too large.
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
      fmt::format("`git ls-remote {}` must work here without a prompt: it may need a key in the "
                  "SSH agent, a known host, or a credential helper",
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

constexpr auto* source_directory = "source";
constexpr auto* options_file = ".autopack/options.txt";
constexpr auto* wheel_directory = "/wheels";
constexpr std::uint64_t largest_wheel{std::uint64_t{8} << 30U};

/// Returns the options of requirement files that pip applies to build requirements.
std::string options_text(const project::Project& project) {
  static constexpr std::array carried{"--index-url",    "--extra-index-url", "--no-index",
                                      "--trusted-host", "--find-links",      "--pre",
                                      "--no-binary",    "--only-binary",     "--prefer-binary"};
  std::string text;
  for (const auto& option : project.listed_options) {
    const bool is_known = contains(carried, option.name);
    const bool is_here =
        option.name == "--find-links" && option.value.find("://") == std::string::npos;
    if (is_known && !is_here) {
      text += option.name + (option.value.empty() ? "" : " ") + option.value + "\n";
    }
  }
  return text;
}

/// Returns the option `--no-binary` for all packages, which applies to build requirements too.
const project::ListedOption* option_for_all(const project::Project& project) {
  const auto& options = project.listed_options;
  const auto found = std::ranges::find_if(options, [](const auto& option) {
    return option.name == "--no-binary" && option.value.find(":all:") != std::string::npos;
  });
  return found == options.end() ? nullptr : &*found;
}

/// Builds one source into a wheel.
class WheelBuilding {
public:
  WheelBuilding(Services& services, const Packaging& work, const WheelSource& source)
      : services_{services},
        work_{work},
        source_{source},
        packed_{services.environment.cache_directory() / "source.tar", FileMode::secret} {}

  std::string run(const fs::path& wheel) {
    auto& docker = services_.docker();
    const auto image = build();
    std::string name;
    try {
      docker.with_files(image, work_.plan().platform,
                        [&](engine::ImageFiles& files) { name = take_wheel(files, wheel); });
    } catch (...) {
      docker.remove_image(image);
      throw;
    }
    docker.remove_image(image);
    return name;
  }

private:
  /// Returns the source for pip as a file of the context.
  ContextCopy packed_source() {
    if (source_.archive) {
      return {.path = fmt::format("{}/{}", source_directory, source_.name),
              .file = source_.archive()};
    }
    image::TarWriter tar{[&](std::string_view bytes) { packed_.write(bytes); },
                         image::file_time(services_.environment)};
    if (source_.repository) {
      add_checkout(tar, source_.name.substr(0, source_.name.find('/')), *source_.repository,
                   services_.environment.cache_directory() / "checkout", services_.cancellation);
    } else {
      add_directory(tar, source_.directory.value());
    }
    tar.finish();
    return {.path = fmt::format("{}/source.tar", source_directory), .file = packed_.path()};
  }

  void add_directory(image::TarWriter& tar, const std::string& directory) const {
    const auto& plan = work_.plan();
    for (const auto& entry : plan.dependencies.inputs) {
      if (!entry.path.starts_with(directory + "/")) {
        continue;
      }
      if (entry.type == source::EntryType::directory) {
        tar.add_directory(entry.path);
      } else if (entry.type == source::EntryType::symlink) {
        tar.add_symlink(entry.path, entry.link_target);
      } else {
        tar.add_file(entry.path, image::file_mode(entry.executable), entry.size,
                     [&](const image::TarWriter::Take& take) {
                       plan.trees.at(entry.tree).stream_as_planned(entry, take);
                     });
      }
    }
  }

  std::string build() {
    auto& docker = services_.docker();
    const auto& plan = work_.plan();
    const auto& project = work_.scanned().project;
    ContextParts parts{
        .files = pip_files(services_, project, project.index_hosts, login_refusal(docker.info())),
        .copies = {packed_source()},
        .file_time = image::file_time(services_.environment)};
    engine::BuildRequest build{.labels = unique_label(),
                               .network_mode = work_.request().build_network,
                               .platform = plan.platform,
                               .no_cache = work_.request().no_cache,
                               .buildkit = docker.info().buildkit};
    plan::Dialect dialect{.buildkit = build.buildkit};
    if (!parts.files.empty()) {
      dialect.pip_settings = pip_directory;
    }
    plan::WheelBuild wheel{.base = plan.base,
                           .python = plan.python.value(),
                           .source = parts.copies.front().path,
                           .is_archive = static_cast<bool>(source_.archive),
                           .name = source_.name,
                           .environment = plan.dependencies.install_environment};
    // Makes the wheel reproducible, as far as the build uses this time.
    wheel.environment.try_emplace("SOURCE_DATE_EPOCH", std::to_string(parts.file_time));
    if (auto options = options_text(project); !options.empty()) {
      wheel.options = options_file;
      parts.files.push_back({.path = options_file, .text = Secret{std::move(options)}});
    }
    publish::load_executor_image(services_, plan);
    const executor::BuildBase base{docker, plan.base};
    dialect.base = base.from();
    parts.dockerfile = plan::render_wheel_build(wheel, dialect);
    const PlannedContext context{std::move(parts)};
    build.context = &context;
    return docker.build(build).image_id;
  }

  std::string take_wheel(engine::ImageFiles& files, const fs::path& place) const {
    std::string name;
    std::ofstream out{place, std::ios::binary | std::ios::trunc};
    const auto what = fmt::format("the wheel of {}", source_.title);
    image::read_plain_contents(
        files.archive(wheel_directory), what,
        [&](const image::ArchiveEntry& entry, const image::Reader& content) {
          if (entry.type != image::ArchiveEntry::Type::file || !entry.path.ends_with(".whl")) {
            return;
          }
          if (!name.empty() || entry.size > largest_wheel) {
            throw Error(ErrorKind::project,
                        fmt::format("{} gives {}", source_.title,
                                    name.empty() ? "too large a wheel" : "several wheels"));
          }
          name = entry.path.substr(entry.path.rfind('/') + 1);
          std::array<char, 65536> buffer{};
          while (const auto count = content(buffer.data(), buffer.size())) {
            out.write(buffer.data(), static_cast<std::streamsize>(count));
          }
        });
    out.close();
    if (name.empty() || !out) {
      throw Error(name.empty() ? ErrorKind::project : ErrorKind::environment,
                  name.empty() ? fmt::format("{} produces no wheel", source_.title)
                               : fmt::format("cannot write `{}`", place.string()));
    }
    return name;
  }

  Services& services_;
  const Packaging& work_;
  const WheelSource& source_;
  NewFile packed_;
};

/// Returns a function that builds wheels with the docker engine in the executor image of `work`, as
/// pip does there: with their build requirements, from the indexes of this machine's pip.
BuildWheel build_wheels_with(Services& services, const Packaging& work) {
  return [&services, &work](const WheelSource& source, const fs::path& wheel) {
    return with_context(fmt::format("{}: could not build {}, {}, into a wheel", source.place,
                                    source.title, source.kind),
                        [&] {
                          sweep_leftovers(services.environment.cache_directory() / "source.tar");
                          try {
                            return WheelBuilding{services, work, source}.run(wheel);
                          } catch (Error& error) {
                            if (const auto* const option = option_for_all(work.scanned().project)) {
                              error.hint(fmt::format(
                                  "`--no-binary {}` ({}) applies to build requirements, too: name "
                                  "packages instead",
                                  printable(option->value), option->origin));
                            }
                            throw;
                          }
                        });
  };
}

constexpr auto* observations = "/autopack/out";
constexpr std::string_view layer_prefix{"out/layer/"};
constexpr std::string_view record_path{"out/record/install.json"};
constexpr std::uint64_t largest_installation{std::uint64_t{2} << 30U};

/// The files that an observed installation wrote.
class Observations {
public:
  void take(const ArchiveEntry& entry, const image::Reader& content) {
    const auto path = image::normal_path(entry.path);
    if (path == record_path) {
      record_ = contents(entry, content);
    } else if (path.starts_with(layer_prefix)) {
      const auto name = path.substr(layer_prefix.size());
      const bool is_file = entry.type == ArchiveEntry::Type::file;
      written_[name] = {entry, is_file ? contents(entry, content) : std::string{}};
    }
  }

  const std::string& record() const { return record_; }

  /// Writes the files, sorted by path.
  void write(image::TarWriter& tar) const {
    for (const auto& [path, written] : written_) {
      const auto& [entry, text] = written;
      if (entry.type == ArchiveEntry::Type::directory) {
        tar.add_directory(path, entry.mode);
      } else if (entry.type == ArchiveEntry::Type::symlink) {
        tar.add_symlink(path, entry.link);
      } else {
        tar.add_file(path, entry.mode, text);
      }
    }
    tar.finish();
  }

private:
  std::string contents(const ArchiveEntry& entry, const image::Reader& content) {
    size_ += entry.size;
    if (size_ > largest_installation) {
      throw Error(ErrorKind::project, "the build of the project's own package writes too much")
          .cause(fmt::format("{} are the most", human_size(largest_installation)));
    }
    std::string text;
    std::array<char, 65536> buffer{};
    while (const auto count = content(buffer.data(), buffer.size())) {
      text.append(buffer.data(), count);
    }
    return text;
  }

  std::string record_{};
  std::map<std::string, std::pair<ArchiveEntry, std::string>> written_{};
  std::uint64_t size_{0};
};

Observations install_observed(Services& services, const Packaging& work) {
  auto& docker = services.docker();
  const auto image =
      build(services, work, {.stage = observed_stage, .is_own_alone = true}).image_id;
  Observations seen;
  try {
    docker.with_files(image, work.plan().platform, [&](engine::ImageFiles& files) {
      image::read_plain_contents(files.archive(observations),
                                 "the installation of the project's own package",
                                 [&](const ArchiveEntry& entry, const image::Reader& content) {
                                   seen.take(entry, content);
                                 });
    });
  } catch (...) {
    docker.remove_image(image);
    throw;
  }
  docker.remove_image(image);
  return seen;
}

/// Throws Error(project) if files of the executor image would have to go.
void check_record(const std::string& record) {
  if (!plan::parse_install_record(record)) {
    throw Error(ErrorKind::project, "the installation of the project's own package left no record");
  }
  const auto all = parse_json(record);
  if (const auto removed = all.find("removed"); removed != all.end() && !removed->empty()) {
    throw Error(ErrorKind::project, "the executor image has another version of it");
  }
}

/// Returns a function that installs the own package of `work` in its executor image with the docker
/// engine.
InstallOwn install_own_with(Services& services, const Packaging& work) {
  return [&services, &work](const std::filesystem::path& place) {
    const auto seen = install_observed(services, work);
    check_record(seen.record());
    std::ofstream out{place, std::ios::binary | std::ios::trunc};
    image::TarWriter tar{[&](std::string_view bytes) {
                           out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
                         },
                         image::file_time(services.environment)};
    seen.write(tar);
    out.close();
    if (!out) {
      throw Error(ErrorKind::environment, fmt::format("cannot write `{}`", place.string()));
    }
    return seen.record();
  };
}

}  // namespace

WheelPolicy wheel_policy(Services& services,
                         const packaging::Packaging& work,
                         packaging::Freshness freshness) {
  WheelPolicy policy{.freshness = freshness};
  if (work.request().may_use_engine()) {
    policy.build = build_wheels_with(services, work);
    policy.install_own = install_own_with(services, work);
  }
  return policy;
}

}  // namespace autopack::build
