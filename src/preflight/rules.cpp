#include "preflight/rules.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "image/facts.hpp"
#include "job/tables.hpp"
#include "registry/artifact_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::preflight {

namespace {

/// Returns the digits at the start of `text`, at most `most`.
std::string_view digits_of(std::string_view text, std::size_t most) {
  return text.substr(0, std::min(text.find_first_not_of("0123456789"), most));
}

/// Returns the version in `cuda11.8`, `cuda-12` or the like.
std::optional<std::string> spelled_version(std::string_view name) {
  constexpr std::string_view word = "cuda";
  for (auto at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    auto rest = name.substr(at + word.size());
    if (rest.starts_with(':') || rest.starts_with('_') || rest.starts_with('-')) {
      rest.remove_prefix(1);
    }
    std::string version{digits_of(rest, 2)};
    if (version.empty()) {
      continue;
    }
    rest.remove_prefix(version.size());
    while (rest.starts_with('.') && !digits_of(rest.substr(1), 2).empty()) {
      const auto part = rest.substr(0, 1 + digits_of(rest.substr(1), 2).size());
      version += part;
      rest.remove_prefix(part.size());
    }
    return version;
  }
  return std::nullopt;
}

/// Returns the version in `-cu118`, `.cu121` or the like.
std::optional<std::string> shortened_version(std::string_view name) {
  constexpr std::string_view word = "cu";
  constexpr std::string_view within_word = "abcdefghijklmnopqrstuvwxyz0123456789";
  for (auto at = name.find(word, 1); at != std::string_view::npos; at = name.find(word, at + 1)) {
    const auto digits = digits_of(name.substr(at + word.size()), 4);
    if (digits.size() == 3 && within_word.find(name[at - 1]) == std::string_view::npos) {
      return fmt::format("{}.{}", digits.substr(0, 2), digits.substr(2));
    }
  }
  return std::nullopt;
}

/// Returns the CUDA version in an image's name, `11.8` for `cuda11.8` or `-cu118`, or nothing if
/// there is none.
std::optional<std::string> cuda_version_in(std::string_view name) {
  auto version = spelled_version(name);
  return version ? version : shortened_version(name);
}

constexpr std::array multi_regions{std::string_view{"us"}, std::string_view{"europe"},
                                   std::string_view{"asia"}};

bool is_location(const std::string& location) {
  const auto known = job::tables::regions();
  return contains(known, location) || contains(multi_regions, location);
}

/// `runs` for an image that is not pushed. gcloud accepts impossible names in gcr.io for such
/// images, so we do too.
void check_name(const image::Reference& image, bool runs, bool tables, Problems& findings) {
  const auto name = registry::parse_artifact_name(image.host, image.path);
  if (!name) {
    return;
  }
  if (!name->image) {
    const auto found = runs && image.host.ends_with("gcr.io") ? warning : failing;
    findings.push_back(
        found("image-name", fmt::format("`{}` is not the name of an image", printable(image.text)),
              fmt::format("names in Artifact Registry are formed `{}/PROJECT/{}IMAGE`", image.host,
                          image.host.ends_with("gcr.io") ? "" : "REPOSITORY/"),
              {fmt::format("write `{}/IMAGE`", printable(image.repository()))}));
  }
  if (tables && !is_location(name->location)) {
    findings.push_back(
        failing("image-name",
                fmt::format("`{}` is not a host of Artifact Registry{}", printable(image.host),
                            job::tables::did_you_mean(name->location, job::tables::regions())),
                "its first part is a region, or `us`, `europe` or `asia`",
                {"gcloud artifacts locations list"}));
  }
}

void check_prebuilt_tag(const image::Reference& image, Problems& findings) {
  if (image::is_vertex_prebuilt(image.text) && image.tag != "latest" && !image.digest) {
    findings.push_back(warning("image-name",
                               fmt::format("prebuilt image `{}` has no tag `latest`", image.text),
                               "prebuilt images are kept under that tag only",
                               {fmt::format("write `{}`", image.with_tag("latest"))}));
  }
}

std::string architecture_of(const std::string& platform) {
  const auto parts = split(platform, '/');
  return parts.size() > 1 ? parts[1] : "";
}

std::string wanted_architecture(const job::Pool& pool) {
  const auto* const machine = job::tables::find_machine(machine_of(pool).type.value_or(""));
  return machine != nullptr && machine->arm64 ? "arm64" : "amd64";
}

/// An image whose configuration names no system counts as Linux.
bool runs(const std::string& platform, const job::Pool& pool) {
  return (platform.starts_with("linux/") || platform.starts_with("/")) &&
         architecture_of(platform) == wanted_architecture(pool);
}

/// Returns "`linux/arm64`, `linux/s390x` and 3 more".
std::string list_of(const std::vector<std::string>& platforms) {
  constexpr std::size_t most{8};
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(most, platforms.size()); ++i) {
    shown.push_back("`" + printable(platforms[i]) + "`");
  }
  return join(shown, ", ") + (platforms.size() > most
                                  ? fmt::format(" and {} more", platforms.size() - most)
                                  : std::string{});
}

