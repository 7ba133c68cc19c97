#include "resolve/resolver.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/scratch_directory.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "python/interpreter.hpp"
#include "python/marker.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"
#include "python/specifier.hpp"
#include "python/version.hpp"
#include "resolve/interpreter_script.hpp"
#include "resolve/uv_failure.hpp"
#include "wheel/wheel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <map>
#include <set>
#include <string_view>
#include <utility>

// uv resolves; what it may decide is not decided here a second time. Three of its ways are silently
// wrong for an image and are not used: `--no-build` takes ancient versions that still have wheels,
// `--overrides` keeps versions of the image that a requirement forbids, and constraints on all of
// the image hold a new package back. Instead, the image's packages are offered as wheels without
// contents, and as the versions of an earlier lock, which uv keeps where it can.

namespace autopack::resolve {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes longest{10};

/// Replacing one of these costs gigabytes, and the image was chosen for them.
constexpr std::array<std::string_view, 12> heavy{
    "torch",          "torchvision", "torchaudio", "triton", "tensorflow", "tensorflow-cpu",
    "tensorflow-gpu", "keras",       "jax",        "jaxlib", "xgboost",    "paddlepaddle-gpu"};

std::string stub_of(const Installed& installed) {
  std::string metadata = fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\n",
                                     installed.name, installed.version);
  for (const auto& requirement : installed.requirements) {
    metadata += fmt::format("Requires-Dist: {}\n", requirement);
  }
  const auto stem = wheel::wheel_stem(installed.name, installed.version);
  return wheel::wheel_text(installed.name, installed.version,
                           {{stem + ".dist-info/METADATA", metadata}});
}

std::string with_login(const index::Location& place, const Means& means) {
  const auto url = Url::parse(place.url);
  if (!url) {
    return place.url;
  }
  auto user = place.user;
  auto password = place.password ? std::optional{place.password->reveal()} : std::nullopt;
  if (!user && means.google_token && index::is_google_python_host(url->host)) {
    if (const auto token = means.google_token(url->host)) {
      user = "oauth2accesstoken";
      password = token->reveal();
    }
  }
  if (!user) {
    return place.url;
  }
  const auto login =
      percent_encode(*user) + (password ? ":" + percent_encode(*password) : std::string{});
  const auto begin = place.url.find("://") + std::string_view{"://"}.size();
  return place.url.substr(0, begin) + login + "@" + place.url.substr(begin);
}

/// Settings of indexes are variables, never arguments, because they may contain logins.
std::map<std::string, std::string> variables_for(const Means& means, const fs::path& scratch) {
  std::map<std::string, std::string> variables{
      {"HOME", scratch.string()},
      {"PATH", "/usr/bin:/bin"},
      {"UV_CACHE_DIR", (means.environment.cache_directory() / "uv").string()},
      {"UV_NO_CONFIG", "1"},
      {"UV_HTTP_RETRIES", std::to_string(std::clamp(means.indexes.retries, 0, 3))},
      {"UV_HTTP_TIMEOUT", std::to_string(means.indexes.timeout.count())},
      {"UV_PYTHON_DOWNLOADS", "never"},
      {"UV_INDEX_STRATEGY", "unsafe-best-match"},
      {"NO_COLOR", "1"}};
  for (const char* const name : {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy",
                                 "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"}) {
    if (auto value = means.environment.get(name)) {
      variables[name] = *std::move(value);
    }
  }
  const auto& indexes = means.indexes;
  if (indexes.proxy) {
    variables["HTTPS_PROXY"] = variables["HTTP_PROXY"] = indexes.proxy->reveal();
  }
  if (indexes.certificates) {
    variables["SSL_CERT_FILE"] = indexes.certificates->string();
  } else if (auto file = means.environment.get("SSL_CERT_FILE")) {
    variables["SSL_CERT_FILE"] = *std::move(file);
  } else {
    variables["UV_SYSTEM_CERTS"] = "1";
  }
  if (indexes.client_certificate) {
    variables["SSL_CLIENT_CERT"] = indexes.client_certificate->string();
  }
  if (indexes.netrc) {
    const auto file = scratch / ".netrc";
    write_file(file, indexes.netrc->reveal(), FileMode::secret);
    variables["NETRC"] = file.string();
  }
  if (indexes.no_index || indexes.indexes.empty()) {  // uv has an index of its own otherwise
    variables["UV_NO_INDEX"] = "1";
  } else {
    variables["UV_DEFAULT_INDEX"] = with_login(indexes.indexes.front(), means);
    std::vector<std::string> others;
    std::transform(indexes.indexes.begin() + 1, indexes.indexes.end(), std::back_inserter(others),
                   [&](const auto& place) { return with_login(place, means); });
    variables["UV_INDEX"] = join(others, " ");
  }
  std::vector<std::string> links{(scratch / "installed").string()};
  for (const auto& place : indexes.find_links) {
    links.push_back(with_login(place, means));
  }
  variables["UV_FIND_LINKS"] = join(links, ",");
  variables["UV_INSECURE_HOST"] = join(indexes.trusted_hosts, " ");
  return variables;
}

