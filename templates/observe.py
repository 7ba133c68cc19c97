# Installs the project in the working directory with pip, and leaves in OUT what that read and wrote:
# OUT/layer holds the files it wrote at their places, OUT/record/install.json tells what it depends on.
#     observe.py OUT [OPTION OF PIP INSTALL...]
# Every Python process of the installation executes this file first, by a .pth file beside pip.
import os, stat, sys

TIME = 315619200  # 1980-01-02, as of every file that travels


def watch():
    """Tells in OUT/events what this process opens, lists, asks for and starts below ROOT."""
    import hashlib, json, sysconfig, threading
    events = os.open(OUT + "/events", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    standard = (sysconfig.get_path("stdlib"), os.path.dirname(os.__file__), "<")
    told, busy = set(), threading.local()

    def callers():
        """The file of the project that asks, else the package; whose code asks; the innermost function."""
        frame, code, innermost = sys._getframe(1), "", ""
        while frame:
            name, function, frame = frame.f_code.co_filename, frame.f_code.co_name, frame.f_back
            if name == HERE:
                continue
            innermost = innermost or name + " " + function
            name = name if name.startswith("<") else os.path.join(ROOT, name)
            if name.startswith(ROOT + "/"):
                return name[len(ROOT) + 1:], code or "project", innermost
            if "-packages/" in name:
                code = code or name.rpartition("-packages/")[2].partition("/")[0]
            elif not name.startswith(standard):
                code = code or "project"
        return code or "Python", code, innermost

    def tell(kind, path):
        path = os.path.normpath(os.path.join(os.getcwd(), os.fsdecode(path)))
        if path != ROOT and not path.startswith(ROOT + "/"):
            return
        path = path[len(ROOT) + 1:]
        if "__pycache__" in path.split("/"):
            return
        by, code, innermost = callers()
        if kind == "list" and (code in ("", "pip") or "importlib" in innermost or "pkg_resources" in innermost):
            return  # Python looks for modules and for what is installed
        if "shutil.py _rmtree" in innermost:
            return  # its paths are relative to open directories
        if code == "pip" and os.path.basename(path) not in ("pyproject.toml", "setup.cfg", "setup.py"):
            return
        if (kind, path, code) in told:
            return
        told.add((kind, path, code))
        digest = ""
        if kind == "read" and stat.S_ISREG(mode_of(ROOT + "/" + path)):
            with open(ROOT + "/" + path, "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()
        write([kind, path, digest, by, code])

    def write(event):
        os.write(events, (json.dumps(event) + "\n").encode())

    def mode_of(path):
        try:
            return plain_stat(path).st_mode
        except (OSError, ValueError):
            return 0

    def listed(path):
        if isinstance(path, int):
            path = os.readlink("/proc/self/fd/%d" % path)
        tell("list", "." if path is None else path)

    def opened(path, mode, flags):
        if not isinstance(path, int):
            writes = set(mode or "") & set("wax+") if isinstance(mode, str) else (flags or 0) & 3
            tell("write" if writes else "read", path)

    def started(words):
        words = [words] if isinstance(words, (str, bytes)) else list(words or [""])
        write(["start", "", "", callers()[0], [os.fsdecode(word) for word in words[:3]]])

    def hook(event, arguments):
        handler = handlers.get(event)
        if handler is None or getattr(busy, "now", False):
            return
        busy.now = True
        try:
            handler(*arguments)
        except Exception as error:
            write(["start", "", "", "Python", ["unseen", repr(error)]])
        finally:
            busy.now = False

    handlers = {
        "open": opened, "os.listdir": listed, "os.scandir": listed, "os.system": started,
        "subprocess.Popen": lambda program, words, *_: started(words),
        "os.exec": lambda program, words, *_: started(words),
        "os.posix_spawn": lambda program, words, *_: started(words),
        "ask": lambda path: None if isinstance(path, int) else tell("ask", path),
    }

    def asking(function):
        """`function`, of which no audit event tells."""
        def ask(path, *rest, **named):
            if named.get("dir_fd") is None:
                hook("ask", (path,))
            return function(path, *rest, **named)
        for group in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
            if function in group:
                group.add(ask)
        return ask

    if not hasattr(sys, "addaudithook"):
        return write(["start", "", "", "Python", ["Python before 3.8"]])
    plain_stat = os.stat
    for name in ("stat", "lstat", "access", "readlink"):
        setattr(os, name, asking(getattr(os, name)))
    sys.addaudithook(hook)


def snapshot():
    """What is below ROOT: path -> (letter, size and time, or a link's target)."""
    found = {}
    for directory, names, files in os.walk(ROOT):
        for name in names + files:
            path = os.path.join(directory, name)
            state = os.lstat(path)
            if stat.S_ISLNK(state.st_mode):
                found[path[len(ROOT) + 1:]] = ("l", os.readlink(path))
            elif stat.S_ISDIR(state.st_mode):
                found[path[len(ROOT) + 1:]] = ("d", None)
            else:
                found[path[len(ROOT) + 1:]] = ("f", (state.st_size, state.st_mtime_ns, state.st_ctime_ns))
    return found


def build_options(options):
    """No isolation where what the build needs is installed already: nothing is fetched then."""
    if "--no-build-isolation" in options:
        return []
    try:
        from importlib.metadata import version
        from pip._vendor.packaging.requirements import Requirement
        needs = ["setuptools>=40.8.0", "wheel"]
        if os.path.exists("pyproject.toml"):
            try:
                import tomllib
            except ImportError:
                from pip._vendor import tomli as tomllib
            with open("pyproject.toml", "rb") as file:
                needs = tomllib.load(file).get("build-system", {}).get("requires", needs)
        needs = [need for need in map(Requirement, needs) if not need.marker or need.marker.evaluate()]
        if any(need.name == "setuptools" for need in needs):
            needs.append(Requirement("setuptools>=64"))
            if Requirement("setuptools<70.1").specifier.contains(version("setuptools")):
                needs.append(Requirement("wheel"))
        if any(need.name == "hatchling" for need in needs):
            needs.append(Requirement("editables"))  # it asks for that only while it builds
        there = all(not need.extras and need.specifier.contains(version(need.name), prereleases=True) for need in needs)
        return ["--no-build-isolation"] if there else []
    except Exception:
        return []


def packages():
    """Where pip puts modules."""
    import sysconfig
    try:
        from pip._internal.locations import get_scheme
        scheme = get_scheme("none")
        return sorted({scheme.purelib, scheme.platlib})
    except Exception:
        return sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})


