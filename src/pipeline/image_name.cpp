#include "pipeline/image_name.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace autopack::pipeline {

packaging::ImageName name_image(const std::optional<std::string>& output_image,
                                const std::string& job_name,
                                const job::Location& location) {
  if (output_image) {
    if (job::names_region(*output_image) && !location.region) {
      throw Error(ErrorKind::usage,
                  fmt::format("`output-image-uri` `{}` has the word `REGION`, but no region is set",
                              printable(*output_image)))
          .hint("`--region us-central1`");
    }
    packaging::ImageName name{.reference = image::Reference::parse(
                                  job::with_region(*output_image, location.region.value_or("")))};
    if (name.reference.digest) {
      throw Error(
          ErrorKind::usage,
          fmt::format("`output-image-uri` `{}` names a digest, which only a push determines",
                      printable(*output_image)))
          .hint(fmt::format("`{}` lets autopack choose the tag", name.reference.repository()));
    }
    name.has_registry = name.reference.names_registry();
    return name;
  }
  const std::string component = image::sanitize_component(job_name);
  if (!location.is_complete()) {
    return {.reference = image::Reference::parse("autopack/" + component), .has_registry = false};
  }
  // A project of a domain, `example.com:name`, is a path of two components in image names.
  const std::string project = replace_all(*location.project, ":", "/");
  return {.reference = image::Reference::parse(fmt::format("{}-docker.pkg.dev/{}/autopack/{}",
                                                           *location.region, project, component)),
          .has_registry = true,
          .is_default = true};
}

std::string image_in_region(const std::string& uri,
                            const std::optional<std::string>& output_image,
                            job::Location location,
                            const std::string& region) {
  const auto digest = image::Reference::parse(uri).digest;
  if (!output_image || !job::names_region(*output_image) || !digest) {
    return uri;
  }
  location.region = region;
  const auto name = name_image(output_image, "", location).reference;
  return fmt::format("{}@{}", name.repository(), digest->str());
}

}  // namespace autopack::pipeline