/// Returns the finding for an index without an image for the machines of `pool`.
Problem missing_platform(const ImageFacts& image, const job::Pool& pool) {
  const auto wanted = "linux/" + wanted_architecture(pool);
  const auto machine = machine_of(pool).type;
  return failing(
      "architecture",
      fmt::format("the image index `{}` has no image for `{}`{}", printable(image.name), wanted,
                  machine ? fmt::format(", which machine type `{}` runs", printable(*machine))
                          : std::string{}),
      image.platforms.empty()
          ? "it names no runnable image, so no replica could start"
          : fmt::format("it has {}, so no replica could start", list_of(image.platforms)),
      {fmt::format("docker buildx build --platform={} --push ...", wanted),
       fmt::format("autopack build --platform={} --output-image-uri=REGISTRY/NAME", wanted)});
}

Problem wrong_architecture(const std::string& subject,
                           const std::string& has,
                           const job::Pool& pool) {
  const auto wanted = wanted_architecture(pool);
  return failing("architecture",
                 fmt::format("{} is for `{}`, but machine type `{}` is `linux/{}`", subject, has,
                             printable(machine_of(pool).type.value_or("")), wanted),
                 "the program would end with `exec format error`",
                 {fmt::format("--platform=linux/{}", wanted),
                  fmt::format("docker build --platform=linux/{} ...", wanted)});
}

/// Returns true for GPUs of the Ampere generation and newer.
bool needs_cuda_11(const std::string& accelerator) {
  static constexpr std::array older{"NVIDIA_TESLA_K80", "NVIDIA_TESLA_P100", "NVIDIA_TESLA_V100",
                                    "NVIDIA_TESLA_P4", "NVIDIA_TESLA_T4"};
  return accelerator.starts_with("NVIDIA_") && !contains(older, accelerator);
}

int major_of(const std::string& version) {
  const auto digits = version.substr(0, version.find('.'));
  const bool good = !digits.empty() && digits.size() < 4 &&
                    digits.find_first_not_of("0123456789") == std::string::npos;
  return good ? std::stoi(digits) : 0;
}

/// Matches ASCII names separated by dots, at least two.
bool is_dotted_name(std::string_view text) {
  const auto parts = split(text, '.');
  return parts.size() > 1 && std::ranges::all_of(parts, [](const std::string& part) {
           return !part.empty() && is_alphanumeric(part, "_") && (part[0] < '0' || part[0] > '9');
         });
}

constexpr std::uint64_t gigabyte = 1'000'000'000;
/// The size of layers on disk divided by their compressed size, roughly.
constexpr std::uint64_t unpacking = 3;

void check_size(const std::string& name,
                std::uint64_t compressed_bytes,
                const job::Pool& pool,
                Problems& findings) {
  const auto disk = static_cast<std::uint64_t>(std::max<std::int64_t>(boot_disk_of(pool), 0));
  const auto need = compressed_bytes * unpacking;
  if (need <= disk * gigabyte) {
    return;
  }
  findings.push_back(
      warning("boot-disk",
              fmt::format("image `{}` is {}, about {} unpacked, and the boot disk has {} GB", name,
                          human_size(compressed_bytes), human_size(need), disk),
              "the replica would run out of space while it pulls the image",
              {fmt::format("--boot-disk-size={}", (need / gigabyte / 50 + 2) * 50)}));
}

}  // namespace

Problems check_image_names(const PlannedJob& job, bool tables) {
  Problems findings;
  if (job.packaged) {
    check_name(job.packaged->target, false, tables, findings);
  }
  for (const auto& name : job.ready_images()) {
    if (const auto fault = image::Reference::fault(name)) {
      findings.push_back(warning("image-name", *fault, "no replica could pull it"));
      continue;
    }
    const auto image = image::Reference::parse(name);
    check_name(image, true, tables, findings);
    if (tables) {
      check_prebuilt_tag(image, findings);
    }
  }
  return findings;
}

Problems check_platform(const PlannedJob& job) {
  Problems findings;
  if (!job.packaged) {
    return findings;
  }
  const auto architecture = architecture_of(job.packaged->platform);
  for (const auto* const pool : job.pools_of(std::nullopt)) {
    if (architecture != wanted_architecture(*pool)) {
      findings.push_back(
          wrong_architecture("the image to be built", job.packaged->platform, *pool));
    }
  }
  return findings;
}

