#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/packaging_options.hpp"
#include "cli/project_images.hpp"
#include "cli/text_table.hpp"
#include "inventory/cleaning.hpp"
#include "inventory/held_images.hpp"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace autopack::cli {

namespace {

/// Each costs one request to the registry.
constexpr std::size_t most_in_registry{100};
constexpr std::size_t column_of_current{3};

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string total_text(const std::vector<inventory::CachePart>& parts) {
  std::uint64_t size = 0;
  for (const auto& part : parts) {
    size += part.size;
  }
  return human_size(size);
}

class ImagesCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    add_packaging_flags(flags, packaging_);
    add_build_flags(flags, build_);
  }

  int run(Session& session) override {
    check_build_options(build_, session.flags);
    const auto project = find_project_images(session, packaging_, build_);
    auto all = nlohmann::json::array();
    TableRows rows{{"PLACE", "NAME", "KIND", "CURRENT", "AGE", "SIZE", "DIGEST"}};
    const auto add = [&](const char* place, const std::vector<inventory::HeldImage>& images) {
      add_rows(rows, place, images, project);
      for (const auto& image : images) {
        all.push_back(to_json(place, image, project));
      }
    };
    if (const auto images = ask(session, [&] {
          return inventory::images_in_engine(session.services, project.repositories);
        })) {
      add("engine", *images);
    }
    if (project.name.has_registry) {
      add_registry(session, project, add);
    }
    const auto own = inventory::parts_of_project(session.services.environment, package_directory());
    const auto shared = inventory::all_parts(session.services.environment);
    const auto paint = session.console.output_paint();
    std::string text =
        rows.size() > 1
            ? text_table(rows, paint,
                         [&](std::size_t, std::size_t column, const std::string& cell) {
                           return column == column_of_current ? paint.green(cell) : cell;
                         })
            : "no image of this project\n";
    text += fmt::format("\ncache: {} of this project, {} of all projects\n", total_text(own),
                        total_text(shared));
    auto object = nlohmann::json{{"images", std::move(all)},
                                 {"repositories", project.repositories},
                                 {"cache", {{"project", to_json(own)}, {"all", to_json(shared)}}}};
    object["current"] = {{"image", or_null(project.image_key)},
                         {"dependencies", or_null(project.dependency_key)}};
    report_result(session, object, text);
    return 0;
  }

private:
  std::filesystem::path package_directory() const {
    return packaging_.texts.local_package_path.value_or(".");
  }

  /// Asks something that may be unavailable: then reports that, and returns nothing.
  static std::optional<std::vector<inventory::HeldImage>> ask(
      Session& session, const std::function<std::vector<inventory::HeldImage>()>& question) {
    try {
      return question();
    } catch (const Error& error) {
      session.console.warn(Problem::warning({.message = error.message(), .hints = error.hints()}));
      return std::nullopt;
    }
  }

  void add_registry(
      Session& session,
      const ProjectImages& project,
      const std::function<void(const char*, const std::vector<inventory::HeldImage>&)>& add) const {
    std::size_t left_out = 0;
    const auto images = ask(session, [&] {
      auto found = inventory::images_in_registry(session.services, project.name.reference,
                                                 build_.platform, most_in_registry);
      left_out = found.left_out;
      return std::move(found.images);
    });
    if (images) {
      add("registry", *images);
    }
    if (left_out > 0) {
      session.console.done("Left out", fmt::format("{} further images of the registry", left_out));
    }
  }

  static void add_rows(TableRows& rows,
                       const char* place,
                       const std::vector<inventory::HeldImage>& images,
                       const ProjectImages& project) {
    const auto now = seconds_now();
    for (const auto& image : images) {
      rows.push_back({place, printable(image.name), image.is_whole ? "image" : "dependencies",
                      project.is_current(image.key) ? "current" : "-",
                      image.time ? age_text(*image.time, now) : "-", human_size(image.size),
                      printable(short_digest(image.id))});
    }
  }

  /// Returns `44cf1d0f5ae1` for `sha256:44cf1d0f5ae1...`.
  static std::string short_digest(const std::string& id) {
    constexpr std::size_t digits{12};
    return id.substr(id.find(':') + 1, digits);
  }

  static nlohmann::json or_null(const std::optional<std::string>& text) {
    return text ? nlohmann::json(*text) : nlohmann::json();
  }

  static nlohmann::json to_json(const char* place,
                                const inventory::HeldImage& image,
                                const ProjectImages& project) {
    return {{"place", place},
            {"name", printable(image.name)},
            {"id", image.id},
            {"kind", image.is_whole ? "image" : "dependencies"},
            {"key", image.key},
            {"size", image.size},
            {"time", image.time ? nlohmann::json(*image.time) : nlohmann::json()},
            {"current", project.is_current(image.key)}};
  }

  static nlohmann::json to_json(const std::vector<inventory::CachePart>& parts) {
    auto list = nlohmann::json::array();
    for (const auto& part : parts) {
      list.push_back({{"name", part.name}, {"size", part.size}, {"files", part.files}});
    }
    return list;
  }

  PackagingOptions packaging_;
  BuildOptions build_;
};

}  // namespace

std::unique_ptr<Command> make_images_command() {
  return std::make_unique<ImagesCommand>();
}

}  // namespace autopack::cli
