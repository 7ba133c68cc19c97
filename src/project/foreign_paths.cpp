#include "project/foreign_paths.hpp"

#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace autopack::project {

namespace {

/// Directories of conda's and conda-forge's build machines.
constexpr std::array<std::string_view, 9> build_places{"/croot/",
                                                       "/feedstock_root/",
                                                       "/conda-bld/",
                                                       "/build_artifacts/",
                                                       "/tmp/build/80754af9/",
                                                       "/rattler-build_",
                                                       "/b/abs_",
                                                       "/D:/bld/",
                                                       "/ci_py"};

/// Returns `==1.26.4` for a wheel of that version; empty for another path.
std::string version_in(const std::string& path) {
  const auto name = base_name(path);
  const auto parts = split(name, '-');
  return name.ends_with(".whl") && parts.size() >= 5 ? "==" + parts[1] : "";
}

}  // namespace

std::optional<ForeignPath> path_of_another_machine(const python::Requirement& requirement) {
  const auto& path = requirement.target;
  const bool is_known =
      requirement.kind == python::Requirement::Kind::path && path.starts_with('/') &&
      std::ranges::any_of(build_places,
                          [&](const auto place) { return path.find(place) != std::string::npos; });
  if (!is_known) {
    return std::nullopt;
  }
  ForeignPath found{
      .message = fmt::format("`{}` is a path of the machine that conda built on", printable(path))};
  if (requirement.name) {
    found.hints.push_back(
        fmt::format("write `{}{}`", *requirement.name, printable(version_in(path))));
  }
  found.hints.emplace_back("`pip list --format=freeze > requirements.txt` writes versions instead");
  return found;
}

}  // namespace autopack::project
