#include "executor/remembered/repository_facts.hpp"
#include "executor/remembered/written_facts.hpp"
#include "image/archive_reader.hpp"
#include "image/layer.hpp"
#include "image/manifest.hpp"
#include "registry/client.hpp"
#include "state/blob_cache.hpp"
#include "support/memory_registry.hpp"
#include "support/recording_reporter.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace autopack::executor_remembered_test {

using autopack::testing::MemoryRegistry;
using autopack::testing::RecordingReporter;

namespace {

const Digest executor{sha256("an executor image")};
const std::string platform{"linux/amd64"};

image::LayerFacts layer_of(const std::string& bytes) {
  return {.digest = sha256(bytes),
          .diff_id = sha256("tar of " + bytes),
          .size = bytes.size(),
          .tar_size = 2 * bytes.size()};
}

struct Fixture {
  std::shared_ptr<registry::Repository> open() {
    return registry::make_repository("127.0.0.1:5000", "team/model", registry::Access::push,
                                     {.client = &registry});
  }

  /// Returns the facts as a machine with empty caches sees them.
  std::unique_ptr<RepositoryFacts> facts() { return facts_of(std::to_string(machines++)); }

  std::unique_ptr<RepositoryFacts> facts_of(const std::string& machine) {
    return std::make_unique<RepositoryFacts>([this] { return open(); }, directory.path() / "told",
                                             state::BlobCache{directory.path() / machine},
                                             reporter);
  }

  void keep(NewFacts new_facts) {
    facts()->keep(open(), executor, platform, [&](const RememberedFacts&) { return new_facts; });
  }

  TemporaryDirectory directory;
  MemoryRegistry registry;
  RecordingReporter reporter;
  int machines{0};
};

RememberedFacts some_facts() {
  return {.about = R"({"some":"facts"})",
          .layers = {{"key", layer_of("a layer")}},
          .texts = {{"list", {.digest = sha256("text"), .size = 4}}}};
}

image::Manifest manifest_of(const RememberedFacts& facts) {
  image::Manifest manifest{.config = {.digest = sha256(facts.about.value_or(""))}};
  for (const auto& [key, text] : facts.texts) {
    manifest.layers.push_back(text);
    manifest.layers.back().media_type = "application/vnd.autopack.note.v1+gzip";
    manifest.layers.back().annotations["autopack.note"] = key;
  }
  return manifest;
}

}  // namespace

