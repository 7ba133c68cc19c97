#include "cli/platform_name.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace autopack::cli {

namespace {

constexpr const char* usual_hint = "`--platform linux/amd64` is what Vertex AI runs";

/// The supported processors, by their names in Go, which are also Docker's.
const std::vector<std::string> architectures{"amd64", "arm64",   "arm",     "386",     "ppc64le",
                                             "s390x", "riscv64", "loong64", "mips64le"};
/// Names of the kernel and others.
const std::map<std::string, std::string> other_names{
    {"x86_64", "amd64"},  {"x86-64", "amd64"}, {"x64", "amd64"}, {"aarch64", "arm64"},
    {"armv7l", "arm/v7"}, {"armhf", "arm/v7"}, {"i386", "386"},  {"i686", "386"}};

/// Returns the platform that `name`, a processor, was meant for; `otherwise` if nothing is similar.
std::string architecture_hint(const std::string& name, std::string otherwise) {
  const auto other = other_names.find(to_lower(name));
  const auto meant =
      other != other_names.end() ? std::optional{other->second} : nearest(name, architectures);
  return meant ? fmt::format("did you mean `linux/{}`?", *meant) : std::move(otherwise);
}

}  // namespace

std::optional<Problem> platform_problem(const std::string& platform, const std::string& origin) {
  const auto problem = [&](std::string message, std::string hint) {
    return Problem{.message = std::move(message), .origin = origin, .hints = {std::move(hint)}};
  };
  const auto parts = split(platform, '/');
  const auto shown = printable(platform);
  if (parts.size() < 2 || parts.size() > 3 || parts[0].empty() || parts[1].empty()) {
    return problem(fmt::format("platform `{}` is not OS/ARCH", shown),
                   architecture_hint(platform, usual_hint));
  }
  if (parts[0] != "linux") {
    return problem(fmt::format("platform `{}`: autopack makes images for Linux only", shown),
                   usual_hint);
  }
  if (!contains(architectures, parts[1])) {
    return problem(fmt::format("platform `{}` names no processor that images are made for", shown),
                   architecture_hint(parts[1], fmt::format("the processors are `{}`",
                                                           join(architectures, "`, `"))));
  }
  return std::nullopt;
}

}  // namespace autopack::cli
