# Builds the wheel of the project in this directory, and from it a wheel without modules: metadata,
# scripts and, when a path is given, a .pth file naming it. Same inputs give the same bytes.
import base64, glob, hashlib, os, subprocess, sys, zipfile

out, import_path = sys.argv[1], sys.argv[2]


def backend_is_installed():
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
    old = Requirement("setuptools<70.1").specifier
    if any(need.name == "setuptools" and old.contains(version("setuptools")) for need in needs):
        version("wheel")  # it asks for that only while it builds
    return all(need.specifier.contains(version(need.name), prereleases=True) for need in needs)


def build():
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--use-pep517"]
    try:
        command += ["--no-build-isolation"] if backend_is_installed() else []
    except Exception:
        pass  # pip fetches the backend then
    subprocess.check_call(command + ["--wheel-dir", out + "/whole", "."])
    return glob.glob(out + "/whole/*.whl")[0]


def write(path, members):
    record = [name for name, data, mode in members if name.endswith(".dist-info/METADATA")]
    record = record[0].replace("METADATA", "RECORD")
    lines = ""
    for name, data, mode in members:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        lines += "\"%s\",sha256=%s,%d\n" % (name.replace("\"", "\"\""), digest, len(data))
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data, mode in members + [(record, (lines + record + ",,\n").encode(), 0o644)]:
            info = zipfile.ZipInfo(name, (1980, 1, 2, 0, 0, 0))
            info.create_system, info.external_attr = 3, (0o100000 | mode) << 16
            wheel.writestr(info, data)


whole = build()
file_name = os.path.basename(whole)
kept = []
with zipfile.ZipFile(whole) as wheel:
    for name in sorted(wheel.namelist()):
        parts = name.split("/")
        if name.endswith("/") or parts[-1] == "RECORD":
            continue
        elif parts[0].endswith(".dist-info") or (parts[0].endswith(".data") and parts[1] == "scripts"):
            mode = 0o755 if parts[1] == "scripts" else 0o644
            kept.append((name, wheel.read(name), mode))
        elif not import_path and os.path.isdir(parts[0]) and not os.path.exists(name):
            # Made by the build (an extension module): goes beside its sources, which come first
            # on the path of python -m.
            wheel.extract(name, out + "/made")
if import_path:
    kept.append((file_name.split("-")[0] + ".pth", (import_path + "\n").encode(), 0o644))
os.makedirs(out + "/bare")
os.makedirs(out + "/made", exist_ok=True)
write(os.path.join(out, "bare", file_name), kept)
