#include "preflight/rules.hpp"

#include "base/text.hpp"
#include "image/facts.hpp"
#include "job/tables.hpp"
#include "preflight/cuda_version.hpp"
#include "registry/artifact_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::preflight {

namespace {

constexpr std::array multi_regions{std::string_view{"us"}, std::string_view{"europe"},
                                   std::string_view{"asia"}};

bool is_location(const std::string& location) {
  const auto known = job::tables::regions();
  return std::find(known.begin(), known.end(), location) != known.end() ||
         std::find(multi_regions.begin(), multi_regions.end(), location) != multi_regions.end();
}

/// `runs` for an image that is not to be pushed: of those, gcloud passes on names in gcr.io too
/// that nothing can have, and what it takes is not refused here.
void check_name(const image::Reference& image, bool runs, bool tables, Findings& findings) {
  const auto name = registry::parse_artifact_name(image.host, image.path);
  if (!name) {
    return;
  }
  if (name->image.empty()) {
    const auto found = runs && image.host.ends_with("gcr.io") ? warning : failing;
    findings.push_back(
        found("image-name", fmt::format("`{}` names no image", printable(image.text)),
              fmt::format("names in Artifact Registry are formed `{}/PROJECT/{}IMAGE`", image.host,
                          image.host.ends_with("gcr.io") ? "" : "REPOSITORY/"),
              {fmt::format("write `{}/IMAGE`", printable(image.repository()))}));
  }
  if (tables && !is_location(name->location)) {
    findings.push_back(
        failing("image-name",
                fmt::format("`{}` is no host of Artifact Registry{}", printable(image.host),
                            job::tables::did_you_mean(name->location, job::tables::regions())),
                "its first part is a region, or `us`, `europe` or `asia`",
                {"gcloud artifacts locations list"}));
  }
}

void check_prebuilt_tag(const image::Reference& image, Findings& findings) {
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

std::string wanted_architecture(const PlannedPool& pool) {
  const auto* const machine = job::tables::find_machine(pool.machine_type);
  return machine != nullptr && machine->arm64 ? "arm64" : "amd64";
}

Finding wrong_architecture(const std::string& subject,
                           const std::string& has,
                           const PlannedPool& pool) {
  const auto wanted = wanted_architecture(pool);
  return failing("architecture",
                 fmt::format("{} is for `{}`, but machine type `{}` is `{}`", subject, has,
                             printable(pool.machine_type), wanted),
                 "the program would end with `exec format error`",
                 {fmt::format("--platform=linux/{}", wanted),
                  fmt::format("docker build --platform=linux/{} ...", wanted)});
}

/// GPUs of the Ampere generation and newer.
bool needs_cuda_11(const std::string& accelerator) {
  static constexpr std::array older{"NVIDIA_TESLA_K80", "NVIDIA_TESLA_P100", "NVIDIA_TESLA_V100",
                                    "NVIDIA_TESLA_P4", "NVIDIA_TESLA_T4"};
  return accelerator.starts_with("NVIDIA_") &&
         std::find(older.begin(), older.end(), accelerator) == older.end();
}

int major_of(const std::string& version) {
  const auto digits = version.substr(0, version.find('.'));
  const bool good = !digits.empty() && digits.size() < 4 &&
                    digits.find_first_not_of("0123456789") == std::string::npos;
  return good ? std::stoi(digits) : 0;
}

/// ASCII names with dots between them, at least two.
bool is_dotted_name(std::string_view text) {
  const auto parts = split(text, '.');
  return parts.size() > 1 && std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           return !part.empty() && is_alphanumeric(part, "_") && (part[0] < '0' || part[0] > '9');
         });
}

/// `num_workers=4`, with or without spaces.
bool sets_workers(std::string_view line) {
  static constexpr std::string_view name = "num_workers";
  const auto at = line.find(name);
  if (at == std::string_view::npos || line.starts_with('#')) {
    return false;
  }
  auto rest = trim(line.substr(at + name.size()));
  if (!rest.starts_with('=')) {
    return false;
  }
  rest = trim(rest.substr(1));
  return !rest.empty() && rest[0] >= '1' && rest[0] <= '9';
}

constexpr std::uint64_t gigabyte = 1'000'000'000;
/// Layers on disk against layers on the wire, roughly.
constexpr std::uint64_t unpacking = 3;

void check_size(const ImageFacts& image, const PlannedPool& pool, Findings& findings) {
  const auto disk = static_cast<std::uint64_t>(std::max<std::int64_t>(pool.boot_disk_gb, 0));
  const auto need = image.compressed_bytes * unpacking;
  if (need <= disk * gigabyte) {
    return;
  }
  findings.push_back(
      warning("boot-disk",
              fmt::format("image `{}` is {}, about {} unpacked, and the boot disk has {} GB",
                          image.name, human_size(image.compressed_bytes), human_size(need), disk),
              "the replica would run out of space while it pulls the image",
              {fmt::format("--boot-disk-size={}", (need / gigabyte / 50 + 2) * 50)}));
}

}  // namespace

