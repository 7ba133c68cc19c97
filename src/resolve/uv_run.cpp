#include "resolve/uv_run.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "python/requirement.hpp"
#include "resolve/interpreter_script.hpp"
#include "resolve/uv_failure.hpp"
#include "wheel/wheel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <utility>

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

std::string path_with_git(const Environment& environment) {
  const std::string usual{"/usr/bin:/bin"};
  const auto git = find_program("git", without_relative(environment.get("PATH").value_or("")));
  return git ? fs::path{*git}.parent_path().string() + ":" + usual : usual;
}

/// Settings of indexes are variables, never arguments, because they may contain logins.
std::map<std::string, std::string> variables_for(const Means& means, const fs::path& scratch) {
  std::map<std::string, std::string> variables{
      {"HOME", scratch.string()},
      {"PATH", path_with_git(means.environment)},
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
  if (auto value = means.environment.get("UV_OFFLINE")) {
    variables["UV_OFFLINE"] = *std::move(value);
  }
  // git reads repositories with the user's keys and settings.
  variables["GIT_TERMINAL_PROMPT"] = "0";
  for (const char* const name :
       {"SSH_AUTH_SOCK", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS"}) {
    if (auto value = means.environment.get(name)) {
      variables[name] = *std::move(value);
    }
  }
  const auto git = means.environment.get("GIT_CONFIG_GLOBAL");
  const auto own = means.environment.home() / ".gitconfig";
  std::error_code ignored;
  variables["GIT_CONFIG_GLOBAL"] = git ? *git
                                   : fs::exists(own, ignored)
                                       ? own.string()
                                       : (means.environment.home() / ".config/git/config").string();
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

/// Returns the string in a line such as `name = "numpy"`; nothing for other lines.
std::optional<std::string> value_in(std::string_view line, std::string_view key) {
  const auto begin = fmt::format("{} = \"", key);
  return line.starts_with(begin) && line.ends_with('"')
             ? std::optional{std::string{line.substr(begin.size(), line.size() - begin.size() - 1)}}
             : std::nullopt;
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

std::string toml_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const auto& text : texts) {
    if (!trim(text).empty()) {
      quoted.push_back(double_quoted(text));
    }
  }
  return "[" + join(quoted, ", ") + "]";
}

/// Returns the extras in the markers of `requirements`.
std::vector<std::string> extras_in(const std::vector<std::string>& requirements) {
  constexpr std::string_view variable{"extra"};
  std::vector<std::string> extras;
  for (const auto& text : requirements) {
    const auto marker = python::parse_requirement(text).marker.value_or("");
    for (auto at = marker.find(variable); at != std::string::npos;
         at = marker.find(variable, at + 1)) {
      auto rest = trim(std::string_view{marker}.substr(at + variable.size()));
      if (!rest.starts_with("==")) {
        continue;
      }
      rest = trim(rest.substr(2));
      const auto end = rest.empty() ? std::string_view::npos : rest.find(rest.front(), 1);
      if (end != std::string_view::npos) {
        extras.emplace_back(rest.substr(1, end - 1));
      }
    }
  }
  return extras;
}

/// Returns uv's setting with the metadata of a package.
std::string metadata_text(const SourceMetadata& source) {
  return fmt::format(
      "[[dependency-metadata]]\nname = {}\nversion = {}\nrequires-dist = {}\nprovides-extra = "
      "{}\n\n",
      double_quoted(source.name), double_quoted(source.version), toml_list(source.requirements),
      toml_list(extras_in(source.requirements)));
}

constexpr auto* own_file = "autopack-requirements.txt";
/// uv's remark about a file, which may be one of autopack's.
constexpr std::string_view no_requirements{"does not contain any dependencies"};
constexpr std::string_view made_by_uv{"\ncreated-by = \"uv\"\n"};

}  // namespace

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

Run::Run(const Question& question, const Means& means) : question_{question}, means_{means} {
  fs::create_directories(project());
  fs::create_directories(scratch_.path() / "installed");
  fs::create_directories(scratch_.path() / "empty");
  write_question_files();
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

void Run::add_metadata(const SourceMetadata& source) {
  metadata_ += metadata_text(source);
}

void Run::assume_no_requirements(const std::string& name) {
  // A lower bound of another package is more usual than an upper one.
  assumed_[name] = metadata_text({.name = name, .version = "9999"});
}

void Run::set_metadata(const std::string& name, const SourceMetadata& source) {
  assumed_.erase(name);
  assumed_[source.name] = metadata_text(source);
}

void Run::write_question_files() const {
  if (question_.write_files) {
    question_.write_files(project());
  }
}

void Run::exclude(const std::string& name, const std::string& version) {
  excluded_ += fmt::format("{}!={}\n", name, version);
}

void Run::set_bounds(std::vector<std::string> bounds) {
  bounds_ = std::move(bounds);
}

bool Run::has_heavy() const {
  return std::ranges::any_of(question_.installed,
                             [](const Installed& one) { return contains(heavy, one.name); });
}

std::optional<std::string> Run::solve(bool keeps_heavy) {
  write_file(lock(), preferences(question_));
  write_file(scratch_.path() / "constraints.txt", constraints(keeps_heavy));
  auto metadata = metadata_;
  for (const auto& [name, text] : assumed_) {
    metadata += text;
  }
  write_file(scratch_.path() / "uv.toml", settings_ + metadata);
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
      if (line.find(no_requirements) == std::string::npos) {
        means_.reporter->trace(line);
      }
    }
  }
  if (result->status == 0) {
    const auto text = read_file(lock());
    if (text.find(made_by_uv) == std::string::npos) {
      throw Error(ErrorKind::environment,
                  fmt::format("`{}` ended without a lock", printable(means_.uv.path)));
    }
    missing_extras_ = missing_extras_in(result->errors);
    return replace_all(text, fmt::format("url = \"file://{}/", project().string()), "path = \"");
  }
  if (keeps_heavy && result->errors.find("No solution found") != std::string::npos) {
    return std::nullopt;
  }
  throw_uv_failure(*result, project());
}

void Run::write_requirements() {
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

void Run::set_variables() {
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

std::string Run::constraints(bool keeps_heavy) const {
  auto text = excluded_;
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

std::vector<std::string> Run::words() const {
  std::vector<std::string> words{means_.uv.path, "--directory", project().string(), "pip",
                                 "compile"};
  words.insert(words.end(), question_.requirement_files.begin(), question_.requirement_files.end());
  words.insert(words.end(), inputs_.begin(), inputs_.end());
  for (const auto& word :
       {std::string{own_file}, std::string{"--format=pylock.toml"},
        std::string{"--output-file=pylock.toml"}, "--python=" + python().string(),
        "--constraints=" + (scratch_.path() / "constraints.txt").string(),
        "--config-file=" + (scratch_.path() / "uv.toml").string(), std::string{"--no-header"},
        std::string{"--no-annotate"}, std::string{"--no-progress"}}) {
    words.push_back(word);
  }
  if (question_.exclude_newer) {
    words.push_back("--exclude-newer=" + *question_.exclude_newer);
  }
  return words;
}

}  // namespace autopack::resolve