/// Returns the part of a variable's name that means the index `name`.
std::string variable_part(const std::string& name) {
  std::string part;
  for (const char c : name) {
    part += is_alphanumeric({&c, 1})
                ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                : '_';
  }
  return part;
}

/// A `[[packages]]` table of uv's answer.
struct Package {
  std::string name{};
  std::string version{};
  std::string text{};
};

/// Returns the string in a line such as `name = "numpy"`; nothing for other lines.
std::optional<std::string> value_in(std::string_view line, std::string_view key) {
  const auto begin = fmt::format("{} = \"", key);
  return line.starts_with(begin) && line.ends_with('"')
             ? std::optional{std::string{line.substr(begin.size(), line.size() - begin.size() - 1)}}
             : std::nullopt;
}

/// Splits a lock that uv wrote. The reader of the lock checks it.
std::vector<Package> packages_in(std::string_view lock) {
  constexpr std::string_view head{"[[packages]]"};
  std::vector<Package> packages;
  for (const auto& line : split(lock, '\n')) {
    if (line == head) {
      packages.emplace_back();
    } else if (packages.empty()) {
      continue;
    }
    auto& package = packages.back();
    package.text += line + "\n";
    if (auto name = value_in(line, "name"); name && package.name.empty()) {
      package.name = *std::move(name);
    }
    if (auto version = value_in(line, "version"); version && package.version.empty()) {
      package.version = *std::move(version);
    }
  }
  return packages;
}

std::string preference(const std::string& name, const std::string& version) {
  return fmt::format("[[packages]]\nname = \"{}\"\nversion = \"{}\"\n\n", name, version);
}

/// Returns the versions that uv keeps where it can: those of the lock before, then of the image.
std::string preferences(const Question& question) {
  std::string text = "lock-version = \"1.0\"\ncreated-by = \"autopack\"\n\n";
  std::vector<std::string> names = question.upgrades;
  for (const auto& package : packages_in(question.before.value_or(""))) {
    if (!package.version.empty() && !contains(names, package.name)) {
      text += preference(package.name, package.version);
      names.push_back(package.name);
    }
  }
  for (const auto& installed : question.installed) {
    if (!contains(names, installed.name)) {
      text += preference(installed.name, installed.version);
      names.push_back(installed.name);
    }
  }
  return text;
}

class Run {
public:
  Run(const Question& question, const Means& means) : question_{question}, means_{means} {
    fs::create_directories(project());
    fs::create_directories(scratch_.path() / "installed");
    fs::create_directories(scratch_.path() / "empty");
    if (question.write_files) {
      question.write_files(project());
    }
    write_file(python(), interpreter_script(question.interpreter, python().string(),
                                            (scratch_.path() / "empty").string()));
    fs::permissions(python(), fs::perms::owner_all);
    for (const auto& installed : question.installed) {
      const auto stem = wheel::wheel_stem(installed.name, installed.version);
      write_file(scratch_.path() / "installed" / (stem + "-py3-none-any.whl"), stub_of(installed));
    }
    write_requirements();
    set_variables();
  }

