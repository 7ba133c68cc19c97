#include "build/wheels/static_source.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/ini.hpp"
#include "build/wheels/static_layout.hpp"
#include "image/archive_reader.hpp"
#include "project/code/setup_py.hpp"
#include "project/package/package.hpp"
#include "project/toml.hpp"
#include "wheel/zip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <string_view>

namespace autopack::build {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_archive{100'000'000};      // bytes
constexpr std::uint64_t largest_tree{500'000'000};         // bytes, unpacked
constexpr std::uint64_t largest_kept{1'000'000};           // bytes of one description
constexpr std::uint64_t largest_static_wheel{30'000'000};  // bytes
constexpr std::size_t most_source_files{10'000};
/// The other descriptions have one of these if they list requirements, too.
constexpr std::array<std::string_view, 3> elsewhere{"[project]", "install_requires",
                                                    "extras_require"};
constexpr std::array<std::string_view, 4> descriptions{"setup.py", "setup.cfg", "pyproject.toml",
                                                       "PKG-INFO"};

using Strings = std::vector<std::string>;

/// Returns `path` below the archive's one directory; empty for other files.
std::string inner_path(const std::string& path) {
  const auto normal = image::normal_path(path);
  const auto slash = normal.find('/');
  const auto inner = slash == std::string::npos ? std::string{} : normal.substr(slash + 1);
  return inner.empty() || wheel::name_fault(inner) ? std::string{} : inner;
}

std::string text_of(const image::Reader& content) {
  std::string text;
  image::read_all(content, [&](std::string_view bytes) { text += bytes; });
  return text;
}

[[noreturn]] void refuse_source(const char* reason) {
  throw Error(ErrorKind::project, reason);
}

/// Returns the files that `wants` by their paths. Throws Error if the archive is damaged, too
/// large, or has a file twice.
template <typename Wants>
SourceFiles read_files(const fs::path& archive, const Wants& wants) {
  const auto file = std::make_shared<std::ifstream>(archive, std::ios::binary);
  const image::Reader reader = [file](char* buffer, std::size_t size) {
    file->read(buffer, static_cast<std::streamsize>(size));
    return static_cast<std::size_t>(file->gcount());
  };
  SourceFiles files;
  std::uint64_t size = 0;
  image::read_contents(reader, archive.filename().string(),
                       [&](const image::ArchiveEntry& entry, const image::Reader& content) {
                         size += entry.size;
                         if (size > largest_tree) {
                           refuse_source("the archive is too large");
                         }
                         const auto path = inner_path(entry.path);
                         if (entry.type == image::ArchiveEntry::Type::file && !path.empty() &&
                             wants(path, entry.size) &&
                             !files.emplace(path, text_of(content)).second) {
                           refuse_source("the archive has a file twice");
                         }
                       });
  return files;
}

SourceFiles read_descriptions(const fs::path& archive) {
  return read_files(archive, [](const std::string& path, std::uint64_t size) {
    return size <= largest_kept && contains(descriptions, path);
  });
}

/// Returns all files. Throws Error if they are too many or too large for a wheel in memory.
SourceFiles read_all_files(const fs::path& archive) {
  std::uint64_t all = 0;
  std::size_t count = 0;
  return read_files(archive, [&](const std::string&, std::uint64_t size) {
    all += size;
    if (all > largest_static_wheel || ++count > most_source_files) {
      refuse_source("the archive is too large");
    }
    return true;
  });
}

/// Returns the facts of setup.py, if it is the only description of requirements.
std::optional<project::SetupPy> read_setup(const SourceFiles& texts) {
  const auto setup = texts.find("setup.py");
  const bool is_described_elsewhere = std::ranges::any_of(texts, [&](const auto& file) {
    const auto& [name, text] = file;
    const auto has = [&text = text](std::string_view word) {
      return text.find(word) != std::string::npos;
    };
    return (name == "setup.cfg" || name == "pyproject.toml") &&
           (std::ranges::any_of(elsewhere, has) ||
            (has("build-backend") && !has("\"setuptools.build_meta\"")));
  });
  return setup == texts.end() || is_described_elsewhere
             ? std::nullopt
             : std::optional{project::read_setup_py(setup->second)};
}

bool is_readable(const fs::path& archive) {
  std::error_code code;
  return fs::file_size(archive, code) <= largest_archive && !code;
}

/// Calls `read`; returns nothing if it throws Error.
template <typename Read>
auto certainly(const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const Error&) {
    return std::nullopt;
  } catch (const toml::parse_error&) {
    return std::nullopt;
  }
}

/// Throws unless `text`, a setup.cfg, leaves the wheel as setup.py has it.
void check_setup_cfg(std::string_view text) {
  static constexpr std::array<std::string_view, 6> only_headers{
      "description-file", "description_file", "license-file",
      "license_file",     "license_files",    "long_description"};
  for (const auto& [section, options] : parse_ini(text)) {
    for (const auto& [option, value] : options) {
      const bool is_tag = section == "egg_info" && (option == "tag_build" || option == "tag_date" ||
                                                    option == "tag_svn_revision");
      const bool is_harmless =
          (is_tag && (value.empty() || value == "0" || value == "false")) ||
          ((section == "wheel" || section == "bdist_wheel") && option == "universal") ||
          (section == "metadata" && contains(only_headers, option)) || section == "aliases" ||
          section == "sdist" || section == "upload" || section == "upload_docs" ||
          section == "build_sphinx" || project::is_of_other_tools(section);
      if (!is_harmless) {
        refuse_source("setup.cfg has settings of its own");
      }
    }
  }
}

/// Throws unless `text`, a pyproject.toml, only requires setuptools and configures other tools.
void check_pyproject(const std::string& text) {
  const auto document = project::parse_toml(text);
  static constexpr std::array<std::string_view, 2> tools{"setuptools", "wheel"};
  for (const auto& [key, value] : document) {
    if (key == "tool" && value.is_table()) {
      const auto& settings = *value.as_table();
      if (settings.contains("setuptools") || settings.contains("setuptools_scm")) {
        refuse_source("pyproject.toml has settings of setuptools");
      }
    } else if (key == "build-system" && value.is_table()) {
      const auto* const required = value.as_table()->get_as<toml::array>("requires");
      for (const auto& one : required == nullptr ? toml::array{} : *required) {
        const auto requirement = one.value_or(std::string{});
        const auto end = requirement.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
        if (!contains(tools, requirement.substr(0, end))) {
          refuse_source("its build requires more than setuptools");
        }
      }
    } else {
      refuse_source("pyproject.toml describes a package");
    }
  }
}

/// Returns setup.py, whose wheel is known without running it; nothing otherwise. Throws Error if
/// another file says more about the wheel.
std::optional<project::SetupPy> setup_of_wheel(const SourceFiles& texts) {
  auto setup = read_setup(texts);
  if (!setup || !setup->certain_files) {
    return std::nullopt;
  }
  if (const auto found = texts.find("setup.cfg"); found != texts.end()) {
    check_setup_cfg(found->second);
  }
  if (const auto found = texts.find("pyproject.toml"); found != texts.end()) {
    check_pyproject(found->second);
  }
  return setup;
}

/// Throws if `include_package_data` adds files to those that setup.py names: setuptools lists them
/// by MANIFEST.in and by the list of an earlier build.
void refuse_if_data_is_listed(const SourceFiles& files) {
  if (std::ranges::any_of(files, [](const auto& file) {
        return file.first == "MANIFEST.in" || file.first.find(".egg-info/") != std::string::npos;
      })) {
    refuse_source("only setuptools knows its data");
  }
}

}  // namespace

