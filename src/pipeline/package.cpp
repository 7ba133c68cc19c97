#include "pipeline/package.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "pipeline/advice.hpp"
#include "pipeline/base.hpp"
#include "pipeline/base_modules.hpp"
#include "pipeline/direct.hpp"
#include "pipeline/files.hpp"
#include "pipeline/reasons.hpp"
#include "pipeline/reuse.hpp"
#include "pipeline/scan.hpp"
#include "pipeline/secrets.hpp"
#include "plan/start_advice.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace autopack::pipeline {

namespace {

std::string count_of(std::size_t number, const std::string& what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string_view kind_of(const project::Entry& entry) {
  switch (entry.kind) {
    case project::EntryKind::module:
    case project::EntryKind::installed_module: return "module";
    case project::EntryKind::program: return "command";
    default: return "script";
  }
}

/// `42 files, 1.2 MB: module `trainer.task`, `requirements.txt``.
std::string scanned_text(const plan::Plan& plan) {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
  for (const auto& entry : plan.code) {
    if (entry.type != source::EntryType::directory) {
      ++files;
      bytes += entry.size;
    }
  }
  std::string text = fmt::format("{}, {}", count_of(files, "file"), human_size(bytes));
  if (!plan.user_dockerfile.empty()) {
    return text + fmt::format(" for `{}`", plan.user_dockerfile);
  }
  text += fmt::format(": {} `{}`", kind_of(plan.entry), printable(plan.entry.value));
  for (const auto& file : plan.dependencies.requirement_files) {
    text += fmt::format(", `{}`", file);
  }
  if (!plan.dependencies.requirements.empty()) {
    text += ", " + count_of(plan.dependencies.requirements.size(), "more requirement");
  }
  if (!plan.dependencies.packages.empty()) {
    text += ", " + count_of(plan.dependencies.packages.size(), "extra package");
  }
  if (plan.dependencies.install) {
    text += ", the project's own package";
  }
  return text;
}

/// `a.py`, `b.txt` and 3 more: git ignores them, the program needs them`; empty without any.
std::string kept_text(const Scanned& scanned) {
  constexpr std::size_t most_told{3};
  const auto& kept = scanned.project.ignore.kept();
  std::vector<std::string> names;
  for (const auto& [path, why] : kept) {
    if (names.size() < most_told) {
      names.push_back(fmt::format("`{}`", printable(path)));
    }
  }
  const std::string more =
      kept.size() > names.size() ? fmt::format(" and {} more", kept.size() - names.size()) : "";
  return kept.empty() ? ""
                      : fmt::format("{}{} too, which git ignores and the program needs",
                                    join(names, ", "), more);
}

}  // namespace

namespace {

plan::Plan plan_on(const Services& services,
                   const PackageRequest& request,
                   const Scanned& scanned,
                   const image::BaseFacts& base) {
  const auto directory = std::filesystem::weakly_canonical(request.project.directory);
  state::FileHashes hashes{
      services.environment.cache_directory() / "files" /
          sha256(directory.string() + (is_from_git(request) ? " git" : "")).hex(),
      services.cancellation};
  plan::Options options = request.options;
  if (request.label_git && scanned.git) {
    options.labels = git_labels(*scanned.git);
  }
  options.hashes = &hashes;
  auto plan = plan::make_plan(scanned.tree, scanned.project, request.project, base, options);
  hashes.save();
  return plan;
}

/// Tells what may stop the program or the installation, and throws what will.
void tell_start(Services& services, const Scanned& scanned, const plan::Plan& plan) {
  const auto problems = plan::start_advice(plan, scanned.project, [&](const auto& names) {
    return known_contents(services, plan.base, names, true);
  });
  Problems errors;
  for (const auto& problem : problems) {
    if (problem.severity == Problem::Severity::warning) {
      services.reporter->warn(problem);
    } else {
      errors.push_back(problem);
    }
  }
  throw_if_errors(errors, ErrorKind::project);
}

void tell(Services& services, const Scanned& scanned, const plan::Plan& plan) {
  for (const auto& warning : plan.warnings) {  // the project's are among them
    services.reporter->warn(warning);
  }
  tell_start(services, scanned, plan);
  services.reporter->done("Scanned", scanned_text(plan));
  if (const auto kept = kept_text(scanned); !kept.empty()) {
    services.reporter->done("Took", kept);
  }
}

/// A plan on the executor image as it was seen last, and what its target has for it.
struct Guess {
  std::optional<plan::Plan> plan{};
  bool changed{true};  ///< since the last build
  std::optional<Reasons> why{};
  std::optional<TargetQuestion> question{};
  std::vector<Assembly::Layer> layers{};  ///< of `plan`, where it is, as far as they are made
};

/// So that what needs no network is checked before anybody is asked, and the target is asked at the
/// same time as the executor image's registry.
Guess guess_plan(Services& services,
                 const PackageRequest& request,
                 const Scanned& scanned,
                 const image::BaseFacts& base) {
  Guess guess;
  try {
    guess.plan = plan_on(services, request, scanned, base);
  } catch (const Error&) {
    return {};  // what is wrong with it is told of the image as it is now
  }
  refuse_secrets(services, *guess.plan);
  return guess;
}

}  // namespace

plan::Plan decide(Services& services,
                  const PackageRequest& request,
                  const Scanned& scanned,
                  const image::BaseFacts& base) {
  auto plan = plan_on(services, request, scanned, base);
  tell(services, scanned, plan);
  return plan;
}

namespace {

Image make(Services& services,
           const PackageRequest& request,
           const Scanned& scanned,
           const ImageName& name,
           bool pushed,
           Guess& guess) {
  const plan::Plan& plan = *guess.plan;
  const Reasons& why = *guess.why;
  if (!pushed && !request.outputs.empty()) {
    return package_to_files(services, request, scanned, plan, why, name);
  }
  const auto obstacle = obstacle_to_direct(request, plan, pushed);
  if (!obstacle && pushed) {
    auto question = guess.question ? std::move(*guess.question)
                                   : ask_target(services, request, plan, guess.changed, name);
    auto layers = guess.layers.empty() ? layers_ahead(services, plan, guess.changed)
                                       : std::move(guess.layers);
    return package_directly(services, request, scanned, plan, why, name, std::move(question),
                            std::move(layers));
  }
  if (request.engine == Engine::direct) {
    throw Error(ErrorKind::usage, "`--engine=direct` cannot make this image")
        .cause(obstacle.value())
        .hint("`--engine=auto` takes the docker engine where it is needed");
  }
  if (pushed && !request.no_cache) {
    if (auto image = pushed_before(services, request, scanned, plan, why, name)) {
      return *image;
    }
  }
  Image image = build(services, request, scanned, plan, why, name);
  if (pushed) {
    push(services, name, image);
  }
  return image;
}

void refuse_direct(const PackageRequest& request, bool pushed) {
  if (const auto obstacle = needs_an_engine(request, pushed)) {
    throw Error(ErrorKind::usage, "`--engine=direct` cannot make this image")
        .cause(*obstacle)
        .hint("`--engine=auto` loads the code on what the engine has, without a build")
        .hint("`autopack build --output=oci:DIR` needs no engine");
  }
}

}  // namespace

void check_offline(Services& services, const PackageRequest& request, const Scanned& scanned) {
  const image::BaseFacts base =
      request.executor_image.empty()
          ? image::BaseFacts{.platform = request.options.platform}
          : base_offline(services, request.executor_image, request.options.platform);
  const auto plan = decide(services, request, scanned, base);
  refuse_secrets(services, plan);
  const auto advice = AdviceQuestion{services, request, scanned, plan}.answer(LookInto::memory);
  for (const auto& warning : advice.warnings) {
    services.reporter->warn(warning);
  }
  if (request.strict) {
    refuse_warnings(scanned, plan, advice);
  }
}

Image package(Services& services,
              const PackageRequest& request,
              const Scanned& scanned,
              const ImageName& name,
              Push push_it) {
  const bool pushed = push_it == Push::yes && name.has_registry;
  refuse_direct(request, pushed);
  std::optional<BaseQuestion> base_question;
  if (!request.executor_image.empty()) {
    base_question.emplace(services, request.executor_image, request.options.platform,
                          request.engine);
  }
  Guess guess;
  if (base_question && base_question->guess()) {
    guess = guess_plan(services, request, scanned, *base_question->guess());
  }
  if (base_question) {
    base_question->ask();
  }
  const auto before = last_build(services, request);
  if (guess.plan) {
    guess.changed = !is_as_before(before, *guess.plan);
    if (pushed && !obstacle_to_direct(request, *guess.plan, true)) {
      guess.question = ask_target(services, request, *guess.plan, guess.changed, name);
      guess.layers = layers_ahead(services, *guess.plan, guess.changed);
    }
    guess.why = reasons(before, scanned, *guess.plan);
  }
  const image::BaseFacts base = base_question
                                    ? base_question->answer()
                                    : image::BaseFacts{.platform = request.options.platform};
  if (!guess.plan || !(guess.plan->base == base)) {
    guess = {.plan = plan_on(services, request, scanned, base)};
    refuse_secrets(services, *guess.plan);
    guess.changed = !is_as_before(before, *guess.plan);
    guess.why = reasons(before, scanned, *guess.plan);
  }
  tell(services, scanned, *guess.plan);
  AdviceQuestion question{services, request, scanned, *guess.plan};
  std::optional<plan::Advice> advice;
  if (request.strict) {
    advice = question.answer();
    refuse_warnings(scanned, *guess.plan, *advice);
  } else if (guess.why->first || !guess.why->changes.dependencies.empty()) {
    // What takes minutes is not begun before people know; an edit does not wait.
    advice = question.answer();
    tell_briefly(services, *advice);
  }
  Image image = make(services, request, scanned, name, pushed, guess);
  if (!advice) {
    tell_briefly(services, question.answer());
  }
  if (pushed && !request.outputs.empty()) {
    write_pushed(services, request, *guess.plan, name, image);
  }
  remember(services, request, *guess.why);
  image.git = scanned.git;
  return image;
}

Image package_for_running(Services& services,
                          const PackageRequest& request,
                          const Scanned& scanned,
                          const ImageName& name) {
  refuse_direct(request, false);
  const auto last = image::Reference::parse(name.reference.with_tag(last_run_tag));
  auto& docker = services.docker();
  const auto before = docker.inspect(last.tagged());
  Image image = package(services, request, scanned, name, Push::no);
  docker.tag(image.image_id, last);
  if (!before || before->id == image.image_id) {
    return image;
  }
  const auto key_of = [](const engine::LocalImage& held, const char* label) {
    const auto found = held.labels.find(label);
    return found == held.labels.end() || found->second.size() < 16 ? "" : found->second;
  };
  if (const auto key = key_of(*before, "autopack.key"); !key.empty()) {
    docker.remove_image(name.reference.with_tag(key_tag(key)));
  }
  const auto dependencies = key_of(*before, "autopack.dependency-key");
  const auto now = docker.inspect(image.image_id);
  if (!dependencies.empty() && now && key_of(*now, "autopack.dependency-key") != dependencies) {
    docker.remove_image(name.reference.with_tag(dependency_tag(dependencies)));
  }
  return image;
}

std::string Image::uri() const {
  return digest ? repository + "@" + digest->str() : image_id;
}

nlohmann::json to_json(const Image& image) {
  auto layers = nlohmann::json::array();
  for (const auto& layer : image.layers) {
    layers.push_back({{"digest", layer.id}, {"size", layer.size}, {"uploaded", layer.uploaded}});
  }
  nlohmann::json dependencies;
  if (image.dependencies) {
    dependencies = {{"reused", image.dependencies->reused},
                    {"reason", to_text(*image.dependencies)}};
  }
  nlohmann::json result{{"uri", image.digest ? image.uri() : image.repository + ":" + image.tag},
                        {"digest", image.digest ? image.digest->str() : image.image_id},
                        {"tag", image.tag},
                        {"reused", image.outcome.reused},
                        {"reason", to_text(image.outcome)},
                        {"dependencies", std::move(dependencies)},
                        {"engine", image.engine},
                        {"layers", std::move(layers)},
                        {"bytes_uploaded", image.bytes_uploaded}};
  if (image.git) {
    result["git"] = {{"revision", image.git->revision},
                     {"remote", image.git->remote},
                     {"dirty", image.git->dirty}};
  }
  return result;
}

}  // namespace autopack::pipeline