TEST_CASE("one machine reads what another remembered") {
  Fixture fixture;
  fixture.open()->push_blob({.known = image::Descriptor{.digest = sha256("a layer"), .size = 7},
                             .open = registry::source_of("a layer")},
                            {});
  fixture.keep({.about = "facts",
                .layers = {{"there", layer_of("a layer")}, {"gone", layer_of("another")}},
                .texts = {{"one", "first text"}, {"two", std::string(100'000, 'x')}}});
  CHECK(fixture.reporter.details.empty());

  const auto facts = fixture.facts();
  facts->read(executor, platform);
  CHECK(facts->about() == "facts");
  CHECK(facts->texts({"two", "three", "one"}) ==
        std::map<std::string, std::string>{{"one", "first text"},
                                           {"two", std::string(100'000, 'x')}});
  CHECK(facts->has_text("one"));
  CHECK_FALSE(facts->has_text("three"));
  CHECK_FALSE(facts->layer("there"));
  facts->look_for_layers({"there", "gone", "never"});
  CHECK(facts->layer("there") == layer_of("a layer"));
  CHECK_FALSE(facts->layer("gone"));
  const auto reader = facts->open_layer({.digest = sha256("a layer"), .size = 7});
  std::string bytes(7, '\0');
  CHECK(reader(bytes.data(), bytes.size()) == 7);
  CHECK(bytes == "a layer");
}

TEST_CASE(
    "a layer of another size than the registry reports does not count, and its fact is corrected") {
  Fixture fixture;
  fixture.open()->push_blob({.known = image::Descriptor{.digest = sha256("a layer"), .size = 7},
                             .open = registry::source_of("a layer")},
                            {});
  auto wrong = layer_of("a layer");
  wrong.size = 8;
  fixture.keep({.about = "facts", .layers = {{"key", wrong}}});
  const auto facts = fixture.facts();
  facts->read(executor, platform);
  facts->look_for_layers({"key"});
  CHECK_FALSE(facts->layer("key"));
  fixture.keep({.layers = {{"key", layer_of("a layer")}}});
  const auto later = fixture.facts();
  later->read(executor, platform);
  later->look_for_layers({"key"});
  CHECK(later->layer("key") == layer_of("a layer"));
}

TEST_CASE("remembered facts are corrected or replaced by those that were found without them") {
  Fixture fixture;
  const auto foreign = layer_of("foreign");
  for (const auto old : {OldFacts::corrected, OldFacts::replaced}) {
    fixture.keep({.about = "wrong",
                  .layers = {{"same", layer_of("same")}, {"key", foreign}, {"other", foreign}},
                  .texts = {{"text", "wrong"}, {"other", "kept"}},
                  .lists = {{"list", "wrong"}}});
    const state::BlobCache blobs{fixture.directory.path() / "writer"};
    const auto wrong = write_facts(
        fixture.reporter, {*fixture.open(), blobs, executor, platform},
        [](const RememberedFacts& remembered) {
          CHECK(remembered == RememberedFacts{});
          return NewFacts{.about = "facts",
                          .layers = {{"same", layer_of("same")}, {"key", layer_of("own")}},
                          .texts = {{"text", "right"}},
                          .lists = {{"list", "right"}}};
        },
        old);
    CHECK(wrong == 1);
    CHECK(fixture.reporter.details.empty());
    for (const char* const bytes : {"own", "foreign", "same"}) {
      const std::string text = bytes;
      fixture.open()->push_blob(
          {.known = image::Descriptor{.digest = sha256(text), .size = text.size()},
           .open = registry::source_of(text)},
          {});
    }
    const auto facts = fixture.facts();
    facts->read(executor, platform);
    CHECK(facts->about() == "facts");
    facts->look_for_layers({"same", "key", "other"});
    CHECK(facts->layer("same") == layer_of("same"));
    CHECK(facts->layer("key") == layer_of("own"));
    CHECK(facts->layer("other").has_value() == (old == OldFacts::corrected));
    std::map<std::string, std::string> texts{{"text", "right"}, {"list", "right"}};
    if (old == OldFacts::corrected) {
      texts["other"] = "kept";
    }
    CHECK(facts->texts({"text", "list", "other"}) == texts);
  }
}

TEST_CASE("new facts are added to remembered ones, and nothing is sent twice") {
  Fixture fixture;
  fixture.keep({.about = "facts", .layers = {{"a", layer_of("a")}}, .texts = {{"one", "1"}}});
  fixture.keep({.layers = {{"b", layer_of("b")}}, .texts = {{"two", "2"}}});
  const auto before = fixture.registry.requests().size();
  fixture.keep({.layers = {{"b", layer_of("b")}}, .texts = {{"two", "2"}}});
  const auto requests = fixture.registry.requests();
  CHECK(std::all_of(requests.begin() + static_cast<std::ptrdiff_t>(before), requests.end(),
                    [](const auto& request) { return request.starts_with("GET "); }));
  const auto facts = fixture.facts();
  facts->read(executor, platform);
  CHECK(facts->about() == "facts");
  CHECK(facts->texts({"one", "two"}) ==
        std::map<std::string, std::string>{{"one", "1"}, {"two", "2"}});
}

TEST_CASE("a machine asks the repository only whether its own facts are still there") {
  Fixture fixture;
  fixture.facts_of("one")->keep(fixture.open(), executor, platform, [&](const RememberedFacts&) {
    return NewFacts{.about = "facts", .texts = {{"small", "text"}}};
  });
  const auto count_blobs = [&](const std::string& machine) {
    const auto before = static_cast<std::ptrdiff_t>(fixture.registry.requests().size());
    const auto facts = fixture.facts_of(machine);
    facts->read(executor, platform);
    CHECK(facts->about() == "facts");
    CHECK(facts->texts({"small"}).at("small") == "text");
    const auto requests = fixture.registry.requests();
    return std::count_if(requests.begin() + before, requests.end(), [](const auto& request) {
      return request.find("/blobs/") != std::string::npos;
    });
  };
  CHECK(count_blobs("one") == 0);
  CHECK(count_blobs("two") == 2);
  CHECK(count_blobs("two") == 0);
}

TEST_CASE("lists are gathered in one blob, and remembered once") {
  Fixture fixture;
  fixture.keep({.texts = {{"text", "alone"}, {"same", "alone"}},
                .lists = {{"one", "1"}, {"two", "2"}, {"long", std::string(1'500'000, 'x')}}});
  CHECK(fixture.reporter.details.empty());
  const auto blobs_since = [&](std::size_t before) {
    const auto requests = fixture.registry.requests();
    return std::count_if(requests.begin() + static_cast<std::ptrdiff_t>(before), requests.end(),
                         [](const auto& request) {
                           return request.starts_with("PUT ") &&
                                  request.find("/blobs/") != std::string::npos;
                         });
  };
  // Two texts, the short lists, the long one, and the index.
  CHECK(blobs_since(0) == 5);

  auto before = fixture.registry.requests().size();
  const auto facts = fixture.facts();
  facts->read(executor, platform);
  CHECK(facts->texts({"two", "one", "same", "text", "none"}) ==
        std::map<std::string, std::string>{
            {"one", "1"}, {"same", "alone"}, {"text", "alone"}, {"two", "2"}});
  CHECK(facts->texts({"long"}).at("long").size() == 1'500'000);
  const auto requests = fixture.registry.requests();
  CHECK(std::count_if(requests.begin() + static_cast<std::ptrdiff_t>(before), requests.end(),
                      [](const auto& request) { return request.starts_with("GET "); }) == 5);

  before = requests.size();
  fixture.keep({.lists = {{"one", "another 1"}, {"three", "3"}}});
  CHECK(blobs_since(before) == 2);
  const auto later = fixture.facts();
  later->read(executor, platform);
  CHECK(later->texts({"one", "two", "three"}) ==
        std::map<std::string, std::string>{{"one", "1"}, {"three", "3"}, {"two", "2"}});
}

TEST_CASE("lists that are not as they should be are none") {
  for (const std::string bytes :
       {R"({"one":1,"two":["2"]})", R"(["one"])", R"({"one":"1")", "no JSON"}) {
    CAPTURE(bytes);
    Fixture fixture;
    fixture.keep({.lists = {{"one", "1"}, {"two", "2"}}});
    const auto repository = fixture.open();
    const auto put = fixture.registry.requests().back();
    const auto tag = put.substr(put.rfind('/') + 1);
    auto manifest = image::parse_manifest(repository->manifest(tag)->text, "notes");
    const auto packed = image::compressed(bytes);
    manifest.layers.at(0).digest = sha256(packed);
    manifest.layers.at(0).size = packed.size();
    repository->push_blob({.known = manifest.layers.at(0), .open = registry::source_of(packed)},
                          {});
    const auto text = image::to_json(manifest);
    repository->put_manifest(
        {.media_type = manifest.media_type, .text = text, .digest = sha256(text)}, tag);
    const auto facts = fixture.facts();
    facts->read(executor, platform);
    CHECK(facts->texts({"one", "two"}).empty());
  }
}

TEST_CASE("another executor image has facts of its own") {
  Fixture fixture;
  fixture.keep({.about = "facts"});
  const auto facts = fixture.facts();
  facts->read(sha256("another executor image"), platform);
  CHECK_FALSE(facts->about());
  facts->read(executor, "linux/arm64");
  CHECK_FALSE(facts->about());
  facts->read(executor, platform);
  CHECK(facts->about() == "facts");
}

TEST_CASE("damaged facts are ignored") {
  const auto good = some_facts();
  const auto text = facts_json(good, executor, platform);
  CHECK(read_facts(manifest_of(good), text, executor, platform) == [&] {
    auto expected = good;
    expected.texts[0].second.media_type = "application/vnd.autopack.note.v1+gzip";
    return expected;
  }());

  struct Row {
    const char* what;
    std::function<void(std::string& text, image::Manifest& manifest)> change;
  };

  const auto replace = [](std::string& in, const std::string& from, const std::string& to) {
    const auto at = in.find(from);
    REQUIRE(at != std::string::npos);
    in.replace(at, from.size(), to);
  };
  const std::vector<Row> rows{
      {"cut off", [](auto& it, auto&) { it.resize(it.size() - 1); }},
      {"another format", [&](auto& it, auto&) { replace(it, R"("format":1)", R"("format":2)"); }},
      {"of another image", [&](auto& it, auto&) { replace(it, executor.hex(), sha256("").hex()); }},
      {"of another platform", [&](auto& it, auto&) { replace(it, "amd64", "arm64"); }},
      {"a digest of another kind",
       [&](auto& it, auto&) { replace(it, R"("digest":"sha256)", R"("digest":"md5)"); }},
      {"a size that is a text",
       [&](auto& it, auto&) { replace(it, R"("size":7)", R"("size":"7")"); }},
      {"a size below zero", [&](auto& it, auto&) { replace(it, R"("size":7)", R"("size":-1)"); }},
      {"a size of no layer",
       [&](auto& it, auto&) { replace(it, R"("size":7)", R"("size":18446744073709551615)"); }},
      {"a size of a tar below zero",
       [&](auto& it, auto&) { replace(it, R"("tar_size":14)", R"("tar_size":-14)"); }},
      {"a long key",
       [&](auto& it, auto&) {
         replace(it, R"("key":"key")", R"("key":")" + std::string(201, 'k') + "\"");
       }},
      {"too long", [](auto& it, auto&) { it += std::string(4U << 20U, ' '); }},
      {"too many texts",
       [](auto&, auto& manifest) { manifest.layers.resize(401, manifest.layers[0]); }},
      {"too many keys of one blob",
       [](auto&, auto& manifest) {
         for (int i = 0; i < 400; ++i) {
           manifest.layers[0].annotations["autopack.note"] += " k";
         }
       }},
  };
  for (const auto& row : rows) {
    CAPTURE(row.what);
    auto changed = text;
    auto manifest = manifest_of(good);
    row.change(changed, manifest);
    CHECK_FALSE(read_facts(manifest, changed, executor, platform));
  }
}

TEST_CASE("a repository that cannot be read or written costs a line and no error") {
  Fixture fixture;
  RepositoryFacts facts{[]() -> std::shared_ptr<registry::Repository> {
                          throw Error(ErrorKind::remote, "it is closed");
                        },
                        fixture.directory.path(), state::BlobCache{fixture.directory.path()},
                        fixture.reporter};
  facts.read(executor, platform);
  CHECK_FALSE(facts.about());
  REQUIRE(fixture.reporter.details.size() == 1);
  CHECK(fixture.reporter.details[0].find("it is closed") != std::string::npos);
}

}  // namespace autopack::executor_remembered_test