Problems check_commands(const PlannedJob& job) {
  Problems findings;
  for (const auto& pool : job.pools) {
    const auto command = pool.container ? pool.container->command : std::vector<std::string>{};
    if (command.empty() || !is_dotted_name(command[0])) {
      continue;
    }
    const auto& word = command[0];
    if (word.ends_with(".sh") || word.ends_with(".exe") || word.ends_with(".bin")) {
      continue;
    }
    const bool is_file = word.ends_with(".py");
    findings.push_back(warning(
        "command",
        fmt::format("the command `{}` looks like a Python {}", word, is_file ? "file" : "module"),
        "the first word of a command must be a program on the image's PATH; the replica "
        "would end with status 128",
        {is_file ? "--command=python3," + word : "--command=python3,-m," + word}));
  }
  return findings;
}

Problems check_prebuilt_accelerators(const PlannedJob& job) {
  Problems findings;
  for (const auto& pool : job.pools) {
    const auto image = image_of(pool).value_or("");
    const auto machine = machine_of(pool);
    const auto accelerator = machine.accelerator.value_or("");
    const bool has_gpu = accelerator.starts_with("NVIDIA_");
    const bool is_for_cpu =
        image::is_vertex_prebuilt(image) && image.find("-cpu.") != std::string::npos;
    if (has_gpu && is_for_cpu) {
      findings.push_back(
          warning("prebuilt-image",
                  fmt::format("prebuilt image `{}` is for CPUs, and machine type "
                              "`{}` has `{}`",
                              image, machine.type.value_or(""), accelerator),
                  "the accelerators would be paid for and not used",
                  {fmt::format("write `{}`", replace_all(image, "-cpu.", "-gpu."))}));
    }
  }
  return findings;
}

Problems check_offline(const PlannedJob& job, bool tables) {
  Problems all = check_image_names(job, tables);
  const auto add = [&](Problems findings) { append(all, std::move(findings)); };
  add(check_commands(job));
  if (tables) {
    add(check_platform(job));
    add(check_prebuilt_accelerators(job));
    for (const auto& name : job.ready_images()) {
      add(check_image({.name = name, .cuda_version = find_cuda_version({}, {}, name)},
                      job.pools_of(name)));
    }
    if (job.packaged && job.packaged->executor) {
      const auto& name = *job.packaged->executor;
      add(check_image({.name = name, .cuda_version = find_cuda_version({}, {}, name)},
                      job.pools_of(std::nullopt)));
    }
  }
  return in_order(all);
}

std::optional<std::string> find_cuda_version(const std::vector<std::string>& environment,
                                             const std::map<std::string, std::string>& labels,
                                             const std::string& name) {
  static constexpr std::string_view variable = "CUDA_VERSION=";
  for (const auto& entry : environment) {
    if (entry.starts_with(variable)) {
      return non_empty(entry.substr(variable.size()));
    }
  }
  for (const auto* key : {"com.nvidia.cuda.version", "cuda.version", "cuda_version"}) {
    if (const auto found = labels.find(key); found != labels.end()) {
      return non_empty(found->second);
    }
  }
  return cuda_version_in(name);
}

Problems check_image(const ImageFacts& image, const std::vector<const job::Pool*>& pools) {
  Problems findings;
  for (const auto* const pool : pools) {
    const bool fits = std::ranges::any_of(
        image.platforms, [&](const std::string& platform) { return runs(platform, *pool); });
    if (!fits && image.is_index) {
      findings.push_back(missing_platform(image, *pool));
    } else if (!fits && !image.platforms.empty()) {
      findings.push_back(wrong_architecture(fmt::format("image `{}`", image.name),
                                            printable(image.platforms.front()), *pool));
    }
    const int cuda = image.cuda_version ? major_of(*image.cuda_version) : 0;
    const auto accelerator = machine_of(*pool).accelerator.value_or("");
    if (cuda != 0 && cuda < 11 && needs_cuda_11(accelerator)) {
      findings.push_back(
          failing("cuda",
                  fmt::format("image `{}` has CUDA {}, and `{}` needs 11 or newer", image.name,
                              printable(*image.cuda_version), accelerator),
                  "the program would find no usable GPU",
                  {"use an image with CUDA 11 or newer, or an older accelerator: "
                   "--worker-pool-spec=...,accelerator-type=NVIDIA_TESLA_V100"}));
    }
    if (image.compressed_bytes) {
      check_size(image.name, *image.compressed_bytes, *pool, findings);
    }
  }
  return in_order(findings);
}

}  // namespace autopack::preflight