std::optional<Strings> static_requirements(const fs::path& archive) {
  return certainly([&]() -> std::optional<Strings> {
    if (!is_readable(archive)) {
      return std::nullopt;
    }
    const auto setup = read_setup(read_descriptions(archive));
    return setup ? setup->certain_requirements : std::nullopt;
  });
}

std::optional<StaticWheel> static_wheel(const fs::path& archive) {
  return certainly([&]() -> std::optional<StaticWheel> {
    const auto setup =
        is_readable(archive) ? setup_of_wheel(read_descriptions(archive)) : std::nullopt;
    return setup ? std::optional{lay_out(*setup, read_all_files(archive))} : std::nullopt;
  });
}

std::optional<StaticWheel> static_wheel(SourceFiles files) {
  return certainly([&]() -> std::optional<StaticWheel> {
    auto setup = setup_of_wheel(files);
    if (!setup || !setup->certain_files->name || !setup->certain_files->version) {
      return std::nullopt;
    }
    auto& says = *setup->certain_files;
    if (says.has_listed_data) {
      refuse_if_data_is_listed(files);
      says.has_listed_data = false;
    }
    files["PKG-INFO"] =
        fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\n", *says.name, *says.version);
    return lay_out(*setup, files);
  });
}

bool may_be_read(std::size_t count, std::uint64_t size) {
  return count <= most_source_files && size <= largest_static_wheel;
}

}  // namespace autopack::build