def installed():
    """The files of all that is installed."""
    return {os.path.join(directory, name) for place in packages() for directory, _, files in os.walk(place)
            for name in files if not name.endswith(".pyc")}


def install(options):
    """Runs pip under observation."""
    import site, subprocess
    directory = next(path for path in site.getsitepackages() + packages() if path in sys.path)
    hook = os.path.join(directory, "_autopack_observe.pth")
    names = {"__name__": "watch", "HERE": HERE, "ROOT": ROOT, "OUT": OUT}
    with open(hook, "w") as file:
        file.write("import sys; exec(compile(open(%r).read(), %r, 'exec'), %r)\n" % (HERE, HERE, names))
    try:
        command = [sys.executable, "-m", "pip", "install"] + build_options(options) + options
        return subprocess.call(command, env=dict(os.environ, DEPENDENCIES_OUTPUT=OUT + "/included"))
    finally:
        os.remove(hook)


def unseen(words, before):
    """What a program that is not observed may have read: its name, or nothing."""
    import re
    name = os.path.basename(words[0])
    if re.fullmatch(r"python[0-9.]*", name) and "-S" not in words:
        return None
    if re.fullmatch(r"(.*-)?(gcc|g\+\+|cc|c\+\+|ld|ar|ranlib|strip|uname|ldconfig|lsb_release)(-[0-9.]+)?", name):
        return None  # compilers tell in DEPENDENCIES_OUTPUT, the others see what compilers made
    if name == "git" and ".git" not in before and not {"apply", "diff", "hash-object"} & set(words[1:]):
        return None  # there is no repository to read
    if name == "hg" and ".hg" not in before:
        return None  # the same: setuptools-scm asks both
    return name


def included():
    """What compilers read, as rules of make."""
    try:
        with open(OUT + "/included") as file:
            text = file.read().replace("\\\n", " ").replace("\\ ", "\0")
    except OSError:
        return
    for rule in text.split("\n"):
        for word in rule.partition(": ")[2].split():
            path = os.path.normpath(os.path.join(ROOT, word.replace("\0", " ")))
            if path.startswith(ROOT + "/"):
                yield path[len(ROOT) + 1:]


def names_in(before, directory, code):
    """The names in a directory that matter to who lists it: build backends look for packages only."""
    prefix = directory + "/" if directory else ""
    names = {path[len(prefix):].split("/")[0] for path in before if path.startswith(prefix)}
    return sorted(name for name in names if matters(code, directory, name, before.get(prefix + name, "d")[0]))


def matters(code, directory, name, letter):
    if code not in ("setuptools", "_distutils_hack", "distutils", "hatchling", "flit_core", "poetry", "pdm"):
        return True
    return letter != "f" or name == "__init__.py" or (directory == "" and name.endswith(".py"))


def resolved(path, before, links):
    """`path` with links followed, which are added to `links`."""
    for _ in range(40):
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            link = "/".join(parts[:end])
            if before.get(link, "-")[0] == "l":
                links.append(link)
                target = os.path.join(ROOT, os.path.dirname(link), before[link][1], *parts[end:])
                path = os.path.normpath(target)[len(ROOT) + 1:] if os.path.normpath(target).startswith(ROOT + "/") else ""
                break
        else:
            break
    return path


def digest_of(text):
    import hashlib
    return hashlib.sha256(os.fsencode(text)).hexdigest()


