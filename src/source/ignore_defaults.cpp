#include "source/ignore.hpp"

#include <array>

namespace autopack::source {

namespace {

/// What no training job needs, by names that mean nothing else. Not here, because a name does not
/// tell: `env` (environments of reinforcement learning), `build`, `dist`, `data` and `cache`
/// (packages of that name exist), `.cache` (may hold weights fetched beforehand), `*.pem`
/// (certificates that code needs).
constexpr std::array default_patterns{
    // History, and what signs in to where it is kept.
    "**/.git",
    "**/.hg",
    "**/.svn",
    "**/.git-credentials",
    // Installed packages; the image has its own.
    "**/.venv",
    "**/venv",
    "**/node_modules",
    // Byte code and what tools write beside it.
    "**/__pycache__",
    "**/*.pyc",
    "**/*.pyo",
    "**/.pytest_cache",
    "**/.mypy_cache",
    "**/.ruff_cache",
    "**/.pytype",
    "**/.hypothesis",
    "**/.tox",
    "**/.nox",
    "**/.eggs",
    "**/*.egg-info",
    "**/.ipynb_checkpoints",
    "**/.coverage",
    // Editors and desktops.
    "**/.idea",
    "**/.vscode",
    "**/.DS_Store",
    // Secrets: whoever can pull an image can read them.
    "**/.env",
    "**/.env.*",
    "**/.netrc",
    "**/.pypirc",
    "**/.ssh",
    "**/.gnupg",
    "**/.aws",
    "**/.kube",
    "**/.docker/config.json",
    "**/.config/gcloud",
    "**/application_default_credentials.json",
    "**/id_rsa",
    "**/id_ecdsa",
    "**/id_ed25519",
};

}  // namespace

void IgnoreRules::add_defaults() {
  for (const char* pattern : default_patterns) {
    append({.pattern = pattern, .file = "autopack's defaults"}, pattern);
  }
}

}  // namespace autopack::source
