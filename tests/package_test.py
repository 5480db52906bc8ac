#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the Debian packages and the archive of a build and looks into them: package_test.py BUILD WORK [CPACK].
Exits 77 where dpkg's tools are missing."""
import gzip
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def output(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def control(package):
    return dict(re.findall(r"^([\w-]+): (.*)$", output("dpkg-deb", "--field", package), re.M))


def names_in(text, names):
    # Ubuntu appends t64 to the names of libraries with 64-bit times.
    return [name for name in names if not re.search(rf"(^|, ){re.escape(name)}(t64)?( |,|$)", text)]


def check_program(package, folder):
    fields = control(package)
    missing = names_in(fields["Depends"], ["libc6", "libstdc++6", "libpng16-16"])
    assert not missing, f"{package.name} does not depend on {missing}: {fields['Depends']}"
    assert fields["Section"] == "science" and "@" in fields["Maintainer"], fields
    output("dpkg-deb", "--extract", package, folder)
    share = folder / "usr" / "share"
    pages = sorted((share / "man" / "man1").glob("*"))
    assert {page.suffix for page in pages} == {".gz"} and len(pages) > 20, pages
    assert b".TH" in gzip.decompress(pages[0].read_bytes())
    for file in ("bash-completion/completions/cornea", "zsh/vendor-completions/_cornea",
                 "fish/vendor_completions.d/cornea.fish", "doc/cornea/NOTICE", "doc/cornea/licenses/CLI11.txt",
                 "doc/cornea/changelog.gz"):
        assert (share / file).is_file(), f"{package.name} has no {file}"
    return folder / "usr" / "bin" / "cornea"


def check_development(package, folder):
    output("dpkg-deb", "--extract", package, folder)
    listed = output(sys.executable, "-B", ROOT / "tests" / "house_test.py", "--public", ROOT).split()
    found = [file.relative_to(folder / "usr" / "include").as_posix() for file in (folder / "usr" / "include").rglob("*.h")]
    assert sorted(found) == sorted(listed), set(found) ^ set(listed)
    for file in ("lib/libcornea.a", "lib/pkgconfig/cornea.pc", "lib/cmake/cornea/cornea-config.cmake",
                 "share/doc/cornea/examples/sift_match.cc"):
        assert (folder / "usr" / file).is_file(), f"{package.name} has no {file}"
    fields = control(package)
    assert fields["Section"] == "libdevel" and not names_in(fields["Depends"], ["libpng-dev", "libjpeg-dev"]), fields


def main():
    build, work = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    cpack = sys.argv[3] if len(sys.argv) > 3 else "cpack"
    if not all(shutil.which(tool) for tool in ("dpkg-deb", "dpkg-shlibdeps", "file")):
        print("dpkg-dev or file is not here: packages were not made")
        return 77
    version = re.search(r"project\(cornea VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    shutil.rmtree(work, ignore_errors=True)
    made = subprocess.run([cpack, "--config", str(build / "CPackConfig.cmake"), "-G", "DEB;TGZ", "-B", str(work / "made")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=build)
    assert made.returncode == 0, made.stdout
    packages = {file.name.split("_")[0]: file for file in (work / "made").glob("*.deb")}
    assert sorted(packages) == ["cornea", "libcornea-dev"], packages
    programs = [check_program(packages["cornea"], work / "program")]
    check_development(packages["libcornea-dev"], work / "development")
    for name, package in packages.items():
        assert control(package)["Version"] == f"{version}-1", control(package)
        folder = work / ("program" if name == "cornea" else "development") / "usr" / "share" / "doc" / name
        assert "Apache-2.0" in (folder / "copyright").read_text()
        changes = gzip.decompress((folder / "changelog.Debian.gz").read_bytes()).decode()
        assert re.search(r"^ -- .+ <.+@.+>  \w{3}, \d+ \w{3} \d{4} [\d:]+ \+0000$", changes, re.M), changes
    archive, = (work / "made").glob("*.tar.gz")
    output("tar", "-xzf", archive, "-C", work)
    programs.append(work / archive.name.removesuffix(".tar.gz") / "bin" / "cornea")
    for program in programs:
        assert output(program, "--version") == f"cornea {version}\n", output(program, "--version")
        # Nothing of the machine that built it.
        assert str(build).encode() not in program.read_bytes(), f"{program} holds the name of its build folder"
    print(f"{archive.name} and {', '.join(package.name for package in packages.values())} are whole")
    return 0


if __name__ == "__main__":
    sys.exit(main())