  /// Adds what a source distribution requires, so that uv need not build it.
  void add_metadata(const std::string& name,
                    const std::string& version,
                    const std::vector<std::string>& requirements) {
    metadata_ += fmt::format("[[dependency-metadata]]\nname = {}\nversion = {}\nrequires-dist = [",
                             double_quoted(name), double_quoted(version));
    for (const auto& requirement : requirements) {
      if (trim(requirement).empty()) {
        continue;
      }
      metadata_ += double_quoted(requirement) + ", ";
    }
    metadata_ += "]\n\n";
  }

  /// Returns the text of the lock; nothing if there is no solution that keeps the heavy packages.
  std::optional<std::string> solve(bool keeps_heavy) {
    write_file(lock(), preferences(question_));
    write_file(scratch_.path() / "constraints.txt", constraints(keeps_heavy));
    write_file(scratch_.path() / "uv.toml", settings_ + metadata_);
    const auto result = run_process(words(), "",
                                    {.environment = variables_,
                                     .inherits = false,
                                     .timeout = longest,
                                     .cancellation = means_.cancellation});
    if (!result) {
      throw Error(ErrorKind::environment, fmt::format("cannot run `{}`", means_.uv.path));
    }
    if (means_.reporter != nullptr) {
      for (const auto& line : split(redact_credentials(result->errors), '\n')) {
        means_.reporter->trace(line);
      }
    }
    if (result->status == 0) {
      const auto text = read_file(lock());
      if (text.find(made_by_uv) == std::string::npos) {
        throw Error(ErrorKind::environment,
                    fmt::format("`{}` ended without a lock", printable(means_.uv.path)));
      }
      return replace_all(text, fmt::format("url = \"file://{}/", project().string()), "path = \"");
    }
    if (keeps_heavy && result->errors.find("No solution found") != std::string::npos) {
      return std::nullopt;
    }
    throw_uv_failure(*result, project());
  }

  void set_bounds(std::vector<std::string> bounds) { bounds_ = std::move(bounds); }

  bool has_heavy() const {
    return std::ranges::any_of(question_.installed,
                               [](const Installed& one) { return contains(heavy, one.name); });
  }

private:
  static constexpr auto* own_file = "autopack-requirements.txt";
  static constexpr std::string_view made_by_uv{"\ncreated-by = \"uv\"\n"};

  /// Writes the requirements that are in no file. Those with a source go into a pyproject.toml,
  /// because only that may name sources; uv reads it like a requirements file.
  void write_requirements() {
    std::string lines;
    std::vector<std::string> with_source;
    for (const auto& requirement : question_.requirements) {
      const auto name = python::parse_requirement(requirement).name;
      if (name && question_.sources.contains(*name)) {
        with_source.push_back(double_quoted(requirement));
      } else {
        lines += requirement + "\n";
      }
    }
    write_file(project() / own_file, lines);
    std::string indexes;
    settings_ = question_.options;
    for (const auto& index : question_.indexes) {
      const auto text = fmt::format(
          "name = {}\nurl = {}\n{}{}", double_quoted(index.name), double_quoted(index.url),
          index.is_default ? "default = true\n" : "", index.is_flat ? "format = \"flat\"\n" : "");
      indexes += "[[tool.uv.index]]\n" + text + "explicit = true\n";
      settings_ += index.is_explicit ? "" : "[[index]]\n" + text;
    }
    if (with_source.empty()) {
      return;
    }
    std::string text = fmt::format(
        "[project]\nname = \"{}\"\nversion = \"0\"\ndependencies = [{}]\n\n"
        "[tool.uv.sources]\n",
        project_of_requirements, join(with_source, ", "));
    for (const auto& [name, source] : question_.sources) {
      text += fmt::format("{} = {}\n", double_quoted(name), source);
    }
    fs::create_directories(project() / project_of_requirements);
    write_file(project() / project_of_requirements / "pyproject.toml", text + "\n" + indexes);
    inputs_.push_back(fmt::format("{}/pyproject.toml", project_of_requirements));
  }

