#include "verify/verify.hpp"

#include "attest/provenance.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "build/wheels/installed_wheels.hpp"
#include "build/wheels/published_wheels.hpp"
#include "compare/contents.hpp"
#include "executor/executor_image.hpp"
#include "executor/python_facts.hpp"
#include "http/client.hpp"
#include "http/offline_client.hpp"
#include "image/file_reference.hpp"
#include "image/rebased.hpp"
#include "image/reference.hpp"
#include "image/tar.hpp"
#include "lock/readers.hpp"
#include "packaging/packaging.hpp"
#include "pipeline/rebuild.hpp"
#include "pipeline/scan.hpp"
#include "project/requirements/build_environment.hpp"
#include "python/requirement.hpp"
#include "source/git.hpp"
#include "verify/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace autopack::verify {

namespace {

/// Further steps are counted, not named.
constexpr std::size_t most_steps{3};
constexpr std::size_t most_of_a_step{80};
constexpr std::size_t most_settings{20};

Error cannot_tell(const image::Source& image, const std::string& why) {
  return Error(ErrorKind::environment,
               fmt::format("it cannot be determined whether `{}` equals a rebuild",
                           printable(image.name)))
      .cause(why);
}

/// Returns the name of the base by its digest, as an executor image. Only `own`, the executor image
/// of the user's settings, may be in files.
std::string base_of(const image::Source& image, const Recorded& recorded, const std::string& own) {
  if (!recorded.base_digest) {
    throw cannot_tell(image, "its labels name no base by digest: only an engine had the base");
  }
  if (recorded.base_name && !image::names_files(*recorded.base_name)) {
    return image::Reference::parse(*recorded.base_name).with_digest(*recorded.base_digest);
  }
  if (!image::names_files(own)) {
    throw cannot_tell(image, "its base was in files, and only you may say where")
        .hint("`--executor-image-uri=oci:DIR` or `tar:FILE` names the base")
        .hint("its digest is " + recorded.base_digest->str());
  }
  return own;
}

/// True for a path in the project.
bool is_inside(const std::string& path) {
  const auto normal = std::filesystem::path{path}.lexically_normal();
  return normal.is_relative() && *normal.begin() != ".." && !path.starts_with('~');
}

std::vector<std::string> values_of(const packaging::Settings::Text& text) {
  return text ? std::vector{*text} : std::vector<std::string>{};
}

std::vector<std::string> values_of(const packaging::Settings::List& list) {
  return list.value_or(std::vector<std::string>{});
}

Error needs_word(const image::Source& image, const std::string& flag, const std::string& why) {
  return cannot_tell(image, fmt::format("it was made with `{}`, {}", flag, why))
      .hint(fmt::format("`{}` allows it", flag));
}

/// Throws Error(environment) if `settings`, which strangers may have written, name something
/// outside the project, or a base in files.
void require_inside(const image::Source& image, const packaging::Settings& settings) {
  const auto base = settings.executor_image_uri.value_or("");
  if (image::names_files(base)) {
    throw needs_word(image, "--executor-image-uri=" + printable(base), "which is in files");
  }
  for (const auto& setting : packaging::settings) {
    if (setting.reach == packaging::Setting::Reach::nothing) {
      continue;
    }
    const auto values =
        std::visit([&](const auto member) { return values_of(settings.*member); }, setting.member);
    for (const auto& value : values) {
      if (!is_inside(value)) {
        throw needs_word(image, fmt::format("--{}={}", setting.key, printable(value)),
                         "which is outside the project");
      }
    }
  }
}

/// Throws Error(environment) if `settings`, which no key signed, name code that `own` does not.
void require_own_sources(const image::Source& image,
                         const packaging::Settings& settings,
                         const packaging::Settings& own) {
  const auto foreign = foreign_sources(settings, own);
  if (foreign.empty()) {
    return;
  }
  auto error = needs_word(image, foreign.front(),
                          "which this directory does not say and no given key signed");
  for (std::size_t i = 1; i < foreign.size() && i < most_settings; ++i) {
    error.cause(fmt::format("and with `{}`", foreign[i]));
  }
  throw std::move(error).hint("`--key=FILE` accepts a signed provenance");
}

/// Returns the variables of builds; Error(remote) if `lines` are not those of autopack.
std::map<std::string, std::string> read_variables(const packaging::Settings::List& lines) {
  Problems problems;
  auto variables = project::read_build_environment(lines.value_or(std::vector<std::string>{}),
                                                   "the image's provenance", problems);
  throw_if_errors(problems, ErrorKind::remote);
  return variables;
}

/// Applies the settings in the provenance, except those that the user typed. `own` are all of the
/// user's. Returns remarks about the others.
std::vector<std::string> apply_provenance(const image::Source& image,
                                          const Recorded& from,
                                          const packaging::Settings& typed,
                                          const packaging::Settings& own,
                                          packaging::Request& request) {
  const auto& provenance = *from.provenance;
  if (provenance.dockerfile || provenance.templates) {
    throw cannot_tell(image,
                      "it was made with a Dockerfile or templates of the user, in an engine");
  }
  using Role = packaging::Setting::Role;
  const bool has_entry = std::ranges::any_of(packaging::settings, [&](const auto& setting) {
    return setting.role == Role::entry && setting.is_given(typed);
  });
  auto recorded = provenance.settings;
  auto settings = typed;
  for (const auto& setting : packaging::settings) {
    const bool is_replaced = has_entry && setting.role == Role::entry;
    std::visit(
        [&](const auto member) {
          if (is_replaced || settings.*member) {
            (recorded.*member).reset();
          } else {
            settings.*member = recorded.*member;
          }
        },
        setting.member);
  }
  require_inside(image, recorded);
  if (!from.is_signed) {
    require_own_sources(image, recorded, own);
  }
  packaging::apply(settings, request);
  request.options.build_environment = read_variables(settings.build_env);
  request.options.compile_bytecode = provenance.compiles_bytecode;
  request.resolver =
      provenance.resolver == "engine" ? packaging::Resolver::engine : packaging::Resolver::uv;
  if (const auto* const lock = provenance.input(attest::Input::Role::resolution)) {
    request.resolution = lock->content;
  }
  std::vector<std::string> remarks;
  if (const auto foreign = foreign_settings(settings, own); !from.is_signed && !foreign.empty()) {
    std::vector<std::string> named;
    for (std::size_t i = 0; i < foreign.size() && i < most_settings; ++i) {
      named.push_back(fmt::format("`{}`", foreign[i].substr(0, most_of_a_step)));
    }
    const auto more = foreign.size() - named.size();
    remarks.push_back(
        fmt::format("settings from the image's provenance, not from this directory: {}{}",
                    join(named, ", "), more == 0 ? "" : fmt::format(" and {} more", more)));
  }
  return remarks;
}

/// The commit that an image was made from.
struct RecordedCommit {
  std::optional<std::string> commit{};
  bool is_dirty{false};
};

RecordedCommit commit_of(const Recorded& recorded) {
  if (!recorded.provenance) {
    return {.commit = recorded.commit, .is_dirty = recorded.is_dirty};
  }
  const auto& source = recorded.provenance->source;
  return {.commit = source.commit && is_commit(*source.commit) ? source.commit : std::nullopt,
          .is_dirty = source.is_dirty};
}

/// Applies what the image says of itself to the request. Returns remarks.
std::vector<std::string> apply(const image::Source& image,
                               const Recorded& recorded,
                               Wish& wish,
                               Services& services) {
  auto& request = wish.request;
  std::vector<std::string> remarks;
  if (recorded.provenance) {
    remarks =
        apply_provenance(image, recorded, wish.typed, packaging::settings_of(request), request);
  }
  if (!recorded.is_signed && !wish.has_engine) {
    // Strangers chose the base, and may have chosen what would be built in it.
    request.engine = packaging::Engine::direct;
  }
  request.options.platform = recorded.platform;
  request.options.labels = recorded.labels;
  request.label_git = false;
  if (!wish.has_byte_code && !recorded.provenance) {
    request.options.compile_bytecode = recorded.has_byte_code;
  }
  const auto made_from = commit_of(recorded);
  if (!wish.has_source && made_from.commit && !made_from.is_dirty) {
    request.source = *made_from.commit;
  }
  if (recorded.time) {
    auto variables = services.environment.all();
    variables["SOURCE_DATE_EPOCH"] = std::to_string(*recorded.time);
    services.environment = Environment{std::move(variables)};
  }
  return remarks;
}

/// Throws Error(environment) if the files must come from a commit that is not there.
void require_commit(const image::Source& image, const packaging::Request& request) {
  if (!request.is_from_git()) {
    return;
  }
  try {
    source::make_git_tree(request.project.directory, request.source, request.environment);
  } catch (const Error& error) {
    throw cannot_tell(image, fmt::format("the commit `{}` that it was made from is not here: {}",
                                         printable(request.source), error.message()))
        .hint("git fetch --unshallow --tags")
        .hint("`--source=worktree` compares with the files as they are");
  }
}

image::BaseFacts find_base(Services& services,
                           const image::Source& image,
                           const Recorded& recorded,
                           const std::string& own_base,
                           packaging::Request request) {
  request.executor_image = base_of(image, recorded, own_base);
  request.engine = packaging::Engine::direct;
  auto facts =
      with_context(fmt::format("the base of `{}` cannot be read", printable(image.name)), [&] {
        return executor::ExecutorImage{services, request}.confirmed();
      });
  if (facts.digest != recorded.base_digest) {
    throw cannot_tell(image, fmt::format("`{}` is not its base: the digest is {} instead of {}",
                                         printable(request.executor_image),
                                         facts.digest ? facts.digest->str() : "unknown",
                                         recorded.base_digest->str()));
  }
  if (!image::names_files(request.executor_image)) {
    facts.reference = recorded.base_name.value_or(facts.reference);
  }
  return facts;
}

/// Returns the requirements of the user's files and settings.
std::vector<python::Requirement> requirements_of(const packaging::Packaging& work) {
  std::vector<python::Requirement> all;
  for (const auto& listed : work.scanned().project.listed_requirements) {
    all.push_back(listed.requirement);
  }
  const auto& dependencies = work.plan().dependencies;
  for (const auto* texts : {&dependencies.requirements, &dependencies.package_requirements,
                            &dependencies.build_requirements}) {
    std::ranges::transform(*texts, std::back_inserter(all),
                           [](const auto& text) { return python::parse_requirement(text); });
  }
  for (const auto& path : dependencies.packages) {
    all.push_back({.kind = python::Requirement::Kind::path, .target = path});
  }
  return all;
}

/// Throws Error(environment) if the versions in the provenance contain packages from elsewhere than
/// an index that the project does not name: a key may have signed them, but no `file:` URL.
void require_own_packages(Services& services,
                          const image::Source& image,
                          const Recorded& recorded,
                          const packaging::Packaging& work) {
  const auto& request = work.request();
  const auto& base = work.plan().base;
  if (!request.resolution || work.plan().dependencies.lock) {
    return;
  }
  const auto python = executor::python_facts(services, base, executor::image_places(request));
  if (!python.interpreter) {
    return;  // nothing reads the versions
  }
  const auto set = lock::read_pylock(*request.resolution, "the image's provenance",
                                     {.interpreter = *python.interpreter});
  const auto foreign = foreign_packages(
      set, requirements_of(work), recorded.is_signed ? Asked::local_repositories : Asked::all);
  if (!foreign.empty()) {
    const auto more = foreign.size() == 1 ? "" : fmt::format(" and {} more", foreign.size() - 1);
    auto error =
        cannot_tell(image, fmt::format("its provenance names {}{}, which this directory does not",
                                       foreign.front(), more))
            .hint("name it in the project's requirements if you trust it");
    if (!recorded.is_signed) {
      error.hint("`--key=FILE` accepts a signed provenance");
    }
    throw std::move(error);
  }
}

/// Returns the steps above the base whose layers no rebuild gives again.
std::vector<std::string> steps_of_engines(const image::Source& image, const image::Source& base) {
  const auto steps = image::own_steps(
      {.image = image.configuration, .before = base.configuration, .after = base.configuration});
  if (!steps) {
    return {"a history that does not continue that of the base"};
  }
  std::vector<std::string> found;
  for (const auto& step : *steps) {
    if (step.has_layer && !step.is_ours) {
      found.push_back(printable(step.created_by));
    }
  }
  return found;
}

/// Compares the project's files with those in the image, whoever made its layers.
void compare_code(Services& services,
                  const image::Source& image,
                  const image::Source& base,
                  const packaging::Packaging& work,
                  Comparison& found) {
  const auto of_base = image::check_layers(base);
  const auto contents =
      compare::read_image(*services.cancellation, image, {of_base.begin(), of_base.end()});
  const auto project = compare::contents_of(work, "the project");
  ComparedLayer layer{.name = "the project's files"};
  for (const auto& change : compare::difference(project, contents).files) {
    // The installation of the project's package may have written it.
    if (!change.before && work.plan().dependencies.install) {
      continue;
    }
    layer.difference.files.push_back({.path = change.name,
                                      .what = !change.after    ? "the image does not have it"
                                              : !change.before ? "the project does not have it"
                                                               : "its content, mode or target"});
  }
  layer.difference.count = layer.difference.files.size();
  layer.verdict =
      layer.difference.count == 0 ? ComparedLayer::Verdict::equal : ComparedLayer::Verdict::differs;
  found.layers.push_back(std::move(layer));
}

/// For an image with layers of an engine: other runs of the same steps give other bytes.
Comparison compare_files(Services& services,
                         const image::Source& image,
                         const image::Source& base,
                         const packaging::Packaging& work,
                         const std::vector<std::string>& steps) {
  Comparison found;
  compare_code(services, image, base, work, found);
  for (std::size_t i = 0; i < steps.size() && i < most_steps; ++i) {
    found.unknown.push_back(
        fmt::format("an engine made the layer of `{}`, and would make another "
                    "one today",
                    steps[i].substr(0, most_of_a_step)));
  }
  if (steps.size() > most_steps) {
    found.unknown.push_back(
        fmt::format("{} further layers of an engine", steps.size() - most_steps));
  }
  return found;
}

/// Compares the hashes of the wheels with those that their indexes list now.
void check_wheels(Services& services, const packaging::Packaging& work, Comparison& found) {
  const auto wheels = build::find_installed_wheels(services, work);
  if (!wheels) {
    return;
  }
  const auto python = executor::known_python(services, work.plan().base);
  const auto published =
      build::ask_for_wheels(services, work, python ? python->default_index : std::nullopt, *wheels);
  found.wheels = published.differing;
  if (published.obstacle) {
    found.remarks.push_back("the hashes of wheels were not compared with their indexes: " +
                            *published.obstacle);
  } else if (published.wheels > 0) {
    found.remarks.push_back(fmt::format("{} of {} wheels have the hash that their index lists",
                                        published.listed, published.wheels));
  }
  if (const auto count = published.unasked.size(); count > 0) {
    found.remarks.push_back(
        fmt::format(
            "{} of {} wheels were compared with no index: {}", count, wheels->size(),
            join(std::vector(published.unasked.begin(),
                             std::next(published.unasked.begin(),
                                       static_cast<std::ptrdiff_t>(std::min(count, most_steps)))),
                 ", ")) +
        (count > most_steps ? ", ..." : ""));
  }
  for (const auto& file : published.unlisted) {
    found.remarks.push_back(fmt::format("no index lists a hash of `{}` any more", printable(file)));
  }
}

/// A moved image has other labels than a built one.
void allow_rebase(const Recorded& recorded, Comparison& found) {
  if (!recorded.rebased_from) {
    return;
  }
  std::erase_if(found.configuration, [](const compare::Change<std::string>& change) {
    return change.name == fmt::format("Labels {}", packaging::key_label) ||
           change.name == fmt::format("Labels {}", packaging::dependency_key_label) ||
           change.name == fmt::format("Labels {}", packaging::rebased_label);
  });
  found.remarks.push_back(fmt::format("`autopack rebase` moved it to its base; it was {} before",
                                      printable(*recorded.rebased_from)));
}

std::string remark_about(const Recorded& recorded, const packaging::Request& request) {
  const auto made_from = commit_of(recorded);
  std::string files = request.is_from_git()
                          ? fmt::format("the files of `{}`", printable(request.source))
                          : std::string{"the files as they are"};
  if (made_from.is_dirty && !request.is_from_git()) {
    files += ", because it was made from files that differed from the commit";
  }
  return fmt::format("it is compared with {}; the settings are those of {}", files,
                     recorded.provenance ? "its provenance" : "this directory");
}

}  // namespace

