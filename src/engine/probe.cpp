#include "base/text.hpp"
#include "engine/docker.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::engine {

namespace {

/// What a container's PATH is when its image sets none.
constexpr std::string_view default_path{
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
constexpr int oldest_minor = 5;
constexpr int newest_minor = 20;

using Found = std::map<std::string, std::string>;

std::string variable(const std::vector<std::string>& environment, std::string_view name) {
  std::string value;
  for (const auto& entry : environment) {
    if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=') {
      value = entry.substr(name.size() + 1);
    }
  }
  return value;
}

/// True when an image of platform `have` serves for `wanted`: variants are compared when both say.
bool platform_fits(const std::string& have, const std::string& wanted) {
  return wanted.empty() || have == wanted || have.starts_with(wanted + "/") ||
         wanted.starts_with(have + "/");
}

std::string parent(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

/// An interpreter on PATH: where it was found, and the file behind the links.
struct Interpreter {
  std::string name{};  ///< `python3` or `python`
  std::string path{};
  std::string file{};
};

/// The first of PATH's directories that holds `name`, links followed to a file that exists.
std::optional<Interpreter> find_interpreter(const std::string& name,
                                            const std::vector<std::string>& directories,
                                            const Found& found,
                                            const Found& targets) {
  for (const auto& directory : directories) {
    const std::string path = directory + "/" + name;
    const auto at = found.find(path);
    if (at == found.end()) {
      continue;
    }
    const std::string file = at->second.empty() ? path : at->second;
    if (at->second.empty() || targets.contains(file)) {
      return Interpreter{.name = name, .path = path, .file = file};
    }
  }
  return std::nullopt;
}

/// Where pip's module stands for an interpreter, whatever its layout.
std::vector<std::string> pip_paths(const Interpreter& interpreter, bool is_virtual) {
  std::vector<std::string> prefixes{parent(parent(interpreter.path))};
  if (!is_virtual) {
    prefixes.push_back(parent(parent(interpreter.file)));
  }
  std::vector<std::string> versions;
  const std::string base = interpreter.file.substr(interpreter.file.rfind('/') + 1);
  if (base.starts_with("python3.")) {
    versions.push_back(base);
  } else {
    for (int minor = oldest_minor; minor <= newest_minor; ++minor) {
      versions.push_back(fmt::format("python3.{}", minor));
    }
  }
  versions.emplace_back("python3");
  std::vector<std::string> paths;
  for (const auto& prefix : prefixes) {
    for (const auto& version : versions) {
      for (const char* kind : {"lib/{}/site-packages", "lib/{}/dist-packages",
                               "local/lib/{}/dist-packages", "lib64/{}/site-packages"}) {
        paths.push_back(prefix + "/" + fmt::format(fmt::runtime(kind), version) +
                        "/pip/__init__.py");
      }
    }
  }
  return paths;
}

std::vector<std::string> path_directories(const LocalImage& image) {
  const std::string path = variable(image.environment, "PATH");
  std::vector<std::string> directories;
  for (auto directory : split(path.empty() ? default_path : std::string_view{path}, ':')) {
    while (directory.size() > 1 && directory.ends_with('/')) {
      directory.pop_back();
    }
    if (directory.starts_with('/')) {
      directories.push_back(std::move(directory));
    }
  }
  return directories;
}

/// Links' targets that exist. An engine may tell a link's target, or the file behind it.
Found follow(Docker& docker,
             const std::string& local,
             const std::string& platform,
             const Found& found) {
  std::vector<std::string> links;
  for (const auto& [path, target] : found) {
    if (!target.empty()) {
      links.push_back(target);
    }
  }
  return links.empty() ? Found{} : docker.probe(local, platform, links);
}

bool has_pip(Docker& docker,
             const std::string& local,
             const std::string& platform,
             const Interpreter& interpreter) {
  const std::string marker = parent(parent(interpreter.path)) + "/pyvenv.cfg";
  const bool is_virtual = docker.probe(local, platform, {marker}).contains(marker);
  return !docker.probe(local, platform, pip_paths(interpreter, is_virtual)).empty();
}

/// The digests that `image` has under the repository of `reference`.
std::vector<std::string> digests_under(const LocalImage& image, const image::Reference& reference) {
  std::vector<std::string> digests;
  for (const auto& name : image.repository_digests) {
    const auto at = name.find('@');
    const bool same = name.substr(0, at) == reference.repository() ||
                      name.substr(0, at) == reference.host + "/" + reference.path;
    if (at != std::string::npos && same) {
      digests.push_back(name.substr(at + 1));
    }
  }
  return digests;
}

/// None when the daemon's own image is the one to take: it came from no registry.
std::optional<Digest> find_digest(Docker& docker,
                                  const image::Reference& reference,
                                  const std::optional<LocalImage>& local) {
  if (reference.digest) {
    return reference.digest;
  }
  // Podman gives a digest to what it made itself, too.
  const bool tells_origin = !docker.info().podman;
  const auto known = local ? digests_under(*local, reference) : std::vector<std::string>{};
  if (local && tells_origin && known.empty()) {
    return std::nullopt;
  }
  // Podman's name for what it has without any registry.
  if (local && !tells_origin && reference.host == "localhost") {
    return std::nullopt;
  }
  try {
    return docker.resolve(reference);
  } catch (Error& error) {
    if (local && !tells_origin && !reference.names_registry() &&
        error.kind() == ErrorKind::remote) {
      return std::nullopt;
    }
    error.wrap(fmt::format("could not find out which image `{}` is now", reference.text));
    if (!known.empty()) {
      error.hint(fmt::format("`{}@{}`, which the engine has, needs no registry",
                             reference.repository(), known.front()));
    }
    throw;
  }
}

LocalImage have_image(Docker& docker, const image::Reference& pinned, const std::string& platform) {
  const std::string name = pinned.with_digest(*pinned.digest);
  auto image = docker.inspect(name);
  if (!image || !platform_fits(image->platform, platform)) {
    docker.pull(pinned, platform);
    image = docker.inspect(name);
  }
  if (!image) {
    throw Error(ErrorKind::remote,
                fmt::format("the engine pulled `{}`, but does not have it", name));
  }
  return *image;
}

void check_platform(const LocalImage& image,
                    const image::Reference& reference,
                    const std::string& platform) {
  if (!platform_fits(image.platform, platform)) {
    throw Error(ErrorKind::usage, fmt::format("base image `{}` is for {}, not {}", reference.text,
                                              image.platform, platform))
        .hint(fmt::format("--platform {}", image.platform));
  }
}

image::Reference pinned_to(image::Reference reference, const Digest& digest) {
  reference.digest = digest;
  return reference;
}

}  // namespace

image::BaseFacts probe_image_facts(Docker& docker,
                                   const std::string& local,
                                   const LocalImage& image,
                                   const std::string& platform) {
  const auto directories = path_directories(image);
  std::vector<std::string> paths{"/usr/bin/apt-get"};
  for (const auto& directory : directories) {
    paths.push_back(directory + "/python3");
    paths.push_back(directory + "/python");
  }
  const Found found = docker.probe(local, platform, paths);
  const Found targets = follow(docker, local, platform, found);
  auto interpreter = find_interpreter("python3", directories, found, targets);
  if (!interpreter) {
    interpreter = find_interpreter("python", directories, found, targets);
  }
  image::BaseFacts facts{.image_id = image.id,
                         .platform = image.platform,
                         .apt = found.contains("/usr/bin/apt-get"),
                         .user = image.user,
                         .entrypoint = image.entrypoint,
                         .environment = image.environment,
                         .cuda_version = variable(image.environment, "CUDA_VERSION")};
  if (interpreter) {
    facts.python = interpreter->name;
    facts.pip = has_pip(docker, local, platform, *interpreter);
  }
  return facts;
}

image::BaseFacts probe_base(Docker& docker,
                            const image::Reference& reference,
                            const std::string& platform) {
  const std::string tagged = reference.tagged();
  const auto local = reference.digest ? std::nullopt : docker.inspect(tagged);
  const auto digest = find_digest(docker, reference, local);
  const LocalImage image =
      digest ? have_image(docker, pinned_to(reference, *digest), platform) : *local;
  check_platform(image, reference, platform);
  const std::string name = digest ? reference.with_digest(*digest) : tagged;
  image::BaseFacts facts = probe_image_facts(docker, name, image, platform);
  facts.reference = reference.text;
  facts.digest = digest;
  facts.vertex_prebuilt = image::is_vertex_prebuilt(reference.text);
  return facts;
}

BuildBase::BuildBase(Docker& docker, const image::BaseFacts& facts) : docker_{docker} {
  const auto reference = image::Reference::parse(facts.reference);
  if (facts.digest) {
    from_ = reference.with_digest(*facts.digest);
    have_image(docker, pinned_to(reference, *facts.digest), facts.platform);
    return;
  }
  const auto named = docker.inspect(reference.tagged());
  if (named && named->id == facts.image_id) {
    from_ = reference.tagged();
    return;
  }
  // The tag moved on after the facts were found, and FROM takes no image id.
  from_ = "autopack/base:" + facts.image_id.substr(facts.image_id.find(':') + 1).substr(0, 16);
  docker.tag(facts.image_id, image::Reference::parse(from_));
  temporary_ = true;
}

BuildBase::~BuildBase() {
  if (temporary_) {
    try {
      docker_.remove_image(from_);
    } catch (const Error&) {
      // A name that stays behind harms nobody; the build's own outcome is what counts.
    }
  }
}

}  // namespace autopack::engine
