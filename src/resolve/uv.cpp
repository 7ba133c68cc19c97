#include "resolve/uv.hpp"

#include "base/error.hpp"
#include "base/new_file.hpp"
#include "base/own_file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "python/version.hpp"
#include "wheel/zip.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string_view>

// uv is a program of its own, so it is called with fixed arguments and an empty environment. The
// description of an interpreter that it reads (interpreter_script.hpp) belongs to its versions, so
// that only versions that were tried are taken from PATH.

namespace autopack::resolve {

namespace {

namespace fs = std::filesystem;

/// A wheel of uv that runs on any Linux: the program is linked statically.
struct UvWheel {
  std::string_view machine;
  std::string_view name;
  std::string_view sha256;
  std::uint64_t size;
};

constexpr std::string_view own_version{"0.13.9"};
constexpr std::array wheels_of_uv{
    UvWheel{"x86_64", "uv-0.13.9-py3-none-musllinux_1_1_x86_64.whl",
            "2c45530751517d6c3bbc69a19473f6effe47cce047bede01ffd8af7ea7b36b25", 19'295'638},
    UvWheel{"aarch64",
            "uv-0.13.9-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"
            ".whl",
            "5435c5ce14a56431208ca0996416d310f1598e8c2c8ba707688985a16bb82dbe", 18'026'789},
};

constexpr auto* ways_out = "install uv 0.13, or name its program in AUTOPACK_UV";
constexpr std::chrono::seconds start_limit{20};

/// Returns `0.13.9` from what `program --version` prints; nothing if it is not uv.
std::optional<std::string> version_of(const std::string& program,
                                      const Cancellation* cancellation) {
  try {
    const auto result = run_process({program, "--version"}, "",
                                    {.environment = {{"PATH", "/usr/bin:/bin"}},
                                     .inherits = false,
                                     .timeout = start_limit,
                                     .cancellation = cancellation});
    const auto words = result ? split(trim(result->output), ' ') : std::vector<std::string>{};
    const bool is_uv = result && result->status == 0 && words.size() > 1 && words[0] == "uv" &&
                       python::Version::parse(words[1]);
    return is_uv ? std::optional{words[1]} : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Returns true for a version whose description of an interpreter was tried.
bool is_tested(const std::string& version) {
  return version.starts_with("0.13.");
}

fs::path cached_program(const Environment& environment) {
  return environment.cache_directory() / "uv-program" / own_version / "uv";
}

const UvWheel* wheel_for_this_machine() {
  utsname machine{};
  ::uname(&machine);
  const auto* const found = std::ranges::find(
      wheels_of_uv, std::string_view{static_cast<const char*>(machine.machine)}, &UvWheel::machine);
  return found == wheels_of_uv.end() ? nullptr : found;
}

/// Puts the program in `wheel` at `path`.
void unpack(const index::CachedFile& wheel, const UvWheel& what, const fs::path& path) {
  const auto zip = wheel::Zip::open(wheel.path, std::string{what.name});
  const auto* const member = zip.find(fmt::format("uv-{}.data/scripts/uv", own_version));
  if (member == nullptr) {
    throw zip.fault("it has no program `uv`");
  }
  create_own_directories(path.parent_path());
  NewFile file{path, FileMode::secret};
  zip.read(*member, [&](std::string_view bytes) { file.write(bytes); });
  ::chmod(file.path().c_str(), S_IRWXU);
  file.commit();
}

/// Downloads the wheel of uv for this machine, and puts its program at `path`.
void download(index::IndexClient& index, index::WheelCache& wheels, const fs::path& path) {
  const auto* const what = wheel_for_this_machine();
  if (what == nullptr) {
    throw Error(ErrorKind::environment, "there is no uv for this machine's processor");
  }
  const auto candidates = index.candidates("uv");
  const auto found = std::ranges::find(candidates, what->name, &index::Candidate::name);
  if (found == candidates.end()) {
    throw Error(ErrorKind::remote, fmt::format("the index has no `{}`", what->name));
  }
  const auto hash = python::Hash::parse(fmt::format("sha256:{}", what->sha256));
  unpack(
      wheels.get(
          {.name = found->name, .url = found->url, .hashes = {hash.value()}, .size = what->size}),
      *what, path);
}

}  // namespace

std::string without_relative(const std::string& path) {
  auto directories = split(path, ':');
  std::erase_if(directories, [](const auto& directory) { return !directory.starts_with('/'); });
  return join(directories, ":");
}

std::optional<Uv> find_uv(const Environment& environment, const Cancellation* cancellation) {
  if (const auto named = environment.get("AUTOPACK_UV")) {
    auto version = version_of(*named, cancellation);
    if (!version) {
      throw Error(ErrorKind::usage,
                  fmt::format("AUTOPACK_UV is `{}`, which is not uv", printable(*named)))
          .hint("`uv --version` of the program must print `uv` and its version");
    }
    return Uv{.path = *named, .version = *std::move(version), .origin = "AUTOPACK_UV"};
  }
  if (const auto program =
          find_program("uv", without_relative(environment.get("PATH").value_or("")))) {
    auto version = version_of(*program, cancellation);
    if (version && is_tested(*version)) {
      return Uv{.path = *program, .version = *std::move(version), .origin = "PATH"};
    }
  }
  const auto cached = cached_program(environment);
  if (open_own_file(cached) && version_of(cached, cancellation) == own_version) {
    return Uv{.path = cached, .version = std::string{own_version}, .origin = "the cache"};
  }
  return std::nullopt;
}

Uv get_uv(const Environment& environment,
          const Cancellation* cancellation,
          index::IndexClient& index,
          index::WheelCache& wheels) {
  if (auto found = find_uv(environment, cancellation)) {
    return std::move(*found);
  }
  Error failure{ErrorKind::environment,
                "requirements are resolved by uv, which this machine lacks"};
  failure.hint(ways_out);
  try {
    download(index, wheels, cached_program(environment));
  } catch (const Error& error) {
    failure.cause(error.message());
    for (const auto& cause : error.causes()) {
      failure.cause(cause);
    }
    throw failure;
  }
  if (auto found = find_uv(environment, cancellation)) {
    return std::move(*found);
  }
  throw std::move(failure).cause("the downloaded program does not start");
}

}  // namespace autopack::resolve
