#include "source/ignore.hpp"

#include <array>

namespace autopack::source {

namespace {

/// Files that no training job needs, by unambiguous names. Not here, because the names are
/// ambiguous: `env` (environments of reinforcement learning), `build`, `dist`, `data` and `cache`
/// (packages with these names exist), `.cache` (may contain weights fetched earlier), `*.pem`
/// (certificates that code needs).
constexpr std::array default_patterns{
    // History, and logins of its servers.
    "**/.git",
    "**/.hg",
    "**/.svn",
    "**/.bzr",
    "**/.jj",
    "**/.git-credentials",
    // Installed packages; the image has its own.
    "**/.venv",
    "**/venv",
    "**/node_modules",
    // Byte code and other files of tools.
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
    "**/.ropeproject",
    "**/.spyproject",
    "**/*.sublime-workspace",
    "**/*~",
    "**/*.swp",
    "**/*.swo",
    "**/.#*",
    "**/.DS_Store",
    "**/Thumbs.db",
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
    "**/id_dsa",
    "**/id_ecdsa",
    "**/id_ecdsa_sk",
    "**/id_ed25519",
    "**/id_ed25519_sk",
    "**/_netrc",
    "**/.azure",
    "**/.oci",
    "**/.boto",
    "**/.s3cfg",
    "**/.databrickscfg",
    "**/.vault-token",
    "**/.kaggle",
    "**/kaggle.json",
    "**/.comet.config",
    "**/.huggingface",
    "**/.cache/huggingface/token",
    "**/.cache/huggingface/stored_tokens",
    "**/.config/wandb",
    "**/.config/gh",
    "**/.config/glab-cli",
    "**/.config/hub",
    "**/.config/rclone",
    "**/.config/doctl",
    "**/.config/pypoetry/auth.toml",
    "**/.cargo/credentials",
    "**/.cargo/credentials.toml",
    "**/.gem/credentials",
    "**/.terraform.d",
    "**/.password-store",
    "**/.local/share/keyrings",
    // Command histories, and data of browsers and mail programs.
    "**/.bash_history",
    "**/.zsh_history",
    "**/.zsh_sessions",
    "**/.sh_history",
    "**/.python_history",
    "**/.node_repl_history",
    "**/.psql_history",
    "**/.mysql_history",
    "**/.sqlite_history",
    "**/.rediscli_history",
    "**/.lesshst",
    "**/.viminfo",
    "**/.local/share/fish/fish_history",
    "**/.ipython/profile_default/history.sqlite",
    "**/.mozilla",
    "**/.thunderbird",
    "**/.config/google-chrome",
    "**/.config/chromium",
    "**/.config/microsoft-edge",
    "**/.config/BraveSoftware",
    "**/.config/vivaldi",
    "**/.config/opera",
    "**/snap/firefox",
    "**/snap/chromium",
    // Our own cache: each build would differ from the last.
    "**/.cache/autopack",
};

/// Files that configure tools for the project, and that no program reads.
constexpr std::array project_patterns{
    "autopack.yaml",
    "Dockerfile",
    "Dockerfile.*",
    "*.Dockerfile",
    "*.dockerfile",
    "**/*.dockerignore",
    "**/.gcloudignore",
    // Version control.
    "**/.gitignore",
    "**/.gitattributes",
    "**/.gitmodules",
    // Files for other places: continuous integration, checks before a commit.
    ".github",
    ".gitlab-ci.yml",
    ".circleci",
    ".travis.yml",
    ".pre-commit-config.yaml",
    ".pre-commit-hooks.yaml",
};

}  // namespace

template <typename Patterns>
void IgnoreRules::add_built_in(const Patterns& patterns) {
  for (const char* pattern : patterns) {
    append({.pattern = pattern, .file = std::string{defaults_name}}, pattern);
  }
}

const IgnoreRules& IgnoreRules::defaults() {
  static const auto rules = [] {
    IgnoreRules all;
    all.add_built_in(default_patterns);
    return all;
  }();
  return rules;
}

const IgnoreRules& IgnoreRules::defaults_and_project_files() {
  static const auto rules = [] {
    IgnoreRules all = defaults();
    all.add_built_in(project_patterns);
    return all;
  }();
  return rules;
}

}  // namespace autopack::source