  void set_variables() {
    variables_ = variables_for(means_, scratch_.path());
    if (question_.prereleases) {
      variables_["UV_PRERELEASE"] = "allow";
    }
    const auto is_for_all = [](const NamedIndex& index) { return !index.is_explicit; };
    if (question_.chooses_strategy || std::ranges::any_of(question_.indexes, is_for_all)) {
      variables_.erase("UV_INDEX_STRATEGY");
    }
    for (const auto& index : question_.indexes) {
      if (index.is_default && is_for_all(index)) {
        variables_.erase("UV_DEFAULT_INDEX");
        variables_.erase("UV_NO_INDEX");
      }
      const auto url = Url::parse(index.url);
      if (url && means_.google_token && index::is_google_python_host(url->host)) {
        if (const auto token = means_.google_token(url->host)) {
          const auto name = "UV_INDEX_" + variable_part(index.name);
          variables_[name + "_USERNAME"] = "oauth2accesstoken";
          variables_[name + "_PASSWORD"] = token->reveal();
        }
      }
    }
  }

  fs::path project() const { return scratch_.path() / "project"; }

  fs::path python() const { return scratch_.path() / "python"; }

  fs::path lock() const { return project() / "pylock.toml"; }

  std::string constraints(bool keeps_heavy) const {
    std::string text;
    for (const auto& line : question_.constraints) {
      text += line + "\n";
    }
    for (const auto& bound : bounds_) {
      text += bound + "\n";
    }
    for (const auto& one : question_.installed) {
      if (keeps_heavy && contains(heavy, one.name) && !contains(question_.upgrades, one.name)) {
        text += fmt::format("{}=={}\n", one.name, one.version);
      }
    }
    return text;
  }

  std::vector<std::string> words() const {
    std::vector<std::string> words{means_.uv.path, "--directory", project().string(), "pip",
                                   "compile"};
    words.insert(words.end(), question_.requirement_files.begin(),
                 question_.requirement_files.end());
    words.insert(words.end(), inputs_.begin(), inputs_.end());
    for (const auto& word :
         {std::string{own_file}, std::string{"--format=pylock.toml"},
          std::string{"--output-file=pylock.toml"}, "--python=" + python().string(),
          "--constraints=" + (scratch_.path() / "constraints.txt").string(),
          "--config-file=" + (scratch_.path() / "uv.toml").string(), std::string{"--no-header"},
          std::string{"--no-annotate"}, std::string{"--no-progress"}, std::string{"--quiet"}}) {
      words.push_back(word);
    }
    if (question_.exclude_newer) {
      words.push_back("--exclude-newer=" + *question_.exclude_newer);
    }
    return words;
  }

  const Question& question_;
  const Means& means_;
  ScratchDirectory scratch_{"resolve"};
  std::map<std::string, std::string> variables_{};
  std::string settings_{};             ///< of uv, as are these:
  std::string metadata_{};             ///< of source distributions
  std::vector<std::string> inputs_{};  ///< further files with requirements
  std::vector<std::string> bounds_{};  ///< further constraints
};

/// Returns the text of the lock. Reads the source distributions that uv would build, one after the
/// other.
std::string solve(Run& run, const Means& means) {
  constexpr int most_sources{50};
  for (int i = 0;; ++i) {
    try {
      auto lock = run.has_heavy() ? run.solve(true) : std::nullopt;
      return lock ? *std::move(lock) : run.solve(false).value();
    } catch (const BuildNeeded& needed) {
      const auto parts = python::parse_requirement(needed.source());
      const auto version = parts.rest.starts_with("==") ? parts.rest.substr(2) : std::string{};
      const bool is_of_index = parts.name && !version.empty() && means.read_source;
      const auto requirements =
          is_of_index && i < most_sources ? means.read_source(*parts.name, version) : std::nullopt;
      if (!requirements) {
        throw;
      }
      run.add_metadata(*parts.name, version, *requirements);
    }
  }
}

