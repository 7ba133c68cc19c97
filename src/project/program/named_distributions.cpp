#include "project/program/named_distributions.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/code/python_file.hpp"
#include "project/code/setup_py.hpp"
#include "project/findings.hpp"
#include "project/requirements/locks.hpp"
#include "project/tables/python_names.hpp"
#include "project/toml.hpp"
#include "python/archive_name.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"

#include <algorithm>
#include <set>

namespace autopack::project {

namespace {

/// Returns `clip` for `git+https://host/openai/CLIP.git@main`, unless a fragment names it:
/// `#egg=clip`.
std::string name_in_url(const std::string& url) {
  const auto fragment = url.find('#');
  if (fragment != std::string::npos) {
    for (const auto& part : split(url.substr(fragment + 1), '&')) {
      if (part.starts_with("egg=")) {
        return python::normalise_name(part.substr(4, part.find('[') - 4));
      }
    }
  }
  std::string file = base_name(url.substr(0, url.find_first_of("#?")));
  file = file.substr(0, file.find('@'));
  if (python::is_archive_name(file)) {
    return python::normalise_name(file.substr(0, file.find('-')));
  }
  return python::normalise_name(file.ends_with(".git") ? file.substr(0, file.size() - 4) : file);
}

/// Collects requirements whose markers are true, or may be.
class Named {
public:
  Named(NamedDistributions& named, const python::MarkerEnvironment& environment)
      : named_{named}, environment_{environment} {}

  void add(std::string_view text) { add(python::parse_requirement(text)); }

