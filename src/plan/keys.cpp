#include "plan/keys.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "plan/layers.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace autopack::plan {

namespace {

/// The version of the key's inputs, not of autopack: increment it if the same inputs give a
/// different image.
constexpr int plan_format{3};

/// A digest over named values with their lengths, so that no two lists of values collide.
class Key {
public:
  void add(std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(text_), FMT_COMPILE("{}:{}={}:{}"), name.size(), name,
                   value.size(), value);
    if (text_.size() > hashed_at_once) {
      hash_text();
    }
  }

  template <class Values>
  void add_all(std::string_view name, const Values& values) {
    add(name, std::to_string(values.size()));
    for (const std::string& value : values) {
      add(name, value);
    }
  }

  void add(const Copy& copy) {
    add("copy", copy.source);
    add("to", copy.destination);
  }

  void add(const ContextEntry& entry) {
    add("path", entry.path);
    if (entry.type == source::EntryType::directory) {
      add("directory", "");
      return;
    }
    const bool is_link = entry.type == source::EntryType::symlink;
    const std::string_view kind = is_link ? "link" : entry.executable ? "program" : "file";
    if (entry.content) {
      add(kind, *entry.content);
    } else {
      add(kind, "");
    }
  }

  std::string finish() {
    hash_text();
    return hash_.finish().hex();
  }

private:
  static constexpr std::size_t hashed_at_once{16'384};

  /// Adds ContentHash::str, without a string for each of many files.
  void add(std::string_view name, const ContentHash& content) {
    fmt::format_to(std::back_inserter(text_), FMT_COMPILE("{}:{}=71:sha256:"), name.size(), name);
    const std::size_t size = text_.size();
    text_.resize(size + 2 * content.view().size());
    write_hexadecimal(content.view(), text_.data() + size);
  }

  void hash_text() {
    hash_.update({text_.data(), text_.size()});
    text_.clear();
  }

  Sha256 hash_{};
  fmt::memory_buffer text_{};
};

void add_package(Key& key, const Dependencies& dependencies) {
  key.add("install", dependencies.install ? "yes" : "");
  key.add("isolated", dependencies.isolated ? "yes" : "");
  key.add("resolves", dependencies.resolves ? "yes" : "");
  key.add_all("extras", dependencies.package_extras);
  key.add_all("members", dependencies.members);
  if (dependencies.install && !dependencies.installs_root) {
    key.add("root", "");
  }
  for (const auto* requirements :
       {&dependencies.package_requirements, &dependencies.build_requirements}) {
    key.add("requirements", std::to_string(requirements->size()));
    for (const std::string& requirement : *requirements) {
      key.add("requirement", normalised(requirement));
    }
  }
  for (const auto& [name, value] : dependencies.build_environment) {
    key.add(name, value);
  }
  if (dependencies.writes_version_file()) {
    key.add("version", *dependencies.version);
  }
  for (const Copy& copy : dependencies.package_files) {
    key.add(copy);
  }
}

/// Adds nothing if there is none, as below.
void add_lock(Key& key, const Dependencies& dependencies) {
  if (dependencies.lock) {
    key.add("lock", dependencies.lock->file);
    key.add_all("extras", dependencies.lock->extras);
    key.add_all("groups", dependencies.lock->groups);
  }
}

/// Adds nothing if there is none, as below.
void add_uv(Key& key, const project::UvSettings& uv) {
  for (const auto& index : uv.indexes) {
    key.add("index", index.name);
    key.add("url", index.url);
    key.add("kind",
            fmt::format("{:d}{:d}{:d}", index.is_explicit, index.is_default, index.is_flat));
  }
  for (const auto& [package, source] : uv.sources) {
    key.add("source", package);
    key.add("of", source);
  }
  if (!uv.options.empty()) {
    key.add("uv", uv.options);
  }
}

/// Adds nothing if there is none, so that keys are the same as before `--build-env` existed.
void add_install_environment(Key& key, const Dependencies& dependencies) {
  for (const auto& [name, value] : dependencies.install_environment) {
    key.add("build-env", name);
    key.add("value", value);
  }
}

}  // namespace

bool is_requirement_text(const Plan& plan,
                         const project::Project& project,
                         const std::string& path) {
  const auto& files = plan.dependencies.requirement_files;
  const auto& inputs = project.requirement_inputs;
  return contains(files, path) ||
         ((path.ends_with(".txt") || path.ends_with(".in")) && contains(inputs, path));
}

std::string base_identity(const image::BaseFacts& base) {
  if (base.digest) {
    return base.digest->str();
  }
  return base.image_id.value_or(base.reference);
}

std::string normalised(const std::string& requirement) {
  const auto marker = std::min(requirement.find(';'), requirement.size());
  return replace_all(requirement.substr(0, marker), " ", "") +
         std::string{trim(std::string_view{requirement}.substr(marker))};
}

namespace {

std::string dependency_key(const Plan& plan,
                           const project::Project& project,
                           const std::string& templates) {
  const Dependencies& dependencies = plan.dependencies;
  Key key;
  key.add("format", std::to_string(plan_format));
  key.add("base", base_identity(plan.base));
  key.add("platform", plan.platform);
  key.add("templates", templates);
  key.add("python", plan.python.value_or(""));
  key.add("sitecustomize", plan.remove_sitecustomize ? "removed" : "");
  key.add_all("apt", dependencies.apt_packages);
  key.add_all("files", dependencies.requirement_files);
  key.add_all("lines", project.normalised_requirements);
  key.add("hashed", dependencies.hashed ? "yes" : "");
  for (const std::string& requirement : dependencies.requirements) {
    key.add("requirement", normalised(requirement));
  }
  key.add_all("packages", dependencies.packages);
  if (plan.compile_bytecode) {
    key.add("byte code", "yes");
  }
  add_package(key, dependencies);
  add_install_environment(key, dependencies);
  add_lock(key, dependencies);
  add_uv(key, dependencies.uv);
  for (const ContextEntry& input : dependencies.inputs) {
    if (input.tree != 0 || !is_requirement_text(plan, project, input.path)) {
      key.add(input);
    }
  }
  return key.finish();
}

std::string image_key(const Plan& plan,
                      const project::Project& project,
                      const std::string& dependency_key) {
  Key key;
  key.add("dependencies", dependency_key);
  key.add("dockerfile", plan.user_dockerfile ? plan.dockerfile : "");
  key.add("user", plan.user);
  if (has_open_directories(plan)) {
    key.add("directories", "open");
  }
  key.add_all("entrypoint", plan.entrypoint);
  for (const auto& [name, value] : plan.labels) {
    key.add("label", name);
    key.add("value", value);
  }
  for (const Copy& copy : plan.copies) {
    key.add(copy);
  }
  for (const ContextEntry& entry : plan.code) {
    // Its lines are in the key of the dependencies, without comments.
    if (entry.tree != 0 || !is_requirement_text(plan, project, entry.path)) {
      key.add(entry);
    }
  }
  return key.finish();
}

}  // namespace

Keys keys_of(const Plan& plan, const project::Project& project, const std::string& templates) {
  Keys keys{.dependencies = dependency_key(plan, project, templates)};
  keys.image = image_key(plan, project, keys.dependencies);
  return keys;
}

}  // namespace autopack::plan
