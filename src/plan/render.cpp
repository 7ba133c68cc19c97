#include "base/text.hpp"
#include "image/file_reference.hpp"
#include "plan/layers.hpp"
#include "plan/plan.hpp"
#include "plan/templates.hpp"
#include "plan/words.hpp"
#include "project/requirements/pip_settings.hpp"

#include <fmt/core.h>
#include <kainjow/mustache.hpp>

#include <algorithm>
#include <utility>

namespace autopack::plan {

namespace {

namespace mustache = kainjow::mustache;

constexpr std::string_view record{"# autopack-base: "};

/// Returns every name that a template may use.
const std::vector<std::string>& known_values() {
  static const std::vector<std::string> names{
      "apt_packages",
      "base",
      "below",
      "build_environment",
      "buildkit",
      "copies",
      "edits",
      "entrypoint",
      "expressions",
      "extras_directory",
      "facts",
      "file",
      "hashed",
      "hashed_files",
      "install",
      "install_environment",
      "lacks_pip",
      "lock",
      "lock_words",
      "locked_alone",
      "locked_file",
      "needs_pip",
      "notebook",
      "observed",
      "observer_words",
      "options",
      "outside",
      "package",
      "parent",
      "pip",
      "pip_options",
      "pip_settings",
      "pip_settings_target",
      "pip_settings_words",
      "program",
      "python",
      "remove_sitecustomize",
      "requirement_copies",
      "requirement_files",
      "requirements",
      "requirements_stage",
      "resolves",
      "restored_user",
      "source",
      "word",
      "words",
  };
  return names;
}

/// Returns a list of objects with one text each under `name`.
mustache::data list_of(const std::string& name, const std::vector<std::string>& texts) {
  mustache::data list{mustache::data::type::list};
  for (const std::string& text : texts) {
    list.push_back(mustache::data{name, text});
  }
  return list;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

std::string context_path(const std::string& path, std::string_view root) {
  if (path.starts_with(extras_directory) || root.empty()) {
    return path.empty() ? "." : path;
  }
  return path.empty() ? std::string{root} : fmt::format("{}/{}", root, path);
}

/// Returns true for a file that keeps its name, so that its destination can be a directory.
bool keeps_name(const Copy& copy) {
  return !copy.is_directory && copy.source.substr(copy.source.rfind('/') + 1) ==
                                   copy.destination.substr(copy.destination.rfind('/') + 1);
}

/// Returns COPY's words: one instruction for each directory, one for neighbouring files of one
/// directory.
std::vector<std::string> copy_lines(const std::vector<Copy>& copies, std::string_view root) {
  std::vector<std::string> lines;
  for (auto copy = copies.begin(); copy != copies.end();) {
    const Copy& first = *copy++;
    std::vector<std::string> sources{context_path(first.source, root)};
    if (!keeps_name(first)) {
      lines.push_back(copy_words(sources, first.destination.empty() ? "./" : first.destination));
      continue;
    }
    const std::string directory = parent_of(first.destination);
    for (; copy != copies.end() && keeps_name(*copy) && parent_of(copy->destination) == directory;
         ++copy) {
      sources.push_back(context_path(copy->source, root));
    }
    lines.push_back(copy_words(sources, directory));
  }
  return lines;
}

std::vector<std::string> quote_all(const std::vector<std::string>& words) {
  std::vector<std::string> result;
  std::ranges::transform(words, std::back_inserter(result), shell_quote);
  return result;
}

void set_text(mustache::data& values, const std::string& name, const std::string& text) {
  values.set(name, text.empty() ? mustache::data{false} : mustache::data{text});
}

void add_pip(mustache::data& values, const Dependencies& dependencies) {
  // Paths first: pip uses the first requirement with a name for all others.
  std::vector<std::string> rest;
  for (const std::string& path : dependencies.packages) {
    rest.push_back(shell_quote("./" + path));
  }
  for (const auto* more : {&dependencies.requirements, &dependencies.package_requirements,
                           &dependencies.build_requirements}) {
    for (std::string& word : quote_all(*more)) {
      rest.push_back(std::move(word));
    }
  }
  const bool two_calls = (dependencies.hashed || dependencies.lock) && !rest.empty();
  std::vector<std::string> named = dependencies.requirement_files;
  if (dependencies.lock) {
    named.emplace_back(locked_file);
  }
  const auto files = list_of("word", quote_all(named));
  values.set("locked_alone", dependencies.lock && !two_calls);
  values.set("hashed", two_calls);
  values.set("hashed_files", two_calls ? files : mustache::data{false});
  values.set("requirement_files", two_calls ? mustache::data{false} : files);
  values.set("requirements", list_of("word", rest));
  set_text(values, "pip_options", join(quote_all(dependencies.pip_options), " "));
}

void add_edits(mustache::data& values, const std::vector<project::LineEdit>& edits) {
  std::map<std::string, std::string> expressions;
  for (const project::LineEdit& edit : edits) {
    std::string& words = expressions[edit.file];
    words += (words.empty() ? "-e " : " -e ") +
             shell_quote(sed_expression(edit.first_line, edit.last_line, edit.text));
  }
  mustache::data list{mustache::data::type::list};
  for (const auto& [file, words] : expressions) {
    mustache::data edit{"file", shell_quote(file)};
    edit.set("expressions", words);
    list.push_back(edit);
  }
  values.set("edits", list);
}

/// Returns pip's words to install the project's own package, including members of its workspace.
std::string install_words(const Dependencies& dependencies) {
  std::string words = dependencies.resolves ? "" : "--no-deps ";
  words += dependencies.isolated ? "" : "--no-build-isolation ";
  const auto& extras = dependencies.package_extras;
  if (dependencies.installs_root) {
    words +=
        "--editable " + (extras.empty() ? "." : shell_quote(".[" + join(extras, ",") + "]")) + " ";
  }
  for (const std::string& member : dependencies.members) {
    words += "--editable " + shell_quote("./" + member) + " ";
  }
  return words + "--no-input";
}

void add_package(mustache::data& values, const Plan& plan, const Dialect& dialect) {
  const Dependencies& dependencies = plan.dependencies;
  const bool observed = dependencies.install && dialect.observer;
  values.set("observed", observed);
  values.set("package", dependencies.install && !observed && !dialect.parent);
  values.set("resolves", dependencies.resolves);
  values.set("install", install_words(dependencies));
  values.set("below", dependencies.has_requirements() ? "dependencies" : "base");
  values.set("observer_words", copy_words({dialect.observer.value_or("") + "/"}, "/autopack/"));
  std::string environment = dependencies.needs_pyproject ? "touch pyproject.toml && " : "";
  if (dependencies.writes_version_file()) {
    environment += fmt::format(R"(printf 'Version: %s\n' {} > PKG-INFO && )",
                               shell_quote(*dependencies.version));
  }
  for (const auto& [name, value] : dependencies.build_environment) {
    environment += fmt::format("{}={} ", name, shell_quote(value));
  }
  values.set("build_environment", environment);
  if (dialect.parent) {
    values.set("parent", *dialect.parent);
  } else {
    values.set("parent", false);
  }
}

void add_dialect(mustache::data& values, const image::BaseFacts& base, const Dialect& dialect) {
  values.set("buildkit", dialect.buildkit);
  values.set("base", dialect.base ? *dialect.base : image::build_name(base));
  values.set("pip_settings_target", std::string{project::pip_settings_directory});
  if (!dialect.pip_settings) {
    values.set("pip_settings", false);
    return;
  }
  values.set("pip_settings", *dialect.pip_settings);
  values.set("pip_settings_words", copy_words({*dialect.pip_settings},
                                              fmt::format("{}/", project::pip_settings_directory)));
}

bool has_outside_files(const Plan& plan) {
  const auto outside = [](const Copy& copy) { return copy.source.starts_with(extras_directory); };
  const auto& inputs = plan.dependencies.requirement_copies;
  return std::ranges::any_of(plan.copies, outside) || std::ranges::any_of(inputs, outside);
}

std::string variables_text(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> words;
  for (const auto& [name, value] : variables) {
    words.push_back(name + "=" + shell_quote(value));
  }
  return join(words, " ");
}

std::string render(const std::map<std::string, std::string>& texts,
                   const std::string& name,
                   mustache::data& values) {
  std::string pip_environment = join_tag_lines(texts.at("pip_environment.mustache"));
  values.set("pip_environment",
             mustache::partial{[text = std::move(pip_environment)] { return text; }});
  mustache::mustache main{join_tag_lines(texts.at(name))};
  if (!main.is_valid()) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` is not a template: {}", name, main.error_message()));
  }
  return replace_all(main.render(values), kept_line, "");
}

mustache::data values_of(const Plan& plan, const Dialect& dialect) {
  const Dependencies& dependencies = plan.dependencies;
  mustache::data values;
  add_dialect(values, plan.base, dialect);
  values.set("facts", image::to_json_line(plan.base));
  values.set("outside", has_outside_files(plan));
  values.set("extras_directory", std::string{extras_directory});
  set_text(values, "notebook", printable(plan.notebook.value_or("")));
  values.set("program", printable(plan.entry.file.value_or("")));
  values.set("python", plan.python.value_or(""));
  values.set("remove_sitecustomize", plan.remove_sitecustomize);
  set_text(values, "restored_user", has_open_directories(plan) ? plan.user : "");
  set_text(values, "install_environment", variables_text(dependencies.install_environment));
  set_text(values, "apt_packages", join(quote_all(dependencies.apt_packages), " "));
  values.set("needs_pip", dependencies.needs_pip());
  values.set("lacks_pip", dependencies.needs_pip() && plan.base.python && !plan.base.pip);
  values.set("pip", dependencies.has_requirements());
  values.set("requirements_stage",
             dependencies.lock.has_value() || !dependencies.requirement_copies.empty());
  set_text(values, "lock", dependencies.lock ? dependencies.lock->file : "");
  values.set("locked_file", std::string{locked_file});
  values.set("lock_words", copy_words({std::string{locked_file}}, ".autopack/"));
  values.set("requirement_copies",
             list_of("words", copy_lines(dependencies.requirement_copies, dialect.root)));
  add_pip(values, dependencies);
  add_edits(values, dependencies.requirement_edits);
  add_package(values, plan, dialect);
  values.set("copies", list_of("words", copy_lines(plan.copies, dialect.root)));
  values.set("entrypoint", json_words(plan.entrypoint));
  return values;
}

}  // namespace

std::string context_path(const ContextEntry& entry, std::string_view root) {
  return entry.tree == 0 && !root.empty() ? fmt::format("{}/{}", root, entry.path) : entry.path;
}

std::string render_dockerfile(const Plan& plan, const Dialect& dialect, const Options& options) {
  if (plan.user_dockerfile) {
    return plan.dockerfile;
  }
  const auto texts = load_templates(options.templates);
  for (const auto& [name, text] : texts) {
    if (name.ends_with(".mustache")) {
      check_template(options.templates ? (*options.templates / name).string() : name, text,
                     known_values());
    }
  }
  mustache::data values = values_of(plan, dialect);
  return render(texts, "Dockerfile.mustache", values);
}

std::string render_wheel_build(const WheelBuild& build, const Dialect& dialect) {
  mustache::data values;
  add_dialect(values, build.base, dialect);
  values.set("source", build.is_archive ? "COPY " + copy_words({build.source}, "/mnt/")
                                        : "ADD " + copy_words({build.source}, "/mnt/"));
  values.set("python", build.python);
  mustache::data options{mustache::data::type::list};
  if (build.options) {
    mustache::data one{"words", copy_words({*build.options}, "/mnt/.autopack/")};
    one.set("file", ".autopack" + build.options->substr(build.options->rfind('/')));
    options.push_back(one);
  }
  values.set("options", options);
  values.set("word", shell_quote("./" + build.name));
  set_text(values, "install_environment", variables_text(build.environment));
  return render(load_templates({}), "wheel.mustache", values);
}

std::optional<image::BaseFacts> recorded_facts(std::string_view dockerfile) {
  for (const std::string& line : split(dockerfile, '\n')) {
    if (line.starts_with(record)) {
      return image::facts_from_json(trim(std::string_view{line}.substr(record.size())));
    }
  }
  return std::nullopt;
}

}  // namespace autopack::plan