  void add(const python::Requirement& parsed) {
    if (parsed.marker) {
      const auto marker = python::Marker::parse(*parsed.marker);
      if (marker && marker->holds_in(environment_) == false) {
        return;
      }
    }
    if (parsed.name) {
      named_.names.push_back(*parsed.name);
    } else if (parsed.kind == python::Requirement::Kind::path ||
               parsed.kind == python::Requirement::Kind::url) {
      named_.names.push_back(name_in_url(parsed.target));
      if (parsed.kind == python::Requirement::Kind::path &&
          !python::is_archive_name(base_name(parsed.target))) {
        named_.local.push_back(named_.names.back());
      }
    }
  }

private:
  NamedDistributions& named_;
  const python::MarkerEnvironment& environment_;
};

/// Returns `asked` and their nested extras: `all = ["me[train]"]`.
std::set<std::string> with_nested(const toml::table& extras,
                                  const std::vector<std::string>& asked) {
  std::set<std::string> all;
  std::vector<std::string> waiting{asked};
  while (!waiting.empty()) {
    const std::string wanted = python::normalise_name(waiting.back());
    waiting.pop_back();
    if (!all.insert(wanted).second) {
      continue;
    }
    for (const auto& [name, list] : extras) {
      if (python::normalise_name(name.str()) != wanted || !list.is_array()) {
        continue;
      }
      for (const auto& element : *list.as_array()) {
        const auto more = python::parse_requirement(element.value_or(std::string{})).extras;
        waiting.insert(waiting.end(), more.begin(), more.end());
      }
    }
  }
  return all;
}

/// `asked` are the installed extras; null: unknown, so all count.
void add_toml(Named& named,
              std::vector<std::string>& names,
              const std::string& text,
              const std::vector<std::string>* asked) {
  const toml::table table = parse_toml(text);
  const auto add_all = [&](const toml::node_view<const toml::node>& list) {
    if (const auto* array = list.as_array()) {
      for (const auto& element : *array) {
        named.add(element.value_or(std::string{}));
      }
    }
  };
  add_all(table["project"]["dependencies"]);
  if (const auto* extras = table["project"]["optional-dependencies"].as_table()) {
    const auto installed =
        asked == nullptr ? std::set<std::string>{} : with_nested(*extras, *asked);
    for (const auto& [name, list] : *extras) {
      if (asked == nullptr || installed.contains(python::normalise_name(name.str()))) {
        add_all(toml::node_view<const toml::node>{list});
      }
    }
  }
  if (const auto* poetry = table["tool"]["poetry"]["dependencies"].as_table()) {
    for (const auto& [name, value] : *poetry) {
      names.push_back(python::normalise_name(name.str()));
    }
  }
}

/// Adds the packages in `directory`; if there are no others, also modules and packages without an
/// `__init__.py`.
void add_modules(NamedDistributions& named,
                 const source::Tree& tree,
                 const std::string& directory,
                 bool holds_code_only) {
  for (const auto& entry : tree.list(directory)) {
    const std::string name = base_name(entry.path);
    const bool is_directory = entry.type == source::EntryType::directory;
    const bool is_module = holds_code_only && !is_directory && name.ends_with(".py");
    const bool is_package =
        is_directory && (holds_code_only ? is_identifier(name)
                                         : tree.find(entry.path + "/__init__.py").has_value());
    if (is_module || is_package) {
      named.names.push_back(
          python::normalise_name(is_module ? name.substr(0, name.size() - 3) : name));
      named.local.push_back(named.names.back());
    }
  }
}

/// Adds the declared dependencies of the project in `directory`; rather too many than too few.
void add_metadata(NamedDistributions& named,
                  Named& requirements,
                  const source::Tree& tree,
                  const std::string& directory,
                  const std::vector<std::string>* extras = nullptr) {
  const auto read = [&](const char* name) {
    const std::string path = join_path(directory, name);
    const auto entry = tree.find(path);
    return entry && entry->type == source::EntryType::file ? tree.read(path) : std::string{};
  };
  try {
    add_toml(requirements, named.names, read("pyproject.toml"), extras);
  } catch (const toml::parse_error&) {
    named.certain = false;
  }
  for (const auto& literal : read_setup_py(read("setup.py")).literals) {
    if (literal.size() < 80) {
      requirements.add(literal);
    }
  }
  for (const auto& line : split(read("setup.cfg"), '\n')) {
    if (line.starts_with(' ') || line.starts_with('\t')) {
      requirements.add(trim(line));
    }
  }
  add_modules(named, tree, directory, false);
  const std::string source = join_path(directory, "src");
  if (!tree.find(source + "/__init__.py")) {
    add_modules(named, tree, source, true);
  }
}

}  // namespace

NamedDistributions named_distributions(const source::Tree& tree,
                                       const Project& project,
                                       const python::MarkerEnvironment& environment) {
  NamedDistributions named;
  Named requirements{named, environment};
  for (const auto& line : project.normalised_requirements) {
    // Its options, including hashes, follow a requirement; constraints name nothing.
    if (!line.starts_with('-')) {
      requirements.add(std::string_view{line}.substr(0, line.find(" --")));
    }
  }
  for (const auto& requirement : project.requirements) {
    requirements.add(requirement.parts);
  }
  for (const auto& package : project.extra_packages) {
    requirements.add(package);
  }
  for (const auto& package : project.outside_packages) {
    requirements.add(package.name);
  }
  if (project.lock) {
    const auto locked = names_in_lock(tree.read(project.lock->file));
    named.names.insert(named.names.end(), locked.begin(), locked.end());
  }
  if (project.package) {
    add_metadata(named, requirements, tree, "", &project.package->extras);
  }
  for (const auto& input : project.requirement_inputs) {
    const auto entry = tree.find(input);
    if (entry && entry->type == source::EntryType::directory) {
      add_metadata(named, requirements, tree, input);
    }
  }
  for (const auto& package : project.extra_packages) {
    const auto entry = tree.find(package);
    if (entry && entry->type == source::EntryType::directory) {
      add_metadata(named, requirements, tree, package);
    }
  }
  for (const auto& package : project.outside_packages) {
    if (package.is_directory) {
      add_metadata(named, requirements, *source::make_disk_tree(package.path), "");
      named.local.push_back(python::normalise_name(package.name));
    }
  }
  if (project.package) {
    for (const auto& member : project.package->members) {
      add_metadata(named, requirements, tree, member.substr(0, member.find('[')));
    }
  }
  sort_unique(named.names);
  sort_unique(named.local);
  return named;
}

namespace {

constexpr std::uint64_t largest_module = 1U << 20U;  // bytes; handwritten code is smaller

constexpr auto distribution = "cloudml-hypertune";
constexpr auto module = "hypertune";

bool imports_it(const std::string& code) {
  if (code.find(module) == std::string::npos) {
    return false;
  }
  const auto imports = read_python_file(code).imports;
  return std::ranges::any_of(imports, [](const Import& one) {
    return one.level == 0 && split(one.module, '.').front() == module;
  });
}

bool is_required(const source::Tree& tree, const Project& project) {
  const auto names = named_distributions(tree, project).names;
  return contains(names, distribution);
}

bool is_imported(const source::Tree& tree, const Project& project) {
  const auto files = Findings{tree, project.ignore}.files_below("");
  return std::ranges::any_of(files, [&](const std::string& file) {
    if (!file.ends_with(".py")) {
      return false;
    }
    const auto entry = tree.find(file);
    return entry && entry->type == source::EntryType::file && entry->size <= largest_module &&
           imports_it(tree.read(file));
  });
}

}  // namespace

bool names_hypertune(const source::Tree& tree, const Project& project) {
  return is_required(tree, project) || is_imported(tree, project);
}

}  // namespace autopack::project
