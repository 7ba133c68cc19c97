#include "base/new_file.hpp"
#include "base/text.hpp"
#include "bundle/bundle.hpp"
#include "bundle/squashfs.hpp"
#include "image/file_output.hpp"
#include "image/file_reference.hpp"
#include "publish/engine.hpp"
#include "publish/publishers.hpp"

#include <fmt/format.h>

namespace autopack::publish {

namespace {

namespace fs = std::filesystem;

using packaging::Output;
using packaging::Packaging;

std::vector<std::string> names_of(const Packaging& work) {
  std::vector<std::string> names{work.keyed_name().tagged()};
  if (work.name().reference.tag) {
    names.push_back(work.name().reference.tagged());
  }
  return names;
}

/// Loads the layers that the engine does not have yet; loads everything if the engine accepts no
/// partial image.
void load_missing(engine::Docker& docker,
                  const image::Source& image,
                  const std::vector<std::string>& names,
                  const std::vector<std::string>& candidates) {
  const std::size_t there = layers_there(docker, image, candidates);
  try {
    load(docker, image, names, there);
  } catch (const Error& error) {
    if (there == 0 || error.kind() != ErrorKind::remote) {
      throw;
    }
    load(docker, image, names, 0);
  }
}

void load_into_engine(engine::Docker& docker, const image::Source& source, const Packaging& work) {
  const auto& base = work.plan().base;
  const auto names = names_of(work);
  auto candidates = names;
  candidates.push_back(base.digest && !image::names_files(base.reference)
                           ? image::Reference::parse(base.reference).with_digest(*base.digest)
                           : image::build_name(base));
  load_missing(docker, source, names, candidates);
}

void write_archive_file(const image::Source& image,
                        const fs::path& path,
                        const std::vector<std::string>& names) {
  sweep_leftovers(path);
  NewFile file{path};
  image::write_archive(image, names, 0, [&](std::string_view bytes) { file.write(bytes); });
  file.commit();
}

class OutputPublisher : public packaging::Publisher {
public:
  OutputPublisher(Services& services, Output output)
      : services_{services}, output_{std::move(output)} {}

  void publish(const Packaging& work, packaging::MadeImage& made) override {
    if (output_.kind == Output::Kind::docker && made.in_engine) {
      return;
    }
    const image::Source& source = made.source.get();
    services_.cancellation->throw_if_requested();
    if (output_.kind == Output::Kind::taken) {
      output_.take(source);
      return;
    }
    with_context(fmt::format("could not write `{}`", printable(output_.text)), [&] {
      switch (output_.kind) {
        case Output::Kind::layout: image::write_layout(source, output_.path, output_.tag); break;
        case Output::Kind::archive: write_archive_file(source, output_.path, names_of(work)); break;
        case Output::Kind::bundle: bundle::write_bundle(stoppable(source), output_.path); break;
        case Output::Kind::squashfs: bundle::write_squashfs(stoppable(source), output_.path); break;
        case Output::Kind::docker: load(source, work, made.image); break;
        case Output::Kind::taken: break;
      }
    });
    services_.reporter->done("Wrote", printable(output_.text));
  }

private:
  /// Returns `source` so that reading it ends with Interrupted if the user stops the run.
  image::Source stoppable(image::Source source) const {
    source.open = [open = std::move(source.open),
                   cancellation = services_.cancellation](const image::Descriptor& layer) {
      return [reader = open(layer), cancellation](char* buffer, std::size_t size) {
        cancellation->throw_if_requested();
        return reader(buffer, size);
      };
    };
    return source;
  }

  void load(const image::Source& source, const Packaging& work, packaging::Image& image) {
    auto& docker = services_.docker();
    load_into_engine(docker, source, work);
    // In containerd's store the image's id is not the configuration's digest.
    if (const auto loaded = docker.inspect(work.keyed_name().tagged())) {
      image.image_id = loaded->id;
    }
  }

  Services& services_;
  Output output_;
};

}  // namespace

PublisherPtr to_output(Services& services, Output output) {
  return std::make_unique<OutputPublisher>(services, std::move(output));
}

}  // namespace autopack::publish
