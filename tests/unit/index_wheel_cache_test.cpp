#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/named_hash.hpp"
#include "base/text.hpp"
#include "index/wheel_cache.hpp"
#include "support/loopback_server.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <charconv>
#include <set>
#include <thread>

namespace autopack::index_wheel_cache_test {

using namespace autopack::index;
using autopack::testing::LoopbackServer;
using autopack::testing::ReceivedRequest;
using autopack::testing::Reply;

namespace {

namespace fs = std::filesystem;

/// Bytes without a pattern that a shift would repeat.
std::string content(std::size_t size, int start = 1) {
  auto seed = static_cast<unsigned>(start);
  std::string bytes(size, '\0');
  for (auto& byte : bytes) {
    seed = seed * 1664525U + 1013904223U;
    byte = static_cast<char>(seed >> 24U);
  }
  return bytes;
}

python::Hash hash_of(const std::string& bytes, const char* algorithm = "sha256") {
  auto hasher = NamedHash::make(algorithm);
  hasher->update(bytes);
  return {algorithm, hasher->finish()};
}

/// Returns the response of a server that supports ranges.
Reply part_of(const std::string& bytes, const ReceivedRequest& request) {
  const std::string range = request.header("range");
  if (!range.starts_with("bytes=")) {
    return {.headers = {{"ETag", "\"1\""}}, .body = bytes};
  }
  std::size_t first = 0;
  std::from_chars(range.data() + 6, range.data() + range.size(), first);
  if (first >= bytes.size()) {
    return {.status = 416, .headers = {{"Content-Range", fmt::format("bytes */{}", bytes.size())}}};
  }
  return {.status = 206,
          .headers = {{"ETag", "\"1\""},
                      {"Content-Range",
                       fmt::format("bytes {}-{}/{}", first, bytes.size() - 1, bytes.size())}},
          .body = bytes.substr(first)};
}

struct Cache {
  template <class Action>
  auto with(const Action& action) {
    const Access access{{.client = client.get(),
                         .settings = settings,
                         .sleep = [this](std::chrono::milliseconds) { ++sleeps; }}};
    WheelCache cache{access, options};
    return action(cache);
  }

  CachedFile get(const Download& what, const Progress& progress = {}) {
    return with([&](WheelCache& cache) { return cache.get(what, progress); });
  }

  /// Returns message and causes of an Error.
  std::string refusal(const Download& what) {
    try {
      get(what);
    } catch (const Error& error) {
      return error.message() + ": " + join(error.causes(), ": ");
    }
    return "";
  }

  /// Returns the names of all regular files.
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator{directory.path()}) {
      if (entry.is_regular_file()) {
        names.insert(entry.path().filename().string());
      }
    }
    return names;
  }

  std::unique_ptr<http::Client> client{http::make_client({})};
  IndexSettings settings{};
  TemporaryDirectory directory{};
  WheelCacheOptions options{.directory = directory.path() / "wheels"};
  std::atomic<int> sleeps{0};
};

const std::string bytes = content(300'000);

}  // namespace

TEST_CASE("files from other sources are found by hash, and failures leave nothing") {
  Cache cache;
  const auto added = cache.with([&](WheelCache& wheels) {
    return wheels.add([&](const WheelCache::Take& out) {
      out(std::string_view{bytes}.substr(0, 7));
      out(std::string_view{bytes}.substr(7));
    });
  });
  CHECK(added.sha256 == hash_of(bytes).hex);
  CHECK(added.size == bytes.size());
  const auto found = cache.with([&](WheelCache& wheels) { return wheels.find(added.sha256); });
  REQUIRE(found);
  CHECK(read_file(found->path) == bytes);
  CHECK_THROWS_AS(cache.with([&](WheelCache& wheels) {
    return wheels.add([&](const WheelCache::Take& out) {
      out("half");
      throw Error(ErrorKind::remote, "cut");
    });
  }),
                  Error);
  CHECK(cache.files() == std::set{found->path.filename().string()});
}