Findings check_image_names(const PlannedJob& job, bool tables) {
  Findings findings;
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

Findings check_platform(const PlannedJob& job) {
  Findings findings;
  if (!job.packaged) {
    return findings;
  }
  const auto architecture = architecture_of(job.packaged->platform);
  for (const auto* const pool : job.pools_of("")) {
    if (architecture != wanted_architecture(*pool)) {
      findings.push_back(wrong_architecture("the image to be built", architecture, *pool));
    }
  }
  return findings;
}

Findings check_commands(const PlannedJob& job) {
  Findings findings;
  for (const auto& pool : job.pools) {
    if (pool.command.empty() || !is_dotted_name(pool.command[0])) {
      continue;
    }
    const auto& word = pool.command[0];
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

Findings check_prebuilt_accelerators(const PlannedJob& job) {
  Findings findings;
  for (const auto& pool : job.pools) {
    const bool has_gpu = pool.accelerator_type.starts_with("NVIDIA_");
    const bool is_for_cpu =
        image::is_vertex_prebuilt(pool.image) && pool.image.find("-cpu.") != std::string::npos;
    if (has_gpu && is_for_cpu) {
      findings.push_back(
          warning("prebuilt-image",
                  fmt::format("prebuilt image `{}` is for CPUs, and machine type "
                              "`{}` has `{}`",
                              pool.image, pool.machine_type, pool.accelerator_type),
                  "the accelerators would be paid for and not used",
                  {fmt::format("write `{}`", replace_all(pool.image, "-cpu.", "-gpu."))}));
    }
  }
  return findings;
}

Findings check_offline(const PlannedJob& job, bool tables) {
  Findings all = check_image_names(job, tables);
  const auto add = [&](Findings findings) {
    std::move(findings.begin(), findings.end(), std::back_inserter(all));
  };
  add(check_commands(job));
  if (tables) {
    add(check_platform(job));
    add(check_prebuilt_accelerators(job));
    for (const auto& name : job.ready_images()) {
      add(check_image({.name = name, .cuda_version = find_cuda_version({}, {}, name)},
                      job.pools_of(name)));
    }
    if (job.packaged && !job.packaged->executor.empty()) {
      const auto& name = job.packaged->executor;
      add(check_image({.name = name, .cuda_version = find_cuda_version({}, {}, name)},
                      job.pools_of("")));
    }
  }
  return in_order(std::move(all));
}

std::string find_cuda_version(const std::vector<std::string>& environment,
                              const std::map<std::string, std::string>& labels,
                              const std::string& name) {
  static constexpr std::string_view variable = "CUDA_VERSION=";
  for (const auto& entry : environment) {
    if (entry.starts_with(variable)) {
      return entry.substr(variable.size());
    }
  }
  for (const auto* key : {"com.nvidia.cuda.version", "cuda.version", "cuda_version"}) {
    if (const auto found = labels.find(key); found != labels.end()) {
      return found->second;
    }
  }
  return cuda_version_in(name);
}

Findings check_image(const ImageFacts& image, const std::vector<const PlannedPool*>& pools) {
  Findings findings;
  for (const auto* const pool : pools) {
    const auto wanted = wanted_architecture(*pool);
    const bool fits = std::any_of(
        image.platforms.begin(), image.platforms.end(),
        [&](const std::string& platform) { return architecture_of(platform) == wanted; });
    if (!image.platforms.empty() && !fits) {
      std::vector<std::string> architectures;
      for (const auto& platform : image.platforms) {
        architectures.push_back(architecture_of(platform));
      }
      findings.push_back(wrong_architecture(fmt::format("image `{}`", image.name),
                                            join(architectures, ", "), *pool));
    }
    const int cuda = major_of(image.cuda_version);
    if (cuda != 0 && cuda < 11 && needs_cuda_11(pool->accelerator_type)) {
      findings.push_back(
          failing("cuda",
                  fmt::format("image `{}` has CUDA {}, and `{}` needs 11 or newer", image.name,
                              printable(image.cuda_version), pool->accelerator_type),
                  "the program would find no usable GPU",
                  {"take an image with CUDA 11 or newer, or an older accelerator: "
                   "--worker-pool-spec=...,accelerator-type=NVIDIA_TESLA_V100"}));
    }
    check_size(image, *pool, findings);
  }
  return in_order(std::move(findings));
}

bool uses_data_workers(std::string_view text) {
  bool workers = false;
  bool torch = false;
  for (const auto& raw : split(text, '\n')) {
    const auto line = trim(raw);
    const auto imports = [&](std::string_view start) {
      return line.starts_with(start) &&
             (line.size() == start.size() ||
              std::string_view{" .,;"}.find(line[start.size()]) != std::string_view::npos);
    };
    torch = torch || imports("import torch") || imports("from torch");
    workers = workers || sets_workers(line);
  }
  return workers && torch;
}

}  // namespace autopack::preflight
