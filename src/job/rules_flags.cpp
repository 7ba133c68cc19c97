#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "image/file_reference.hpp"
#include "image/reference.hpp"
#include "job/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace autopack::job {

namespace {

using packaging::Setting;

/// Returns the packaging keys of `pool` that have one of `roles`.
std::vector<std::string> given_keys(const PoolFlags& pool,
                                    std::initializer_list<Setting::Role> roles) {
  std::vector<std::string> keys;
  for (const auto& setting : packaging::settings) {
    if (setting.is_given(pool) && std::ranges::find(roles, setting.role) != roles.end()) {
      keys.emplace_back(setting.key);
    }
  }
  return keys;
}

std::string quote_keys(const std::vector<std::string>& keys) {
  return "`" + join(keys, "`, `") + "`";
}

class PoolCheck {
public:
  PoolCheck(const PoolFlags& pool, Problems& problems) : pool_{pool}, problems_{problems} {}

  void check_packaged(const JobFlags& flags);
  void check_sharing();
  void check_ready(bool is_first);

private:
  void fault(std::string message, std::vector<std::string> hints = {}) {
    problems_.push_back({.message = std::move(message),
                         .origin = to_string(pool_.origin),
                         .hints = std::move(hints)});
  }

  void entry(bool has_command, bool infers);
  void own_dockerfile();
  void image_name(const char* key, const std::optional<std::string>& value);
  void base_name(const std::optional<std::string>& value);

  const PoolFlags& pool_;
  Problems& problems_;
};

void PoolCheck::image_name(const char* key, const std::optional<std::string>& value) {
  if (!value) {
    return;
  }
  if (const auto reason = image::Reference::fault(*value)) {
    auto message = *reason;
    problems_.push_back({.message = std::move(message), .origin = to_string(pool_.origin_of(key))});
  }
}

void PoolCheck::base_name(const std::optional<std::string>& value) {
  if (!value || !image::names_files(*value)) {
    image_name("executor-image-uri", value);
  } else if (const auto reason = image::base_fault(*value)) {
    fault(*reason);
  }
}

void PoolCheck::entry(bool has_command, bool infers) {
  if (!pool_.executor_image_uri && !infers) {
    fault("`executor-image-uri` is needed with `local-package-path`: the image to package onto",
          {pool_.origin && (pool_.origin->is_flag("--worker-pool-spec") ||
                            pool_.origin->kind == Origin::Kind::file)
               ? "add executor-image-uri=python:3.11 or another base image to the pool"
               : "`--executor-image-uri=python:3.11` or another base image names it"});
  }
  if (pool_.script && pool_.python_module) {
    fault("`script` and `python-module` exclude each other");
  } else if (!pool_.script && !pool_.python_module && !has_command && !infers) {
    fault(
        "`script` or `python-module` is needed with `local-package-path`: the program of the job",
        {"`--command=WORD,...` runs a program that a requirement or the executor image provides"});
  }
}

void PoolCheck::own_dockerfile() {
  const auto keys = given_keys(pool_, {Setting::Role::entry, Setting::Role::content});
  if (!keys.empty()) {
    fault(fmt::format("{} and `--dockerfile` exclude each other: the Dockerfile decides it",
                      quote_keys(keys)));
  }
}

void PoolCheck::check_packaged(const JobFlags& flags) {
  flags.own_dockerfile ? own_dockerfile()
                       : entry(flags.command && !flags.command->empty(), flags.infers);
  if (pool_.container_image_uri) {
    fault("`container-image-uri` and `local-package-path` exclude each other");
  }
  base_name(pool_.executor_image_uri);
  image_name("output-image-uri", pool_.output_image_uri
                                     ? std::optional{with_region(*pool_.output_image_uri, "region")}
                                     : std::nullopt);
  if (pool_.output_image_uri && pool_.output_image_uri->find("@sha256:") != std::string::npos) {
    fault(fmt::format("`output-image-uri` names a digest, which is known only after a push: `{}`",
                      printable(*pool_.output_image_uri)));
  }
}

void PoolCheck::check_sharing() {
  auto keys = given_keys(pool_, {Setting::Role::place, Setting::Role::base, Setting::Role::entry,
                                 Setting::Role::content, Setting::Role::name});
  if (pool_.container_image_uri) {
    keys.emplace_back("container-image-uri");
  }
  if (!keys.empty()) {
    fault(fmt::format("{} not allowed here: all pools run the image that the first pool packages",
                      quote_keys(keys) + (keys.size() == 1 ? " is" : " are")),
          {"a pool with an image of its own goes into a `--config` file"});
  }
}

void PoolCheck::check_ready(bool is_first) {
  auto keys = given_keys(pool_, {Setting::Role::content});
  if (pool_.script) {
    keys.insert(keys.begin(), "script");
  }
  if (!keys.empty() && pool_.container_image_uri) {
    fault(
        fmt::format("{} and `container-image-uri` exclude each other: a ready image runs as it is",
                    quote_keys(keys)));
  } else if (!keys.empty()) {
    fault(fmt::format("{} only with `local-package-path` in the first pool", quote_keys(keys)),
          is_first ? std::vector<std::string>{"add local-package-path=. to the pool"}
                   : std::vector<std::string>{});
  }
  if (!is_first && pool_.local_package_path) {
    fault("`local-package-path` is only for the first pool");
  }
  if (pool_.container_image_uri && pool_.executor_image_uri) {
    fault("`container-image-uri` and `executor-image-uri` exclude each other");
  }
  if (pool_.container_image_uri && pool_.python_module) {
    fault("`container-image-uri` and `python-module` exclude each other");
  }
  if (pool_.output_image_uri) {
    problems_.push_back(
        Problem::warning({.message = "`output-image-uri` is not used: nothing is packaged",
                          .origin = to_string(pool_.origin)}));
  }
}

}  // namespace

void check_pool_flags(const JobFlags& flags, Problems& problems) {
  for (std::size_t i = 0; i < flags.pools.size(); ++i) {
    PoolCheck check{flags.pools[i], problems};
    if (!flags.packages()) {
      check.check_ready(i == 0);
    } else if (i == 0) {
      check.check_packaged(flags);
    } else {
      check.check_sharing();
    }
  }
}

}  // namespace autopack::job
