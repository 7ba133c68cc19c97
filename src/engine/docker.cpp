#include "engine/docker.hpp"

#include "engine/api.hpp"
#include "engine/build.hpp"
#include "engine/container.hpp"
#include "engine/container_owner.hpp"
#include "engine/containers.hpp"
#include "engine/held_image.hpp"
#include "engine/image_list.hpp"
#include "engine/images.hpp"

namespace autopack::engine {

namespace {

class DockerEngine final : public Docker {
public:
  explicit DockerEngine(const DockerOptions& options)
      : options_{options}, api_{options}, cancellation_{options.cancellation} {}

  const EngineInfo& info() override { return api_.info(); }

  std::optional<LocalImage> inspect(const std::string& reference) override {
    return inspect_image(api_, reference);
  }

  std::optional<std::vector<std::string>> repositories_with(const std::string& reference) override {
    return image_repositories(api_, reference);
  }

  Digest resolve(const image::Reference& reference) override {
    return resolve_digest(api_, reference);
  }

  void pull(const image::Reference& reference, const std::string& platform) override {
    pull_image(api_, reference, platform);
  }

  BuildResult build(const BuildRequest& request) override { return build_image(api_, request); }

  void tag(const std::string& image, const image::Reference& name) override {
    tag_image(api_, image, name);
  }

  PushResult push(const image::Reference& name) override { return push_image(api_, name); }

  void remove_image(const std::string& reference) override {
    engine::remove_image(api_, reference);
  }

  std::vector<ListedImage> list_images(const std::string& label) override {
    return engine::list_images(api_, label);
  }

  std::vector<std::string> left_containers() override { return engine::left_containers(api_); }

  void remove_container(const std::string& name) override { api_.send(api_.removal_of(name)); }

  void save(const std::string& name, const std::function<void(std::string_view)>& sink) override {
    save_image(api_, name, sink);
  }

  void load(const std::function<std::size_t(char*, std::size_t)>& read) override {
    load_images(api_, read);
  }

  std::optional<image::Source> held(const std::string& name) override {
    return held_image(api_, name);
  }

  std::vector<std::int64_t> run_times(const std::string& image) override {
    return image_run_times(api_, image);
  }

  std::optional<std::string> read_file(const std::string& image,
                                       const std::string& path,
                                       std::size_t limit) override {
    return read_image_file(api_, image, path, limit);
  }

  void with_files(const std::string& image,
                  const std::string& platform,
                  const std::function<void(ImageFiles& files)>& use) override {
    with_image_files(api_, image, platform, use);
  }

  Containers& containers() override {
    if (!containers_) {
      containers_ = make_containers(options_);
    }
    return *containers_;
  }

  int run(const ContainerSpec& spec, const ContainerStreams& streams) override {
    return run_container(api_, spec, streams, cancellation_);
  }

private:
  DockerOptions options_;
  Api api_;
  const Cancellation* cancellation_;
  std::unique_ptr<Containers> containers_{};
};

}  // namespace

std::unique_ptr<Docker> make_docker(const DockerOptions& options) {
  return std::make_unique<DockerEngine>(options);
}

}  // namespace autopack::engine
