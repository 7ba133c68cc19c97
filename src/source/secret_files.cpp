#include "base/text.hpp"
#include "source/secret_rules.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace autopack::source {

namespace {

using Lines = std::function<void(std::string_view line, std::size_t at)>;

void each_line(std::string_view text, const Lines& take) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    take(text.substr(at, end - at), at);
    at = end + 1;
  }
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_in(std::string_view path, std::string_view name) {
  return path == name || (path.ends_with(name) && path[path.size() - name.size() - 1] == '/');
}

bool is_environment_file(std::string_view name) {
  static constexpr std::array models{".example", ".sample",   ".template", ".tmpl",
                                     ".dist",    ".defaults", ".schema"};
  return (name == ".env" || name.starts_with(".env.") || name == ".envrc") &&
         std::ranges::none_of(models, [&](const char* model) { return name.ends_with(model); });
}

/// Returns the text after `name` and one of `separators` at the start of `line`; may be empty.
std::optional<std::string_view> value_of(std::string_view line,
                                         std::string_view name,
                                         std::string_view separators) {
  line = trim(line);
  if (!line.starts_with(name)) {
    return std::nullopt;
  }
  line = trim(line.substr(name.size()));
  if (line.empty() || separators.find(line.front()) == std::string_view::npos) {
    return std::nullopt;
  }
  line = trim(line.substr(1));
  while (!line.empty() && (line.front() == '"' || line.front() == '\'')) {
    line.remove_prefix(1);
  }
  while (!line.empty() && std::string_view{"\"',;"}.find(line.back()) != std::string_view::npos) {
    line.remove_suffix(1);
  }
  return line;
}

bool is_given(const std::optional<std::string_view>& value) {
  return value && !is_placeholder(*value);
}

/// Finds the first variable with a value: a file with such a name is a secret as a whole.
void look_at_environment(std::string_view text, std::vector<NamedSecret>& found) {
  each_line(text, [&](std::string_view line, std::size_t at) {
    line = trim(line);
    const std::size_t equals = line.find('=');
    if (!found.empty() || line.starts_with('#') || equals == std::string_view::npos) {
      return;
    }
    if (is_given(value_of(line, line.substr(0, equals), "="))) {
      found.push_back({"environment-file", at});
    }
  });
}

void look_at_netrc(std::string_view text, std::vector<NamedSecret>& found) {
  each_line(text, [&](std::string_view line, std::size_t at) {
    const std::size_t word = line.find("password");
    if (trim(line).starts_with('#') || word == std::string_view::npos) {
      return;
    }
    if (!is_placeholder(trim(line.substr(word + 8)))) {
      found.push_back({"netrc-login", at});
    }
  });
}

/// Finds lines that set one of `names`.
void look_at_settings(std::string_view text,
                      std::string_view kind,
                      const std::vector<std::string_view>& names,
                      std::vector<NamedSecret>& found) {
  each_line(text, [&](std::string_view line, std::size_t at) {
    // An item of a YAML list may begin with the name.
    const auto bare = trim(line).starts_with("- ") ? trim(line).substr(2) : line;
    for (const auto name : names) {
      if (is_given(value_of(bare, name, ":="))) {
        found.push_back({kind, at});
      }
    }
  });
}

/// Finds URLs with a password.
void look_at_logins(std::string_view text, std::string_view kind, std::vector<NamedSecret>& found) {
  each_line(text, [&](std::string_view line, std::size_t at) {
    const std::size_t scheme = line.find("://");
    if (trim(line).starts_with('#') || scheme == std::string_view::npos) {
      return;
    }
    const auto host = line.substr(scheme + 3, line.find_first_of("/ \t", scheme + 3) - scheme - 3);
    const std::size_t sign = host.rfind('@');
    const std::size_t colon = host.find(':');
    if (sign != std::string_view::npos && colon < sign &&
        !is_placeholder(host.substr(colon + 1, sign - colon - 1))) {
      found.push_back({kind, at});
    }
  });
}

enum class NamedFile { none, environment, netrc, pypirc, pip, git, npm, kube, kaggle, key_store };

NamedFile named_file(std::string_view path) {
  const auto name = base_name(path);
  if (is_environment_file(name)) {
    return NamedFile::environment;
  }
  if (name == ".netrc" || name == "_netrc") {
    return NamedFile::netrc;
  }
  if (name == ".pypirc") {
    return NamedFile::pypirc;
  }
  if (name == "pip.conf" || name == "pip.ini") {
    return NamedFile::pip;
  }
  if (name == ".git-credentials") {
    return NamedFile::git;
  }
  if (name == ".npmrc") {
    return NamedFile::npm;
  }
  if (is_in(path, ".kube/config") || name == "kubeconfig" || name.ends_with(".kubeconfig") ||
      name == "kubeconfig.yaml") {
    return NamedFile::kube;
  }
  if (name == "kaggle.json") {
    return NamedFile::kaggle;
  }
  return name.ends_with(".p12") || name.ends_with(".pfx") ? NamedFile::key_store : NamedFile::none;
}

}  // namespace

bool is_secret_file(std::string_view path) {
  return named_file(path) != NamedFile::none;
}

std::vector<NamedSecret> secrets_in_file(std::string_view path, std::string_view text) {
  std::vector<NamedSecret> found;
  switch (named_file(path)) {
    case NamedFile::environment: look_at_environment(text, found); break;
    case NamedFile::netrc: look_at_netrc(text, found); break;
    case NamedFile::pypirc: look_at_settings(text, "pypi-login", {"password"}, found); break;
    case NamedFile::pip: look_at_logins(text, "index-login", found); break;
    case NamedFile::git: look_at_logins(text, "git-login", found); break;
    case NamedFile::npm:
      each_line(text, [&](std::string_view line, std::size_t at) {
        for (const std::string_view name : {"_authToken", "_password", "_auth"}) {
          const std::size_t word = line.find(name);
          if (word != std::string_view::npos && is_given(value_of(line.substr(word), name, "="))) {
            found.push_back({"npm-token", at});
            return;
          }
        }
      });
      break;
    case NamedFile::kube:
      look_at_settings(text, "kube-credentials", {"token", "password", "client-key-data"}, found);
      break;
    case NamedFile::kaggle:
      if (const std::size_t key = text.find("\"key\""); key != std::string_view::npos) {
        const auto rest = value_of(text.substr(key), "\"key\"", ":").value_or("");
        if (is_given(rest.substr(0, rest.find_first_of("\"'}, \n")))) {
          found.push_back({"kaggle-key", key});
        }
      }
      break;
    case NamedFile::key_store:
      // A PKCS #12 store is a sequence with a length of two bytes.
      if (text.starts_with("\x30\x82")) {
        found.push_back({"key-store", 0});
      }
      break;
    case NamedFile::none: break;
  }
  return found;
}

}  // namespace autopack::source
