#include "bundle/squashfs.hpp"

#include "base/error.hpp"
#include "base/library.hpp"
#include "base/new_file.hpp"
#include "base/text.hpp"
#include "bundle/start_files.hpp"
#include "image/tar.hpp"

#include <fmt/format.h>
#include <sqfs/block_processor.h>
#include <sqfs/block_writer.h>
#include <sqfs/compressor.h>
#include <sqfs/dir_writer.h>
#include <sqfs/error.h>
#include <sqfs/frag_table.h>
#include <sqfs/id_table.h>
#include <sqfs/inode.h>
#include <sqfs/io.h>
#include <sqfs/meta_writer.h>
#include <sqfs/super.h>
#include <sqfs/xattr_writer.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

namespace autopack::bundle {

namespace {

namespace fs = std::filesystem;
using image::RootFile;

/// The functions of libsquashfs in use, by their names without `sqfs_`.
#define AUTOPACK_SQUASHFS_FUNCTIONS(X) \
  X(block_processor_append);           \
  X(block_processor_begin_file);       \
  X(block_processor_create_ex);        \
  X(block_processor_end_file);         \
  X(block_processor_finish);           \
  X(block_writer_create);              \
  X(compressor_config_init);           \
  X(compressor_create);                \
  X(dir_writer_add_entry);             \
  X(dir_writer_begin);                 \
  X(dir_writer_create);                \
  X(dir_writer_create_inode);          \
  X(dir_writer_end);                   \
  X(dir_writer_write_export_table);    \
  X(frag_table_create);                \
  X(frag_table_write);                 \
  X(free);                             \
  X(id_table_create);                  \
  X(id_table_id_to_index);             \
  X(id_table_write);                   \
  X(inode_make_extended);              \
  X(inode_set_xattr_index);            \
  X(meta_write_write_to_file);         \
  X(meta_writer_create);               \
  X(meta_writer_flush);                \
  X(meta_writer_get_position);         \
  X(meta_writer_write_inode);          \
  X(open_file);                        \
  X(super_init);                       \
  X(super_write);                      \
  X(xattr_writer_add);                 \
  X(xattr_writer_begin);               \
  X(xattr_writer_create);              \
  X(xattr_writer_end);                 \
  X(xattr_writer_flush)

/// Pointers to the functions, under the same names; see base/library.hpp.
struct SquashfsFunctions {
// NOLINTBEGIN(bugprone-macro-parentheses): the argument is the name of a member.
#define AUTOPACK_MEMBER(name) \
  decltype(&sqfs_##name) name {}
  AUTOPACK_SQUASHFS_FUNCTIONS(AUTOPACK_MEMBER);
#undef AUTOPACK_MEMBER
  // NOLINTEND(bugprone-macro-parentheses)
};

SquashfsFunctions open_libsquashfs() {
  // The soname since squashfs-tools-ng 1.0 (2020).
  const Library library{"libsquashfs.so.1",
                        "install libsquashfs of squashfs-tools-ng: `apt-get install libsquashfs1`"};
  SquashfsFunctions functions;
#define AUTOPACK_FIND(name) library.find("sqfs_" #name, functions.name)
  AUTOPACK_SQUASHFS_FUNCTIONS(AUTOPACK_FIND);
#undef AUTOPACK_FIND
  return functions;
}

#undef AUTOPACK_SQUASHFS_FUNCTIONS

/// Opens libsquashfs on the first call. Throws Error(environment) if it is not installed.
const SquashfsFunctions& libsquashfs() {
  static const SquashfsFunctions functions = open_libsquashfs();
  return functions;
}

constexpr std::size_t data_block{131'072};
constexpr std::size_t device_block{4096};
/// Higher levels need much more time for a few percent.
constexpr unsigned zstd_level{3};
constexpr std::uint32_t no_attributes{0xFFFFFFFF};

void check(int code, const char* step) {
  if (code >= 0) {
    return;
  }
  auto error = Error(ErrorKind::environment, fmt::format("cannot {} of a squashfs", step));
  switch (code) {
    case SQFS_ERROR_IO: error.cause("the file cannot be written: is the disk full?"); break;
    case SQFS_ERROR_ALLOC: error.cause("there is not enough memory"); break;
    case SQFS_ERROR_OVERFLOW:
      error.cause("the image has more owners, or larger tables, than it can have");
      break;
    default: error.cause(fmt::format("error {} of libsquashfs", code)); break;
  }
  throw std::move(error);
}

/// An object of libsquashfs.
struct Destroy {
  template <class Object>
  void operator()(Object* object) const {
    sqfs_destroy(object);
  }
};

template <class Object>
using Owned = std::unique_ptr<Object, Destroy>;

template <class Object>
Owned<Object> owned(Object* object) {
  if (object == nullptr) {
    throw Error(ErrorKind::environment, "cannot make a squashfs")
        .cause("there is not enough memory, or the file cannot be opened");
  }
  return Owned<Object>{object};
}

struct FreeInode {
  void operator()(sqfs_inode_generic_t* inode) const { libsquashfs().free(inode); }
};

using Inode = std::unique_ptr<sqfs_inode_generic_t, FreeInode>;

Owned<sqfs_compressor_t> make_compressor(sqfs_u16 flags) {
  sqfs_compressor_config_t config{};
  check(libsquashfs().compressor_config_init(&config, SQFS_COMP_ZSTD, data_block, flags),
        "choose the compression");
  config.level = zstd_level;
  sqfs_compressor_t* made = nullptr;
  check(libsquashfs().compressor_create(&config, &made), "choose the compression");
  return owned(made);
}

class Writer {
public:
  explicit Writer(const std::string& path)
      : file_{owned(libsquashfs().open_file(path.c_str(), SQFS_FILE_OPEN_OVERWRITE))},
        fragments_{owned(libsquashfs().frag_table_create(0))} {
    check(libsquashfs().super_init(&super_, data_block,
                                   static_cast<sqfs_u32>(image::default_file_time), SQFS_COMP_ZSTD),
          "make the header");
    check(libsquashfs().super_write(&super_, file_.get()), "write the header");
    const int options = compressor_->write_options(compressor_.get(), file_.get());
    check(options, "write the header");
    if (options > 0) {
      super_.flags |= SQFS_FLAG_COMPRESSOR_OPTIONS;
    }
    blocks_ = owned(libsquashfs().block_writer_create(file_.get(), device_block, 0));
    const unsigned threads = std::max(std::thread::hardware_concurrency(), 1U);
    constexpr unsigned waiting_blocks{10};
    sqfs_block_processor_desc_t description{};
    description.size = sizeof description;
    description.max_block_size = data_block;
    description.num_workers = threads;
    description.max_backlog = threads * waiting_blocks;
    description.cmp = compressor_.get();
    description.wr = blocks_.get();
    description.tbl = fragments_.get();
    description.file = file_.get();
    description.uncmp = decompressor_.get();
    sqfs_block_processor_t* made = nullptr;
    check(libsquashfs().block_processor_create_ex(&description, &made), "start the compression");
    processor_ = owned(made);
  }

  ~Writer() {
    processor_.reset();  // its threads write to `contents_`
    for (auto& [number, inode] : contents_) {
      libsquashfs().free(inode);
    }
  }

  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void take(const RootFile& file, const image::Reader& content) {
    check(libsquashfs().block_processor_begin_file(processor_.get(), &contents_[file.number],
                                                   nullptr, 0),
          "write a file");
    image::read_all(content, [&](std::string_view bytes) {
      check(libsquashfs().block_processor_append(processor_.get(), bytes.data(), bytes.size()),
            "write a file");
    });
    check(libsquashfs().block_processor_end_file(processor_.get()), "write a file");
  }

  void finish(const RootFile& root) {
    check(libsquashfs().block_processor_finish(processor_.get()), "write the files");
    super_.inode_table_start = file_->get_size(file_.get());
    number(root);
    super_.root_inode_ref = write(root, 0);
    check(libsquashfs().meta_writer_flush(inodes_.get()), "write the table of inodes");
    check(libsquashfs().meta_writer_flush(names_.get()), "write the directories");
    super_.directory_table_start = file_->get_size(file_.get());
    check(libsquashfs().meta_write_write_to_file(names_.get()), "write the directories");
    super_.inode_count = static_cast<sqfs_u32>(numbers_.size());
    auto* const file = file_.get();
    auto* const compressor = compressor_.get();
    check(libsquashfs().frag_table_write(fragments_.get(), file, &super_, compressor),
          "write the table of fragments");
    check(libsquashfs().dir_writer_write_export_table(directories_.get(), file, compressor,
                                                      numbers_.at(&root), super_.root_inode_ref,
                                                      &super_),
          "write the table of numbers");
    check(libsquashfs().id_table_write(owners_.get(), file, &super_, compressor),
          "write the table of owners");
    check(libsquashfs().xattr_writer_flush(attributes_.get(), file, &super_, compressor),
          "write the table of attributes");
    super_.bytes_used = file->get_size(file);
    check(libsquashfs().super_write(&super_, file), "write the header");
    pad();
  }

private:
  /// Gives every file its number, those below a directory before it.
  void number(const RootFile& directory) {
    for (const auto& [name, file] : directory.children) {
      if (file->is_directory()) {
        number(*file);
      } else {
        numbers_.try_emplace(file.get(), static_cast<sqfs_u32>(numbers_.size() + 1));
      }
    }
    numbers_.try_emplace(&directory, static_cast<sqfs_u32>(numbers_.size() + 1));
  }

  /// Writes a directory after everything below it; returns where it is.
  sqfs_u64 write(const RootFile& directory, sqfs_u32 parent) {
    const auto number = numbers_.at(&directory);
    for (const auto& [name, file] : directory.children) {
      if (file->is_directory()) {
        places_[file.get()] = write(*file, number);
      } else if (!places_.contains(file.get())) {
        places_[file.get()] = write_file(*file);
      }
    }
    check(libsquashfs().dir_writer_begin(directories_.get(), 0), "write a directory");
    sqfs_u32 links = 2;
    for (const auto& [name, file] : directory.children) {
      links += file->is_directory() ? 1U : 0U;
      check(libsquashfs().dir_writer_add_entry(directories_.get(), name.c_str(),
                                               numbers_.at(file.get()), places_.at(file.get()),
                                               static_cast<sqfs_u16>(file->mode)),
            "write a directory");
    }
    check(libsquashfs().dir_writer_end(directories_.get()), "write a directory");
    const Inode inode{libsquashfs().dir_writer_create_inode(directories_.get(), 0,
                                                            attributes_of(directory), parent)};
    if (inode != nullptr) {
      // libsquashfs counts all names.
      (inode->base.type == SQFS_INODE_DIR ? inode->data.dir.nlink : inode->data.dir_ext.nlink) =
          links;
    }
    return put(inode.get(), directory, number);
  }

  sqfs_u64 write_file(const RootFile& file) {
    const auto number = numbers_.at(&file);
    if (!file.is_regular()) {
      const auto inode = special(file);
      return put(inode.get(), file, number);
    }
    auto*& inode = contents_[file.number];
    if (inode == nullptr) {
      throw Error(ErrorKind::internal, "a file of a squashfs has no contents");
    }
    if (file.links > 1) {
      check(libsquashfs().inode_make_extended(inode), "write a file");
      inode->data.file_ext.nlink = file.links;
    }
    const auto attributes = attributes_of(file);
    if (attributes != no_attributes) {
      check(libsquashfs().inode_set_xattr_index(inode, attributes), "write a file");
    }
    return put(inode, file, number);
  }

  /// Returns the inode of a link, device or pipe.
  static Inode special(const RootFile& file) {
    const std::size_t size = sizeof(sqfs_inode_generic_t) + file.target.size() + 1;
    // As libsquashfs allocates its own.
    Inode inode{static_cast<sqfs_inode_generic_t*>(std::calloc(1, size))};
    if (inode == nullptr) {
      throw Error(ErrorKind::environment, "there is not enough memory");
    }
    if (S_ISLNK(file.mode)) {
      inode->base.type = SQFS_INODE_SLINK;
      inode->data.slink.nlink = file.links;
      inode->data.slink.target_size = static_cast<sqfs_u32>(file.target.size());
      inode->payload_bytes_available = inode->payload_bytes_used = inode->data.slink.target_size;
      std::ranges::copy(file.target, reinterpret_cast<char*>(inode->extra));
    } else if (S_ISFIFO(file.mode)) {
      inode->base.type = SQFS_INODE_FIFO;
      inode->data.ipc.nlink = file.links;
    } else {
      constexpr unsigned low{0xFF};
      inode->base.type = S_ISCHR(file.mode) ? SQFS_INODE_CDEV : SQFS_INODE_BDEV;
      inode->data.dev.nlink = file.links;
      inode->data.dev.devno = (file.device_minor & low) | (file.device_major << 8U) |
                              ((file.device_minor & ~low) << 12U);
    }
    return inode;
  }

  sqfs_u32 attributes_of(const RootFile& file) {
    if (file.attributes.empty() || S_ISLNK(file.mode)) {
      return no_attributes;
    }
    sqfs_u32 index = no_attributes;
    check(libsquashfs().xattr_writer_begin(attributes_.get(), 0), "write an attribute");
    for (const auto& [name, value] : file.attributes) {
      check(libsquashfs().xattr_writer_add(attributes_.get(), name.c_str(), value.data(),
                                           value.size()),
            "write an attribute");
    }
    check(libsquashfs().xattr_writer_end(attributes_.get(), &index), "write an attribute");
    return index;
  }

  /// Completes an inode and writes it; returns where it is.
  sqfs_u64 put(sqfs_inode_generic_t* inode, const RootFile& file, sqfs_u32 number) {
    if (inode == nullptr) {
      throw Error(ErrorKind::environment, "there is not enough memory");
    }
    constexpr std::int64_t latest{std::numeric_limits<sqfs_u32>::max()};
    inode->base.mode = static_cast<sqfs_u16>(file.mode);
    inode->base.mod_time = static_cast<sqfs_u32>(std::clamp<std::int64_t>(file.time, 0, latest));
    inode->base.inode_number = number;
    const char* const owner = "write an owner";
    check(libsquashfs().id_table_id_to_index(owners_.get(), file.user, &inode->base.uid_idx),
          owner);
    check(libsquashfs().id_table_id_to_index(owners_.get(), file.group, &inode->base.gid_idx),
          owner);
    sqfs_u64 block = 0;
    sqfs_u32 offset = 0;
    libsquashfs().meta_writer_get_position(inodes_.get(), &block, &offset);
    check(libsquashfs().meta_writer_write_inode(inodes_.get(), inode), "write an inode");
    constexpr unsigned offset_bits{16};
    return block << offset_bits | offset;
  }

  /// A device has whole blocks.
  void pad() {
    const auto size = file_->get_size(file_.get());
    const std::string zeros((device_block - size % device_block) % device_block, '\0');
    check(file_->write_at(file_.get(), size, zeros.data(), zeros.size()), "write the end");
  }

  sqfs_super_t super_{};
  Owned<sqfs_compressor_t> compressor_{make_compressor(0)};
  Owned<sqfs_compressor_t> decompressor_{make_compressor(SQFS_COMP_FLAG_UNCOMPRESS)};
  Owned<sqfs_file_t> file_;
  Owned<sqfs_frag_table_t> fragments_;
  Owned<sqfs_block_writer_t> blocks_{};
  std::map<std::uint64_t, sqfs_inode_generic_t*> contents_{};  ///< by number of the file
  Owned<sqfs_block_processor_t> processor_{};
  Owned<sqfs_meta_writer_t> inodes_{
      owned(libsquashfs().meta_writer_create(file_.get(), compressor_.get(), 0))};
  Owned<sqfs_meta_writer_t> names_{owned(libsquashfs().meta_writer_create(
      file_.get(), compressor_.get(), SQFS_META_WRITER_KEEP_IN_MEMORY))};
  Owned<sqfs_dir_writer_t> directories_{
      owned(libsquashfs().dir_writer_create(names_.get(), SQFS_DIR_WRITER_CREATE_EXPORT_TABLE))};
  Owned<sqfs_id_table_t> owners_{owned(libsquashfs().id_table_create(0))};
  Owned<sqfs_xattr_writer_t> attributes_{owned(libsquashfs().xattr_writer_create(0))};
  std::map<const RootFile*, sqfs_u32> numbers_{};
  std::map<const RootFile*, sqfs_u64> places_{};
};

/// Returns the directory of `file` in `root`; null if the image has something else by that name.
RootFile* directory_of(RootFile& root, const StartFile& file) {
  RootFile* directory = &root;
  for (const auto& name : file.directories) {
    auto& next = directory->children[name];
    if (next == nullptr) {
      next = std::make_shared<RootFile>();
      next->time = image::default_file_time;
    } else if (!next->is_directory()) {
      return nullptr;
    }
    directory = next.get();
  }
  return directory;
}

void add_start_files(Writer& writer, RootFile& root, const image::Configuration& configuration) {
  std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
  for (const auto& file : start_files(configuration)) {
    auto* const directory = directory_of(root, file);
    if (directory == nullptr) {
      continue;
    }
    auto made = std::make_shared<RootFile>();
    made->mode = S_IFREG | image::file_mode(file.is_program);
    made->time = image::default_file_time;
    made->size = file.text.size();
    made->links = 1;
    made->number = number--;
    writer.take(*made,
                [rest = std::string_view{file.text}](char* buffer, std::size_t size) mutable {
                  const auto count = rest.copy(buffer, size);
                  rest.remove_prefix(count);
                  return count;
                });
    auto& there = directory->children[file.name];
    if (there != nullptr && !there->is_directory()) {
      --there->links;
    }
    there = std::move(made);
  }
}

}  // namespace

void write_squashfs(const image::Source& source,
                    const fs::path& file,
                    const image::RootLimits& limits) {
  const auto configuration = image::Configuration::parse(
      source.configuration, fmt::format("the configuration of `{}`", printable(source.name)));
  sweep_leftovers(file);
  NewFile made{file};
  {
    Writer writer{made.path()};
    const auto root = image::merge_layers(
        source,
        [&](const RootFile& one, const image::Reader& content) { writer.take(one, content); },
        limits);
    add_start_files(writer, *root, configuration);
    writer.finish(*root);
  }
  made.commit();
}

}  // namespace autopack::bundle