Comparison verify(Services& services,
                  const image::Source& image,
                  const Recorded& recorded,
                  Wish wish) {
  const auto own_base = wish.request.executor_image;
  auto remarks = apply(image, recorded, wish, services);
  require_commit(image, wish.request);
  if (wish.offline) {
    // What has to be built needs the network, for build requirements and for clones.
    wish.request.engine = packaging::Engine::direct;
    auto variables = services.environment.all();
    variables["UV_OFFLINE"] = "1";
    services.environment = Environment{std::move(variables)};
  }
  const auto online = wish.offline ? services.client.replace(nullptr) : nullptr;
  if (wish.offline) {
    services.client.replace(
        http::make_offline_client(online ? online : services.new_client(services.cancellation)));
  }
  const auto facts = find_base(services, image, recorded, own_base, wish.request);
  remarks.insert(remarks.begin(), remark_about(recorded, wish.request));
  wish.request.executor_image = facts.reference;
  const auto wanted = pipeline::scan_wanted(std::move(wish.request));
  wanted->name.reference = image::Reference::parse("autopack/verify");
  wanted->may_push = false;
  pipeline::Rebuild rebuild{services, wanted, facts};
  const auto base = executor::open_image(services, facts, recorded.platform).image;
  if (const auto steps = steps_of_engines(image, base); !steps.empty()) {
    return compare_files(services, image, base, rebuild.work(), steps);
  }
  require_own_packages(services, image, recorded, rebuild.work());
  std::string obstacle;
  const auto rebuilt = rebuild.make(obstacle);
  if (!rebuilt) {
    auto error = cannot_tell(image, obstacle);
    if (wish.offline) {
      error.cause("`--offline` builds nothing");
    } else if (!recorded.is_signed && !wish.has_engine) {
      error.cause("no given key signed what the image says of itself: no engine builds for it")
          .hint("`--key=FILE` accepts what a key signed")
          .hint("`--engine=auto` builds in a container of the image's base");
    }
    throw std::move(error);
  }
  auto found = compare_images(*services.cancellation, image, *rebuilt);
  found.remarks = std::move(remarks);
  allow_rebase(recorded, found);
  if (wish.offline) {
    found.remarks.emplace_back("the hashes of wheels were not compared with their indexes");
  } else {
    check_wheels(services, rebuild.work(), found);
  }
  return found;
}

}  // namespace autopack::verify