bool is_same_version(const std::string& one, const std::string& other) {
  const auto parsed = python::Version::parse(one);
  return one == other || (parsed && parsed == python::Version::parse(other));
}

/// Returns the names of the image's packages that `lock` replaces by other versions.
std::set<std::string> replaced_in(const std::string& lock, const Question& question) {
  std::set<std::string> names;
  for (const auto& package : packages_in(lock)) {
    const auto there = std::ranges::find(question.installed, package.name, &Installed::name);
    if (there != question.installed.end() && !is_same_version(there->version, package.version)) {
      names.insert(package.name);
    }
  }
  return names;
}

/// Returns true if `newest` has a larger first number, or the same and a second one that is larger
/// by far; after 0, the second number counts as the first.
bool is_far_behind(const python::Version& version, const python::Version& newest) {
  constexpr std::uint64_t far{5};
  const auto line_of = [](const python::Version& one) {
    const auto& parts = one.release;
    const auto part = [&](std::size_t i) { return i < parts.size() ? parts[i] : 0; };
    return part(0) == 0 ? std::pair{part(1), part(2)} : std::pair{part(0), part(1)};
  };
  const auto old_line = line_of(version);
  const auto new_line = line_of(newest);
  return old_line.first < new_line.first ||
         (old_line.first == new_line.first && old_line.second + far < new_line.second);
}

/// Returns the packages of `lock` that the project requires itself and that are far behind, unless
/// an earlier lock or the image has them at that version.
std::vector<Package> left_behind(const std::string& lock,
                                 const Question& question,
                                 const Means& means) {
  const auto before = packages_in(question.before.value_or(""));
  std::vector<Package> behind;
  for (auto& package : packages_in(lock)) {
    const auto is_it = [&](const auto& other) {
      return other.name == package.name && other.version == package.version;
    };
    const auto version = python::Version::parse(package.version);
    if (!means.newest || !version || !contains(question.direct, package.name) ||
        std::ranges::any_of(before, is_it) || std::ranges::any_of(question.installed, is_it)) {
      continue;
    }
    const auto newest = means.newest(package.name);
    if (newest && is_far_behind(*version, *newest)) {
      behind.push_back(std::move(package));
    }
  }
  return behind;
}

/// Resolves again with newer versions of `behind`, but no older ones of what else the project
/// requires itself, and the same ones of the image; returns nothing if that has no solution.
std::optional<std::string> solve_above(Run& run,
                                       const Question& question,
                                       const Means& means,
                                       const std::string& lock,
                                       const std::vector<Package>& behind) {
  std::vector<std::string> bounds;
  for (const auto& package : packages_in(lock)) {
    const auto installed = std::ranges::find(question.installed, package.name, &Installed::name);
    if (std::ranges::find(behind, package.name, &Package::name) != behind.end()) {
      bounds.push_back(fmt::format("{}>{}", package.name, package.version));
    } else if (installed != question.installed.end() &&
               is_same_version(installed->version, package.version)) {
      bounds.push_back(fmt::format("{}=={}", package.name, package.version));
    } else if (!package.version.empty() && contains(question.direct, package.name)) {
      bounds.push_back(fmt::format("{}>={}", package.name, package.version));
    }
  }
  run.set_bounds(std::move(bounds));
  try {
    return solve(run, means);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::project) {
      throw;
    }
    return std::nullopt;
  }
}