TEST_CASE("a cached file with other bytes, or that others could have written, is fetched again") {
  std::atomic<int> asked{0};
  LoopbackServer server{[&](const ReceivedRequest& request) {
    ++asked;
    return part_of(bytes, request);
  }};
  Cache cache;
  const Download what{.name = "a.whl",
                      .url = server.url() + "/a.whl",
                      .hashes = {hash_of(bytes)},
                      .size = bytes.size()};
  const auto path = cache.get(what).path;
  cache.get(what);
  CHECK(asked == 1);
  const auto permissions = [](const fs::path& file) { return fs::status(file).permissions(); };
  CHECK((permissions(path) & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
  CHECK(permissions(path.parent_path()) == fs::perms::owner_all);
  auto other = bytes;
  other[bytes.size() / 2] ^= 1;
  write_file(path, other);
  CHECK(cache.with([&](WheelCache& wheels) { return wheels.has(hash_of(bytes).hex); }));
  CHECK_FALSE(cache.with([&](WheelCache& wheels) { return wheels.find(hash_of(bytes).hex); }));
  CHECK(read_file(cache.get(what).path) == bytes);
  CHECK(asked == 2);
  fs::permissions(path, fs::perms::group_write, fs::perm_options::add);
  CHECK(read_file(cache.get(what).path) == bytes);
  CHECK(asked == 3);
  fs::rename(path, path.string() + ".moved");
  fs::create_symlink(path.string() + ".moved", path);
  CHECK(read_file(cache.get(what).path) == bytes);
  CHECK(asked == 4);
}

TEST_CASE("hashes by name are those that everybody knows") {
  const std::vector<std::pair<const char*, const char*>> known{
      {"md5", "900150983cd24fb0d6963f7d28e17f72"},
      {"sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"},
      {"sha224", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"},
      {"sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"sha384",
       "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c"
       "8"
       "25a7"},
      {"sha512",
       "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3f"
       "e"
       "ebbd454d4423643ce80e2a9ac94fa54ca49f"}};
  for (const auto& [name, digits] : known) {
    const auto& shown = name;  // clang 14 captures no binding
    CAPTURE(shown);
    CHECK(hash_of("abc", name).hex == digits);
  }
  CHECK_FALSE(NamedHash::make("blake2b"));
}

TEST_CASE("a file is downloaded once, verified, and found again") {
  std::atomic<int> requests{0};
  LoopbackServer server{[&](const ReceivedRequest& request) {
    ++requests;
    return part_of(bytes, request);
  }};
  Cache cache;
  const Download what{.name = "a.whl", .url = server.url() + "/a.whl", .hashes = {hash_of(bytes)}};
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  const auto file = cache.get(what, [&](std::uint64_t now, std::uint64_t all) {
    CHECK(now >= done);
    done = now;
    total = all;
  });
  CHECK(done == bytes.size());
  CHECK(total == bytes.size());
  CHECK(read_file(file.path) == bytes);
  CHECK(file.sha256 == sha256(bytes).hex());
  CHECK(file.size == bytes.size());
  CHECK(cache.get(what).path == file.path);
  CHECK(cache
            .get({.name = "b.whl",
                  .url = "https://nowhere.test",
                  .hashes = what.hashes,
                  .size = bytes.size()})
            .path == file.path);
  CHECK(requests == 1);
  CHECK(cache.files().size() == 1);
  cache.with([&](WheelCache& wheels) {
    CHECK(wheels.find(file.sha256).value().path == file.path);
    CHECK_FALSE(wheels.find(std::string(64, '0')));
    CHECK_FALSE(wheels.find("../" + file.sha256));
    wheels.forget(file.sha256);
    CHECK_FALSE(wheels.find(file.sha256));
  });
}

TEST_CASE("a kept file of another size is fetched again") {
  LoopbackServer server{[&](const ReceivedRequest& request) { return part_of(bytes, request); }};
  Cache cache;
  const Download what{.name = "a.whl", .url = server.url() + "/a.whl", .hashes = {hash_of(bytes)}};
  const auto file = cache.get(what);
  fs::resize_file(file.path, 1000);
  CHECK(read_file(cache.get(what).path) == bytes);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("any hash that is named suffices, but a weak one only alone") {
  LoopbackServer server{[&](const ReceivedRequest& request) { return part_of(bytes, request); }};
  const python::Hash wrong{"sha256", std::string(64, '0')};
  const python::Hash weak = hash_of(bytes, "md5");
  const std::vector<std::pair<std::vector<python::Hash>, bool>> cases{
      {{}, true},
      {{wrong, hash_of(bytes)}, true},
      {{wrong, hash_of(bytes, "sha512")}, true},
      {{hash_of(bytes, "sha384")}, true},
      {{weak}, true},
      {{{"sha1", "00"}, weak}, true},
      {{wrong, weak}, false},
      {{wrong}, false},
      {{{"sha256", ""}}, false},
  };
  for (const auto& [hashes, fits] : cases) {
    Cache cache;
    CHECK(cache.refusal({.name = "a", .url = server.url(), .hashes = hashes}).empty() == fits);
    CHECK(cache.files().size() == (fits ? 1U : 0U));
    if (fits) {
      CHECK(cache.get({.name = "a", .url = server.url(), .hashes = hashes}).sha256 ==
            sha256(bytes).hex());
    }
  }
}

TEST_CASE("a server that lies is refused by name, and nothing is kept") {
  const std::string other = content(300'000, 2);
  const python::Hash right = hash_of(bytes);
  const auto refusal = [](const Reply& reply, const Download& what) {
    LoopbackServer server{[&](const ReceivedRequest&) { return reply; }};
    Cache cache;
    cache.settings.retries = 1;
    Download asked = what;
    asked.url = server.url() + "/a.whl";
    const auto said = cache.refusal(asked);
    CHECK(cache.files().empty());
    return replace_all(said, server.url(), "HOST");
  };
  const Download plain{.name = "a.whl", .hashes = {right}};
  CHECK(refusal({.body = other}, plain) ==
        fmt::format("`a.whl` was not downloaded: HOST/a.whl: its hash is sha256:{}, not sha256:{}",
                    sha256(other).hex(), right.hex));
  const Download sized{.name = "a.whl", .hashes = {right}, .size = 300'000};
  CHECK(refusal({.body = bytes + "x"}, sized) ==
        "`a.whl` was not downloaded: HOST/a.whl: the server's file has 300001 bytes, not 300000");
  CHECK(refusal({.body = bytes + "x", .chunked = true}, sized) ==
        "`a.whl` was not downloaded: HOST/a.whl: the server sends more than 300000 bytes");
  CHECK(refusal({.body = bytes.substr(1), .chunked = true}, sized) ==
        "`a.whl` was not downloaded: HOST/a.whl: it has 299999 bytes, not 300000");
  CHECK(
      refusal({.status = 206, .headers = {{"Content-Range", "bytes 5-9/300000"}}, .body = "12345"},
              plain) ==
      "`a.whl` was not downloaded: HOST/a.whl: the server sent another part of the file than "
      "requested");
  CHECK(refusal({.status = 404, .body = "gone"}, plain) ==
        "could not download `a.whl`: GET HOST/a.whl: 404: gone");
}

TEST_CASE("without a hash a file comes from nobody whom others could play") {
  Cache cache;
  CHECK(cache.refusal({.name = "a", .url = "http://plain.test/a"}) ==
        "`a` was not downloaded: http://plain.test/a: it has no hash, and its URL is not https");
  cache.settings.retries = 0;
  cache.settings.trusted_hosts = {"plain.test"};
  LoopbackServer proxy{[&](const ReceivedRequest& request) { return part_of(bytes, request); }};
  cache.settings.proxy = Secret{proxy.url()};
  CHECK(read_file(cache.get({.name = "a", .url = "http://plain.test/a"}).path) == bytes);
}

TEST_CASE("a file is no larger than the limit, whatever is said of it") {
  LoopbackServer server{[&](const ReceivedRequest& request) {
    return Reply{.body = bytes, .chunked = request.target == "/chunked"};
  }};
  for (const auto* const path : {"/chunked", "/sized"}) {
    Cache cache;
    cache.options.largest = 100'000;
    CHECK_FALSE(cache.refusal({.name = "a", .url = server.url() + path}).empty());
    CHECK_FALSE(cache.refusal({.name = "a", .url = server.url() + path, .size = 300'000}).empty());
    CHECK(cache.files().empty());
  }
}

TEST_CASE("a download that breaks off is gone on with") {
  for (const bool ranges : {true, false}) {
    CAPTURE(ranges);
    std::atomic<int> left{3};
    LoopbackServer server{[&](const ReceivedRequest& request) {
      Reply reply = ranges ? part_of(bytes, request) : Reply{.body = bytes};
      if (left-- > 0) {
        reply.drop_after = 70'000;
      }
      return reply;
    }};
    Cache cache;
    const Download what{.name = "a.whl", .url = server.url(), .hashes = {hash_of(bytes)}};
    CHECK(read_file(cache.get(what).path) == bytes);
    const auto requests = server.requests();
    REQUIRE(requests.size() == 4);
    CHECK(requests[1].header("if-range") == (ranges ? "\"1\"" : ""));
    CHECK(requests[1].header("range") == "bytes=70000-");
    CHECK(requests[3].header("range") == (ranges ? "bytes=210000-" : "bytes=70000-"));
  }
}

TEST_CASE("the next run resumes a broken download if the hash allows it") {
  for (const bool hashed : {true, false}) {
    CAPTURE(hashed);
    std::atomic<bool> broken{true};
    LoopbackServer server{[&](const ReceivedRequest& request) {
      Reply reply = part_of(bytes, request);
      if (broken) {
        reply.drop_after = request.header("range").empty() ? 70'000 : 0;
      }
      return reply;
    }};
    Cache cache;
    cache.settings.retries = 0;
    Download what{.name = "a.whl", .url = server.url()};
    if (hashed) {
      what.hashes = {hash_of(bytes)};
    }
    CHECK(cache.refusal(what).starts_with("could not download `a.whl`"));
    CHECK(cache.files().size() == 1);
    broken = false;
    CHECK(read_file(cache.get(what).path) == bytes);
    CHECK(server.requests().back().header("range") == (hashed ? "bytes=70000-" : ""));
    CHECK(cache.files().size() == 1);
  }
}

TEST_CASE("leftovers of another file do not corrupt this one") {
  // The same length, beyond the end, and a server without such a range.
  for (const std::size_t length : {70'000U, 300'000U, 400'000U}) {
    CAPTURE(length);
    std::atomic<bool> broken{true};
    LoopbackServer server{[&](const ReceivedRequest& request) {
      if (broken) {
        Reply reply{.headers = {{"Content-Length", "500000"}}, .body = content(length, 7)};
        reply.drop_after = length;
        return reply;
      }
      return part_of(bytes, request);
    }};
    Cache cache;
    cache.settings.retries = 0;
    const Download what{.name = "a.whl", .url = server.url(), .hashes = {hash_of(bytes)}};
    CHECK_FALSE(cache.refusal(what).empty());
    broken = false;
    CHECK(read_file(cache.get(what).path) == bytes);
  }
}

TEST_CASE("a stalled server is left after the time that pip's settings give it") {
  std::atomic<int> count{0};
  LoopbackServer server{[&](const ReceivedRequest& request) {
    Reply reply = part_of(bytes, request);
    reply.stall = std::chrono::seconds{count++ == 0 ? 60 : 0};
    return reply;
  }};
  Cache cache;
  cache.settings.timeout = std::chrono::seconds{1};
  const Download what{.name = "a.whl", .url = server.url(), .hashes = {hash_of(bytes)}};
  CHECK(read_file(cache.get(what).path) == bytes);
  CHECK(cache.sleeps == 1);
}

TEST_CASE("several files are fetched at once and reported on arrival, and one failure ends it") {
  LoopbackServer server{[&](const ReceivedRequest& request) {
    return request.target == "/missing" ? Reply{.status = 404}
                                        : part_of(content(50'000, request.target.back()), request);
  }};
  Cache cache;
  std::vector<Download> downloads;
  for (const char name : std::string_view{"abcdefgha"}) {
    downloads.push_back({.name = {name},
                         .url = server.url() + "/" + name,
                         .hashes = {hash_of(content(50'000, name))},
                         .size = name < 'd' ? std::optional{std::uint64_t{50'000}} : std::nullopt});
  }
  std::set<std::size_t> arrived;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  const auto files = cache.with([&](WheelCache& wheels) {
    return wheels.get_all(
        downloads,
        [&](std::uint64_t now, std::uint64_t all) {
          done = now;
          total = all;
        },
        [&](std::size_t index, const CachedFile& file) {
          CHECK(fs::exists(file.path));
          arrived.insert(index);
        });
  });
  CHECK(arrived.size() == 9);
  REQUIRE(files.size() == 9);
  for (std::size_t i = 0; i < files.size(); ++i) {
    CHECK("sha256:" + files[i].sha256 == "sha256:" + downloads[i].hashes[0].hex);
  }
  CHECK(cache.files().size() == 8);
  CHECK(done == total);
  downloads.push_back({.name = "missing", .url = server.url() + "/missing"});
  CHECK_THROWS_WITH_AS(cache.with([&](WheelCache& wheels) { return wheels.get_all(downloads); }),
                       "could not download `missing`", Error);
}

TEST_CASE("other downloads end soon after a failure") {
  LoopbackServer server{[&](const ReceivedRequest& request) {
    Reply reply{.status = 404};
    if (request.target == "/slow") {
      reply = part_of(bytes, request);
      reply.piece = 8;
    }
    return reply;
  }};
  Cache cache;
  const std::vector<Download> downloads{
      {.name = "slow", .url = server.url() + "/slow", .hashes = {hash_of(bytes)}},
      {.name = "missing", .url = server.url() + "/missing"}};
  CHECK_THROWS_WITH_AS(cache.with([&](WheelCache& wheels) { return wheels.get_all(downloads); }),
                       "could not download `missing`", Error);
  cache.with([&](WheelCache& wheels) { CHECK_FALSE(wheels.find(downloads[0])); });
}

TEST_CASE("whoever wants a file that somebody else is downloading waits for it") {
  std::atomic<int> requests{0};
  LoopbackServer server{[&](const ReceivedRequest& request) {
    ++requests;
    Reply reply = part_of(bytes, request);
    reply.piece = 4096;
    return reply;
  }};
  Cache cache;
  const Download what{.name = "a.whl", .url = server.url(), .hashes = {hash_of(bytes)}};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] { cache.with([&](WheelCache& wheels) { wheels.get(what); }); });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  CHECK(requests == 1);
  CHECK(cache.files().size() == 1);
}

TEST_CASE("a login goes to the file's own host, and not behind a redirect to another") {
  LoopbackServer storage{[&](const ReceivedRequest& request) { return part_of(bytes, request); }};
  LoopbackServer server{[&](const ReceivedRequest&) {
    return Reply{.status = 307, .headers = {{"Location", storage.url() + "/blob?signed=1"}}};
  }};
  Cache cache;
  cache.settings.indexes = {Location::parse("http://me:pa55word@" + server.url().substr(7))};
  cache.get({.name = "a.whl", .url = server.url() + "/a.whl", .hashes = {hash_of(bytes)}});
  CHECK_FALSE(server.requests().at(0).header("authorization").empty());
  CHECK(storage.requests().at(0).header("authorization").empty());
}

TEST_CASE("local files are taken into the cache, and verified too") {
  Cache cache;
  const fs::path source = cache.directory.path() / "a b.whl";
  write_file(source, bytes);
  const std::string url = "file://" + replace_all(source.string(), " ", "%20");
  CHECK(read_file(cache.get({.name = "a", .url = url, .hashes = {hash_of(bytes)}}).path) == bytes);
  CHECK_FALSE(cache.refusal({.name = "a", .url = url, .hashes = {hash_of("x")}}).empty());
  CHECK_FALSE(cache.refusal({.name = "a", .url = url + "x"}).empty());
  CHECK_FALSE(cache.refusal({.name = "a", .url = "ftp://h.test/a"}).empty());
}

TEST_CASE("no local file that has no end is waited for") {
  Cache cache;
  const auto pipe = cache.directory.path() / "pipe.whl";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_FALSE(cache.refusal({.name = "a", .url = "file://" + pipe.string()}).empty());
  CHECK_FALSE(cache.refusal({.name = "a", .url = "file:///dev/zero"}).empty());
}

TEST_CASE("files unused for long are removed, and the oldest above the limit") {
  LoopbackServer server{[&](const ReceivedRequest& request) {
    return part_of(content(1000, request.target.back()), request);
  }};
  Cache cache;
  const auto get = [&](char name, std::chrono::hours age) {
    const auto file = cache.get({.name = {name}, .url = server.url() + "/" + name});
    fs::last_write_time(file.path, fs::file_time_type::clock::now() - age);
    return file.path;
  };
  cache.options.limit = 2500;
  const auto ancient = get('a', std::chrono::hours{24 * 91});
  const auto old = get('b', std::chrono::hours{5});
  CHECK_FALSE(fs::exists(ancient));
  const auto used = get('c', std::chrono::hours{9});
  cache.with(
      [&](WheelCache& wheels) { CHECK(wheels.find(used.filename().string().substr(0, 64))); });
  const auto young = get('d', std::chrono::hours{0});
  CHECK_FALSE(fs::exists(old));
  CHECK(fs::exists(used));
  // Somebody may be reading it now.
  get('e', std::chrono::hours{0});
  CHECK(fs::exists(young));
  CHECK(fs::exists(used));
}

}  // namespace autopack::index_wheel_cache_test