def record(before):
    """What the installation depends on, from the events."""
    import hashlib, json
    reads, lists, asks, written, whole = {}, {}, {}, set(), None
    with open(OUT + "/events") as file:
        events = [json.loads(line) for line in file]
    for kind, path, digest, by, code in events:
        links = []
        path = resolved(path, before, links)
        for link in links:
            reads.setdefault(link, [digest_of(before[link][1]), by])
        letter = before.get(path, "-")[0]
        if kind == "start":
            name = unseen(code, before)
            whole = whole or (name and [name, by])
        elif kind == "write":
            written.add(path)
        elif kind == "list":
            names, every = "\n".join(names_in(before, path, code)), matters(code, "x", "x", "f")
            lists.setdefault((path, every), [path, every, digest_of(names), by])
        elif kind == "read" and letter == "f":
            if path not in written:
                reads.setdefault(path, [digest, by])
        elif path and matters(code, os.path.dirname(path), os.path.basename(path), letter):
            asks.setdefault(path, [letter, by])
    for path in included():
        if before.get(path, "-")[0] == "f" and path not in written and path not in reads:
            with open(ROOT + "/" + path, "rb") as file:
                reads[path] = [hashlib.sha256(file.read()).hexdigest(), "the compiler"]
    return {"format": 1, "reads": reads, "lists": sorted(lists.values()), "whole": whole,
            "asks": {path: value for path, value in asks.items() if path not in reads}}


def is_leftover(path):
    """What builds leave behind and no program looks for."""
    parts = path[len(ROOT) + 1:].split("/") if path.startswith(ROOT + "/") else []
    return bool(parts) and (parts[0] == ".eggs" or "__pycache__" in parts or
                            parts[0] == "build" and len(parts) > 1 and parts[1].startswith(("lib", "temp", "bdist")))


def written_since(start):
    """Files and links that are newer than `start`, outside of caches."""
    device = os.lstat("/").st_dev
    skipped = {"/proc", "/sys", "/dev", "/tmp", "/run", "/mnt", "/var", "/root/.cache", "/home/.cache", os.path.dirname(OUT)}
    for directory, names, files in os.walk("/"):
        names[:] = [name for name in names if os.path.join(directory, name) not in skipped]
        for name in names + files:
            path = os.path.join(directory, name)
            try:
                state = os.lstat(path)
            except OSError:
                continue
            kept = stat.S_ISREG(state.st_mode) or stat.S_ISLNK(state.st_mode)
            if kept and state.st_dev == device and state.st_ctime_ns >= start and not is_leftover(path):
                yield path, state


def keep(path, state):
    """Copies `path` to its place below OUT/layer; directories keep their modes."""
    import shutil
    target = OUT + "/layer" + path
    missing = []
    parent = os.path.dirname(path)
    while not os.path.isdir(OUT + "/layer" + parent):
        missing.append(parent)
        parent = os.path.dirname(parent)
    for parent in reversed(missing):
        os.mkdir(OUT + "/layer" + parent)
        os.chmod(OUT + "/layer" + parent, stat.S_IMODE(os.stat(parent).st_mode))
    if stat.S_ISLNK(state.st_mode):
        os.symlink(os.readlink(path), target)
        return
    shutil.copyfile(path, target)
    if path.endswith(".pyc"):
        with open(target, "r+b") as file:  # the time of its source
            file.seek(8)
            file.write(TIME.to_bytes(4, "little"))
    os.chmod(target, 0o755 if state.st_mode & 0o100 else 0o644)
    os.utime(target, (TIME, TIME))


def main():
    global ROOT, OUT, HERE
    import json
    HERE, OUT, ROOT = os.path.abspath(__file__), os.path.abspath(sys.argv[1]), os.path.realpath(os.getcwd())
    os.makedirs(OUT + "/layer")
    os.makedirs(OUT + "/record")
    before = snapshot()
    for path in ("pyproject.toml", "PKG-INFO"):  # this step may have made them, so they did not travel
        if path in before and os.lstat(path).st_mtime_ns > os.lstat(HERE).st_ctime_ns:
            del before[path]
    stamp = OUT + "/stamp"
    open(stamp, "w").close()
    start = os.lstat(stamp).st_ctime_ns
    there = installed()
    status = install(sys.argv[2:])
    if status:
        sys.exit(status)
    made = []
    for path, state in sorted(written_since(start)):
        keep(path, state)
        if path.startswith(ROOT + "/"):
            made.append(path[len(ROOT) + 1:])
    facts = record(before)
    facts["written"] = made
    with open(os.path.join(os.path.dirname(HERE), "tree")) as file:
        facts["tree"] = file.read()
    facts["removed"] = sorted(there - installed())
    name = OUT + "/record/install.json"
    with open(name, "w") as file:
        json.dump(facts, file, sort_keys=True, separators=(",", ":"))
    os.utime(name, (TIME, TIME))
    if "--no-deps" not in sys.argv:  # what is replaced has to be removed first
        os.makedirs(OUT + "/layer/usr/share/autopack", exist_ok=True)
        os.link(name, OUT + "/layer/usr/share/autopack/install.json")


if __name__ == "watch":
    watch()
elif __name__ == "__main__":
    main()