/// Returns true if `lock` has a pre-release of a package that `before` does not have.
bool has_new_prerelease(const std::string& lock, const std::string& before) {
  const auto old = packages_in(before);
  return std::ranges::any_of(packages_in(lock), [&](const Package& package) {
    const auto version = python::Version::parse(package.version);
    return version && version->is_prerelease() &&
           std::ranges::none_of(old, [&](const Package& other) {
             return other.name == package.name && other.version == package.version;
           });
  });
}

/// Returns `lock`, or a better one in which packages that were left behind are raised: all of them,
/// or the first one that can be. None is raised at the cost of a package of the image, or to a
/// pre-release, which uv takes if nothing else is above a bound.
std::string raised(Run& run,
                   const Question& question,
                   const Means& means,
                   std::string lock,
                   Resolution& resolution) {
  constexpr std::size_t most_tries{4};
  const auto behind = left_behind(lock, question, means);
  const auto replaced = replaced_in(lock, question);
  const auto raise = [&](const std::vector<Package>& packages) {
    auto found = solve_above(run, question, means, lock, packages);
    return found && (question.prereleases || !has_new_prerelease(*found, lock)) &&
                   std::ranges::includes(replaced, replaced_in(*found, question))
               ? found
               : std::nullopt;
  };
  auto better = behind.empty() ? std::nullopt : raise(behind);
  for (std::size_t i = 0; !better && behind.size() > 1 && i < behind.size() && i < most_tries;
       ++i) {
    better = raise({behind[i]});
  }
  if (!better) {
    return lock;
  }
  for (const auto& package : packages_in(*better)) {
    const auto old = std::ranges::find(behind, package.name, &Package::name);
    if (old != behind.end() && old->version != package.version) {
      resolution.raised.push_back(
          {.name = package.name, .before = old->version, .version = package.version});
    }
  }
  return *std::move(better);
}

/// Returns the packages of the image that stay and whose requirements `replaced` does not meet.
std::vector<Broken> broken_by(const std::vector<Replaced>& replaced, const Question& question) {
  const auto environment = python::marker_environment(question.interpreter);
  std::map<std::string, python::Version> versions;
  for (const auto& one : replaced) {
    if (auto version = python::Version::parse(one.version)) {
      versions.emplace(one.installed.name, *std::move(version));
    }
  }
  std::vector<Broken> broken;
  for (const auto& installed : question.installed) {
    if (versions.contains(installed.name)) {
      continue;
    }
    for (const auto& text : installed.requirements) {
      const auto requirement = python::parse_requirement(text);
      const auto found = versions.find(requirement.name.value_or(""));
      const auto conditions = python::SpecifierSet::parse(requirement.rest);
      const auto marker =
          requirement.marker ? python::Marker::parse(*requirement.marker) : std::nullopt;
      const bool holds = !requirement.marker || (marker && marker->holds_in(environment) == true);
      if (found != versions.end() && conditions && holds &&
          !conditions->contains(found->second, python::Prereleases::allowed)) {
        broken.push_back({.installed = installed, .requirement = python::normalised(requirement)});
      }
    }
  }
  return broken;
}

}  // namespace

BuildNeeded::BuildNeeded(std::string source)
    : Error{ErrorKind::project,
            fmt::format("`{}` has to be built before its dependencies are known",
                        printable(source))},
      source_{std::move(source)} {}

Resolution resolve(const Question& question, const Means& means) {
  Run run{question, means};
  Resolution resolution;
  const auto lock = raised(run, question, means, solve(run, means), resolution);
  for (auto& package : packages_in(lock)) {
    const auto installed = std::ranges::find(question.installed, package.name, &Installed::name);
    const bool is_there = installed != question.installed.end();
    if (is_there && is_same_version(installed->version, package.version)) {
      resolution.provided.push_back(*installed);
      continue;
    }
    if (is_there) {
      resolution.replaced.push_back({.installed = *installed, .version = package.version});
    }
    resolution.packages += package.text;
    ++resolution.chosen;
  }
  resolution.broken = broken_by(resolution.replaced, question);
  return resolution;
}

}  // namespace autopack::resolve
